package measure

import (
	"slices"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

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

// readingOf returns a lower bound where the request was cancelled before the metric was known.
func readingOf(t slo.Term, r *rundir.Record) rundir.Number {
	switch {
	case t.Metric == slo.ITL && r.OK():
		return gapOf(t, r)
	case t.Metric == slo.ITL, t.Metric == slo.TPOT && !r.OK():
		return rundir.Number{} // gaps still to come may outweigh those seen
	}
	return valueOf(t, r)
}

// gapOf returns a statistic of the gaps between one answer's tokens; a chunk of k tokens counts as k gaps.
func gapOf(t slo.Term, r *rundir.Record) rundir.Number {
	var gaps []float64
	for gap, k := range chunkGaps(r) {
		for range k {
			gaps = append(gaps, gap/float64(k))
		}
	}
	if t.Stat == slo.Mean {
		return rundir.Exactly(stats.Mean(gaps))
	}
	slices.Sort(gaps)
	return rundir.Exactly(stats.Quantile(gaps, t.Quantile()))
}
