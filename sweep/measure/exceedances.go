package measure

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// exceedances counts the values of a term's metric beyond its limit, over the requests due in a window. How alike
// neighbours are follows from the first maxClusterSample of them.
type exceedances struct {
	term         slo.Term
	total        int
	count        int // values beyond the limit
	failed       int // values beyond it of requests that failed; of stalls and errors, all that are beyond
	open         int // values that were cut off below the limit
	sample       []dueValue
	conversation bool // some requests are later turns of sessions
}

// maxClusterSample bounds the memory of a count to 768 KiB.
const maxClusterSample = 1 << 15

type dueValue struct {
	due, value float64
	session    int
}

func (b *exceedances) add(r *rundir.Record) {
	failed := r.Failed() && !r.Censored()
	switch m := b.term.Metric; {
	case b.term.OfStage(): // it has a count of its own
	case m == slo.ITL && failed:
		b.total, b.count, b.failed = b.total+gapsAsked(r), b.count+gapsAsked(r), b.failed+gapsAsked(r)
	case m == slo.ITL:
		b.addGaps(r)
	case failed, m == slo.Errors && r.Failed():
		b.failed++
		b.addValue(r, max(1, 2*b.term.Limit))
	case m == slo.Errors:
		if r.OK() {
			b.addValue(r, 0)
		}
	default:
		switch v := valueOf(b.term, r); {
		case m == slo.Stalls && v.Value() == 1:
			b.failed++
			b.addValue(r, 1)
		case v.Known():
			b.addValue(r, v.Value())
		case v.Bound():
			b.addBound(v.Value())
		}
	}
}

func (b *exceedances) addValue(r *rundir.Record, v float64) {
	b.total++
	b.conversation = b.conversation || r.Turn > 0
	if v >= b.term.Limit {
		b.count++
	}
	if len(b.sample) < maxClusterSample {
		b.sample = append(b.sample, dueValue{r.Due.Value(), v, r.Seq})
	}
}

func (b *exceedances) addBound(bound float64) {
	b.total++
	if bound >= b.term.Limit {
		b.count++
	} else {
		b.open++
	}
}

// gapsAsked stands for the gaps that the answer to a failed request would have had.
func gapsAsked(r *rundir.Record) int { return max(1, r.AskedTokens-1) }

// addGaps counts as [tokenGaps] does.
func (b *exceedances) addGaps(r *rundir.Record) {
	if !r.OK() && !r.Censored() {
		return
	}
	for gap, k := range chunkGaps(r) {
		b.total += k
		if gap/float64(k) >= b.term.Limit {
			b.count += k
		}
	}
	if r.Censored() && r.LastToken.Known() {
		b.addBound(r.End.Value() - r.LastToken.Value())
	}
}

// SLOValue returns a metric of a request, as it is counted in the stage's distribution of that metric: a lower bound
// where the request was cut off, absent where it has none. The metric is [slo.TTFT], [slo.TTFTDue], [slo.TTFA],
// [slo.Latency] or [slo.TPOT].
func SLOValue(metric string, r *rundir.Record) rundir.Number {
	sent, first, last, end := r.Sent.Value(), r.FirstToken.Value(), r.LastToken.Value(), r.End.Value()
	from := sent
	if metric == slo.TTFTDue {
		from = r.Due.Value()
	}
	switch metric {
	case slo.TTFT, slo.TTFTDue:
		switch {
		case r.FirstToken.Known() && (r.OK() || r.Censored()):
			return rundir.Exactly(first - from)
		case r.Censored():
			return rundir.Over(end - from) // absent where it was never sent
		}
	case slo.TTFA:
		switch {
		case r.FirstAnswer.Known() && (r.OK() || r.Censored()):
			return rundir.Exactly(r.FirstAnswer.Value() - sent)
		case r.OK() || r.Censored():
			return rundir.Over(end - sent)
		}
	case slo.Latency:
		switch {
		case r.OK() && r.FirstToken.Known():
			return rundir.Exactly(last - sent)
		case r.OK():
			return rundir.Exactly(end - sent)
		case r.Censored():
			return rundir.Over(end - sent)
		}
	case slo.TPOT:
		if n := r.OutputTokens.Value(); r.OK() && r.FirstToken.Known() && n > 1 {
			return rundir.Exactly((last - first) / (n - 1))
		}
	}
	return rundir.Number{}
}

