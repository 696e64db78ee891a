package plan

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/slo"
)

// book has what each minute's objectives are judged by. A request belongs to the minute in which it came, a gap between two tokens to the one in
// which it ended.
type book struct {
	terms   []slo.Term
	ttft    bool // which values the terms need
	latency bool
	tpot    bool
	itl     bool
	minutes []page
	open    [8]histogram // of gaps, by minute: steps of the minutes after the one under way may have ended
	judged  int          // minutes so far, for broken
	bad     int
}

// page is what is known of a minute.
type page struct {
	arrived, failed int
	answers, ends   int
	ttft, latency   []float32 // seconds
	tpot            []float32
	gapBroken       []bool    // by term, once the gaps are closed
	gap             []float64 // by term: what the objective is about, in seconds
	closed          bool
}

func newBook(terms []slo.Term, minutes int) book {
	b := book{terms: terms, minutes: make([]page, minutes)}
	for _, t := range terms {
		switch t.Metric {
		case slo.TTFT, slo.TTFTDue:
			b.ttft = true
		case slo.Latency:
			b.latency = true
		case slo.TPOT:
			b.tpot = true
		case slo.ITL:
			b.itl = true
		}
	}
	return b
}

func (b *book) at(minute int) *page { return &b.minutes[min(minute, len(b.minutes)-1)] }

func (b *book) came(minute int)   { b.at(minute).arrived++ }
func (b *book) failed(minute int) { b.at(minute).failed++ }

func (b *book) answered(minute int, after time.Duration) {
	p := b.at(minute)
	p.answers++
	if b.ttft {
		p.ttft = append(p.ttft, float32(after.Seconds()))
	}
}

func (b *book) ended(minute int, latency, answer time.Duration, tokens int) {
	p := b.at(minute)
	p.ends++
	if b.latency {
		p.latency = append(p.latency, float32(latency.Seconds()))
	}
	if b.tpot && tokens > 1 {
		p.tpot = append(p.tpot, float32(answer.Seconds()/float64(tokens-1)))
	}
}

func (b *book) gaps(minute int, length time.Duration, tokens int) {
	if b.itl {
		b.open[minute%len(b.open)].add(length, tokens)
	}
}

// closeGaps judges the gaps of a minute, which all replicas have passed.
func (b *book) closeGaps(minute int) {
	p := &b.minutes[minute]
	if p.closed {
		return
	}
	p.closed = true
	h := &b.open[minute%len(b.open)]
	p.gapBroken, p.gap = make([]bool, len(b.terms)), make([]float64, len(b.terms))
	for i, t := range b.terms {
		if t.Metric == slo.ITL && h.n > 0 {
			v := h.mean()
			if t.Stat != slo.Mean {
				v = h.quantile(t.Quantile())
			}
			p.gapBroken[i], p.gap[i] = v >= t.Limit, v
		}
	}
	*h = histogram{}
}

// judge returns which terms a minute breaks. What has not ended by an instant breaks them.
func (b *book) judge(minute int, _ time.Duration) []bool {
	p := &b.minutes[minute]
	out := make([]bool, len(b.terms))
	for i, t := range b.terms {
		served := p.arrived - p.failed
		switch t.Metric {
		case slo.TTFT, slo.TTFTDue:
			out[i] = beyond(p.ttft, served-p.answers, t)
		case slo.Latency:
			out[i] = beyond(p.latency, served-p.ends, t)
		case slo.TPOT:
			out[i] = beyond(p.tpot, 0, t)
		case slo.ITL:
			out[i] = p.gapBroken != nil && p.gapBroken[i]
		case slo.Errors:
			out[i] = p.arrived > 0 && float64(p.failed)/float64(p.arrived) >= t.Limit
		}
	}
	return out
}

// broken judges the minutes up to one, while requests still come, and returns how many break the objective.
func (b *book) broken(minute int, now time.Duration) int {
	for ; b.judged <= minute; b.judged++ {
		if b.minutes[b.judged].arrived > 0 && slices.Contains(b.judge(b.judged, now), true) {
			b.bad++
		}
	}
	return b.bad
}

// beyond reports whether a statistic of values is at its limit or beyond it. missing are values that never came.
func beyond(v []float32, missing int, t slo.Term) bool {
	n := len(v) + max(0, missing)
	if n == 0 {
		return false
	}
	if t.Stat == slo.Mean {
		sum := 0.0
		for _, x := range v {
			sum += float64(x)
		}
		return missing > 0 || sum/float64(n) >= t.Limit
	}
	// The percentile is at its limit if fewer than its share of the values are below.
	below := 0
	for _, x := range v {
		if float64(x) < t.Limit {
			below++
		}
	}
	return float64(below) < t.Quantile()*float64(n)-roundOff
}

const roundOff = 1e-9

// histogram counts durations in bins of 1.6 %: the first six bits after the highest.
type histogram struct {
	bins [64 * 64]uint32
	n    int
	sum  float64 // seconds
}

const fine = 6 // bits

func (h *histogram) add(d time.Duration, n int) {
	bits := math.Float64bits(float64(d))
	h.bins[(bits>>(52-fine)-uint64(1023)<<fine)&uint64(len(h.bins)-1)] += uint32(n)
	h.n += n
	h.sum += d.Seconds() * float64(n)
}

func (h *histogram) mean() float64 { return h.sum / float64(h.n) }

// quantile returns the middle of the bin that a quantile is in, in seconds.
func (h *histogram) quantile(q float64) float64 {
	rank := uint64(math.Ceil(q * float64(h.n)))
	seen := uint64(0)
	for i, n := range h.bins {
		if seen += uint64(n); seen >= rank {
			low := math.Float64frombits((uint64(i) + uint64(1023)<<fine) << (52 - fine))
			return low * (1 + 0.5/(1<<fine)) / 1e9
		}
	}
	return 0
}

// values returns what each term is about in a minute: seconds, or a share of errors. It is +Inf where the answers never came, and 0 for nothing.
func (b *book) values(minute int) []float64 {
	p := &b.minutes[minute]
	out := make([]float64, len(b.terms))
	served := p.arrived - p.failed
	for i, t := range b.terms {
		switch t.Metric {
		case slo.TTFT, slo.TTFTDue:
			out[i] = statistic(p.ttft, served-p.answers, t)
		case slo.Latency:
			out[i] = statistic(p.latency, served-p.ends, t)
		case slo.TPOT:
			out[i] = statistic(p.tpot, 0, t)
		case slo.ITL:
			if p.gap != nil {
				out[i] = p.gap[i]
			}
		case slo.Errors:
			if p.arrived > 0 {
				out[i] = float64(p.failed) / float64(p.arrived)
			}
		}
	}
	return out
}

// statistic returns a term's statistic of values. missing are values that never came.
func statistic(v []float32, missing int, t slo.Term) float64 {
	n := len(v) + max(0, missing)
	if n == 0 {
		return 0
	}
	if t.Stat == slo.Mean {
		if missing > 0 {
			return math.Inf(1)
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x)
		}
		return sum / float64(n)
	}
	rank := int(math.Ceil(t.Quantile()*float64(n) - roundOff))
	if rank > len(v) {
		return math.Inf(1)
	}
	return float64(slices.Sorted(slices.Values(v))[max(rank, 1)-1])
}
