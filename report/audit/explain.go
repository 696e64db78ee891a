package audit

import (
	"math"
	"slices"
	"strconv"

	"llmsweep/client/note"
	"llmsweep/report/published"
)

// This file finds the one figure of a row that is wrong where the row contradicts itself: each figure in turn is taken as wrong, and computed from
// the others. The best explanation is the figure that then fits the rows on either side better than it did, and whose printed digits come from the
// computed ones by a common slip.

// blamed is figures of a row that nothing may rest on.
type blamed struct {
	row      *row
	keys     []string
	probably map[string]float64 // in run.json's unit, by key, where the cause implies it
	note     note.Note          // what is said of this row, where it is not what the finding says
}

// suspicion is a figure that may be the wrong one.
type suspicion struct {
	key     string
	implied float64 // by the other figures
	cost    float64 // less is better
	exact   float64 // the digits that were meant, where a slip explains the printed ones; else 0
}

// What an explanation is worth, as a natural logarithm of how much closer a figure gets to what its neighbours let expect.
const (
	worthDecimal    = 0.7
	worthTransposed = 0.5
	worthExtra      = 0.4
	worthMissing    = 0.3
	worthDigit      = 0.1
	clearly         = 0.1 // by how much an explanation must be better than the next
)

// explain returns the figures of a row that can be blamed for its contradiction: one, where it explains the row clearly better than another does.
// It returns none where the row does not contradict itself.
func (r *row) explain() []suspicion {
	var all []suspicion
	n := r.length()
	latency, ttft, gap, done, output := r.value(keyLatency), r.value(keyTTFT), r.value(keyGap), r.value(keyDone), r.value(keyOutput)
	add := func(key string, implied, tolerance float64) {
		if implied > 0 && !math.IsInf(implied, 0) {
			all = append(all, r.suspicion(key, implied, tolerance))
		} else {
			all = append(all, suspicion{key: key, cost: math.Inf(1)})
		}
	}
	typical, _ := r.result.typical()
	if _, contradicts := latencyIdentity(r); !r.countFits() || !contradicts.IsZero() && r.latencyFits(r.value) { // with the tokens of other rows it fits
		add(keyDone, output/typical, slipTolerance)
		add(keyOutput, done*typical, slipTolerance)
	}
	if known := !math.IsNaN(latency) && !math.IsNaN(ttft) && !math.IsNaN(gap) && !math.IsNaN(n); known && !r.latencyFits(r.value) {
		add(keyLatency, ttft+(n-1)*gap, slipTolerance)
		add(keyGap, (latency-ttft)/(n-1), slipTolerance)
		add(keyTTFT, latency-(n-1)*gap, slipTolerance+latencyTolerance*latency/math.Abs(latency-(n-1)*gap))
	}
	slices.SortStableFunc(all, func(a, b suspicion) int { return compareCost(a.cost, b.cost) })
	for i := range all {
		if i > 0 && all[i].cost > all[0].cost+clearly {
			return all[:i]
		}
	}
	return all
}

func compareCost(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// slipTolerance is how far the value that the other figures imply may be from the one that a slip explains: the identities hold within 3 %.
const slipTolerance = 0.03

// suspicion returns what speaks for a figure as the wrong one.
func (r *row) suspicion(key string, implied, tolerance float64) suspicion {
	s := suspicion{key: key, implied: implied}
	if v, ok := r.expected(key); ok {
		s.cost = math.Abs(math.Log(implied/v)) - math.Abs(math.Log(r.value(key)/v))
	}
	scale := r.scale(key)
	meant, worth := slip(r.text(key), implied/scale, tolerance)
	s.cost -= worth
	s.exact = meant * scale
	for _, o := range r.result.rows { // copied from a neighbour
		if o != r && r.text(key) != "" && o.text(key) == r.text(key) && digitsOf(r, key) >= copiedDigits {
			s.cost -= worthDecimal
		}
	}
	return s
}

func digitsOf(r *row, key string) int {
	q, _ := r.quantity(key)
	return q.Digits
}

// probable returns the value that was probably meant.
func (s *suspicion) probable() float64 {
	if s.exact > 0 {
		return s.exact
	}
	return s.implied
}

// slip returns the number near another whose digits a common slip turns into those that were printed, and how much that explains; 0 where there is
// none.
func slip(printed string, near, tolerance float64) (meant, worth float64) {
	q, err := published.ParseQuantity(printed)
	if err != nil || !q.Number.Known() {
		return 0, 0
	}
	digits := strconv.FormatFloat(q.Number.Value(), 'f', q.Decimals, 64)
	try := func(v, w float64) {
		if apart := math.Abs(v/near - 1); apart <= tolerance && (w > worth || w == worth && apart < math.Abs(meant/near-1)) {
			meant, worth = v, w
		}
	}
	for _, f := range []float64{1e-6, 1e-3, 1e-2, 1e-1, 10, 100, 1e3, 1e6} {
		try(q.Number.Value()*f, worthDecimal)
	}
	parsed := func(text string, w float64) {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 {
			try(v, w)
		}
	}
	for i := range digits {
		if digits[i] == '.' {
			continue
		}
		for j := i + 1; j < min(i+3, len(digits)); j++ { // across the point too
			if digits[j] != '.' {
				parsed(digits[:i]+digits[j:j+1]+digits[i+1:j]+digits[i:i+1]+digits[j+1:], worthTransposed)
				break
			}
		}
		parsed(digits[:i]+digits[i+1:], worthExtra)
		for d := '0'; d <= '9'; d++ {
			parsed(digits[:i]+string(d)+digits[i:], worthMissing)
			parsed(digits[:i]+string(d)+digits[i+1:], worthDigit)
		}
	}
	return meant, worth
}

// blame returns the explanation of a row as figures that nothing may rest on.
func (r *row) blame() []blamed {
	all := r.explain()
	if len(all) == 0 {
		return nil
	}
	b := blamed{row: r}
	for _, s := range all {
		b.keys = append(b.keys, s.key)
	}
	if s := all[0]; len(all) == 1 && (s.key != keyTTFT || s.exact > 0) {
		b.probably = map[string]float64{s.key: s.probable()}
	}
	return []blamed{b}
}

// blames reports whether one of the figures may be what is wrong in a row that contradicts itself.
func (r *row) blames(keys ...string) bool {
	return slices.ContainsFunc(r.explain(), func(s suspicion) bool { return slices.Contains(keys, s.key) })
}

// repaired returns a figure as it was probably meant; as it is printed where another is to blame, and false where that is not known.
func (r *row) repaired(key string) (intervalOf, bool) {
	for _, b := range r.blame() {
		if v, ok := b.probably[key]; ok {
			return exactInterval(v), true
		}
		if slices.Contains(b.keys, key) {
			return intervalOf{}, false
		}
	}
	return r.span(key)
}
