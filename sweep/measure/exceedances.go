package measure

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// exceedances counts the values of a term's metric beyond its limit, over the requests due in a window: all of them. How
// alike neighbours are follows from the first maxClusterSample.
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
		b.total, b.count, b.failed = b.total+askedGaps(r), b.count+askedGaps(r), b.failed+askedGaps(r)
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

// askedGaps stands for the gaps that the answer to a failed request would have had.
func askedGaps(r *rundir.Record) int { return max(1, r.AskedTokens-1) }

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