// valueOf returns a term's metric of a single request as [SLOValue] does; of stalls 1 or 0. A lower bound of 0 stands
// for not known.
func valueOf(t slo.Term, r *rundir.Record) rundir.Number {
	n, whole := r.OutputTokens, r.OK() && r.FirstToken.Known()
	single := n.Known() && n.Value() <= 1 && r.TokenSource != client.SourceChunks // there is nothing after the first token
	switch {
	case t.Metric == slo.Stalls:
		return stalled(t.Gap, r, single)
	case t.Metric != slo.Speed:
		return SLOValue(t.Metric, r)
	case !whole || single:
		return rundir.Number{}
	}
	first := n.Value() / chunks(r)
	if len(r.Counts) > 0 {
		first = float64(r.Counts[0])
	}
	if !n.Known() || r.TokenSource == client.SourceChunks || slo.Packed(first, n.Value()) {
		return rundir.Over(0)
	}
	return SLOValue(slo.TPOT, r)
}

// stalled returns 1 for an answer with a longer gap between two chunks, else 0. Several tokens in a single chunk hide
// their gaps.
func stalled(gap float64, r *rundir.Record, single bool) rundir.Number {
	if !r.OK() && !r.Censored() {
		return rundir.Number{}
	}
	for _, us := range r.GapsUS {
		if float64(us)/1e6 > gap {
			return rundir.Exactly(1)
		}
	}
	waits := r.Censored() && r.LastToken.Known()
	switch {
	case waits && r.End.Value()-r.LastToken.Value() > gap:
		return rundir.Exactly(1)
	case r.OK() && (len(r.GapsUS) > 0 || single):
		return rundir.Exactly(0)
	}
	return rundir.Over(0)
}

// result returns nil for a mean, and where there was nothing to count.
func (b *exceedances) result(st *rundir.Stage) *rundir.Beyond {
	if b.term.Stat == slo.Mean || b.total == 0 || b.term.Metric == slo.TTFA && st.FirstAnswer.N == 0 {
		return nil
	}
	out := &rundir.Beyond{Count: b.count, Open: b.open, Of: b.total, Neff: rundir.Exactly(b.effective())}
	if b.term.Metric == slo.ITL { // pooled gaps are worth as many independent ones as their distribution says
		out.Neff = rundir.Exactly(math.Min(float64(b.total), math.Max(1, st.ITL.Neff.Value())))
	}
	slo.Bound(out)
	return out
}

// effective returns how many independent values the counted ones are worth. Where none is beyond the limit, nor near
// it, that is all of them: of 600 values none shows a share of less than 1 %.
func (b *exceedances) effective() float64 {
	if len(b.sample) == 0 {
		return float64(b.total)
	}
	slices.SortStableFunc(b.sample, func(x, y dueValue) int { return cmp.Compare(x.due, y.due) })
	series := make([]float64, len(b.sample))
	for i, k := range b.sample {
		series[i] = k.value
	}
	fewest := fewestBeyond
	// values far from the limit do not show how failures cluster
	if stats.Largest(series, fewest) < nearLimit*b.term.Limit && b.count == b.failed {
		if b.failed == 0 {
			return float64(b.total)
		}
		fewest = b.failed
	}
	worth := stats.EffectiveShareN(series, b.term.Limit, fewest) / float64(len(series))
	if b.conversation {
		worth = min(worth, b.sessionsWorth(series, fewest))
	}
	return math.Max(1, float64(b.total)*worth)
}

// sessionsWorth returns how many independent values a value is worth where the turns of one session are alike. What
// counts as beyond the limit is as in [stats.EffectiveShareN].
func (b *exceedances) sessionsWorth(series []float64, fewest int) float64 {
	limit := min(b.term.Limit, stats.Largest(series, fewest))
	clusters := sessionClusters{}
	for _, k := range b.sample {
		clusters.add(k.session, k.value >= limit)
	}
	return clusters.effective() / float64(len(series))
}
