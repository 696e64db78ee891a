package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// beyond counts the values of a term's metric that lie beyond its limit, over the requests due in a window: exactly, whatever their
// number. How alike neighbours are is told from the first keptForClusters of them.
type beyond struct {
	term            slo.Term
	count, open, of int
	kept            []dueValue
	conversation    bool // some requests came due when the answer before was complete
}

// keptForClusters bounds the memory of a count to 512 KiB.
const keptForClusters = 1 << 15

// dueValue is a value, and when its request was due.
type dueValue struct {
	due, value float64
	session    int
}

// add takes in a request that was due in the window.
func (b *beyond) add(r *rundir.Record) {
	switch b.term.Metric {
	case slo.Fidelity, slo.Accuracy: // known of the stage alone
	case slo.ITL:
		b.addGaps(r)
	case slo.Errors:
		switch {
		case r.Failed():
			b.note(r, 1) // a limit is a share below 1
		case r.OK():
			b.note(r, 0)
		}
	default:
		switch v := SLOValue(b.term.Metric, r); {
		case v.Known():
			b.note(r, v.Value())
		case v.Bound():
			b.cut(v.Value())
		}
	}
}

func (b *beyond) note(r *rundir.Record, v float64) {
	b.of++
	b.conversation = b.conversation || r.Turn > 0
	if v >= b.term.Limit {
		b.count++
	}
	if len(b.kept) < keptForClusters {
		b.kept = append(b.kept, dueValue{r.Due.Value(), v, r.Seq})
	}
}

// cut notes a value of which only a lower bound is known.
func (b *beyond) cut(bound float64) {
	b.of++
	if bound >= b.term.Limit {
		b.count++
	} else {
		b.open++
	}
}

// addGaps takes in the gaps between an answer's tokens, as [tokenGaps] does.
func (b *beyond) addGaps(r *rundir.Record) {
	if !r.OK() && !r.Censored() {
		return
	}
	for i, us := range r.GapsUS {
		k := 1
		if len(r.Counts) > 0 {
			k = int(r.Counts[i+1])
		}
		b.of += k
		if float64(us)/1e6/float64(k) >= b.term.Limit {
			b.count += k
		}
	}
	if r.Censored() && r.LastToken.Known() {
		b.cut(r.End.Value() - r.LastToken.Value())
	}
}

// SLOValue returns a metric of a request, as it is counted in the stage's distribution of that metric: a lower bound where the request was cut
// off, absent where it has none. The metric is [slo.TTFT], [slo.TTFTDue], [slo.Latency] or [slo.TPOT].
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

// result returns the count; nil for a mean, and where there was nothing to count. The pooled gaps of a stage are worth as many
// independent ones as its distribution of them says.
func (b *beyond) result(st *rundir.Stage) *rundir.Beyond {
	if b.term.Stat == slo.Mean || b.of == 0 {
		return nil
	}
	out := &rundir.Beyond{Count: b.count, Open: b.open, Of: b.of, Neff: rundir.Exactly(b.effective())}
	if b.term.Metric == slo.ITL {
		out.Neff = rundir.Exactly(math.Min(float64(b.of), math.Max(1, st.ITL.Neff.Value())))
	}
	if b.term.Waits() {
		out.Crowding = b.crowding(st)
	}
	low, high := slo.Bounds(*out)
	out.Low, out.High = rundir.Exactly(low), rundir.Exactly(high)
	return out
}

// effective returns how many independent values the counted ones are worth. Where none is beyond the limit, nor near it, that is all of them:
// of 600 values none shows a share of less than 1 %.
func (b *beyond) effective() float64 {
	if len(b.kept) == 0 {
		return float64(b.of)
	}
	slices.SortStableFunc(b.kept, func(x, y dueValue) int { return cmp.Compare(x.due, y.due) })
	series := make([]float64, len(b.kept))
	for i, k := range b.kept {
		series[i] = k.value
	}
	if b.term.Metric == slo.Errors && b.count == 0 { // there is no value near the limit that would tell how failures cluster
		return float64(b.of)
	}
	fewest := fewestBeyond
	if b.term.Metric == slo.Errors {
		fewest = min(fewest, b.count)
	}
	if b.count == 0 && stats.Largest(series, fewest) < nearLimit*b.term.Limit {
		return float64(b.of) // as with errors
	}
	worth := stats.EffectiveShareN(series, b.term.Limit, fewest) / float64(len(series))
	if b.conversation {
		worth = min(worth, b.sessionsWorth(series, fewest))
	}
	return math.Max(1, float64(b.of)*worth)
}

// sessionsWorth returns how many independent values a value is worth where the turns of one session are alike. What counts as beyond the limit is as in
// [stats.EffectiveShareN].
func (b *beyond) sessionsWorth(series []float64, fewest int) float64 {
	limit := min(b.term.Limit, stats.Largest(series, fewest))
	bySession := map[int]stats.Cluster{}
	for _, k := range b.kept {
		one := bySession[k.session]
		if one.Of++; k.value >= limit {
			one.Count++
		}
		bySession[k.session] = one
	}
	return stats.ClusteredN(slices.Collect(maps.Values(bySession))) / float64(len(series))
}
