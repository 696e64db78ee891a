package sweep

import (
	"iter"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// goodput counts the requests that met every term (Zhong and others, "DistServe", OSDI 2024), one by one as they are read.
type goodput struct {
	terms    []slo.Term
	from, to time.Duration // the window, to the nanosecond that records.jsonl is written to

	due, good, unknown int // of those due in it
	done               int // good, of those that ended in it
}

// judgeSLO fills in how much of what a stage served was as promised; its other figures are known. Nothing was where there
// are no terms.
func judgeSLO(st *rundir.Stage, terms []slo.Term, records iter.Seq2[*rundir.Record, error]) error {
	st.Goodput = nil
	if len(terms) == 0 {
		return nil
	}
	g := newGoodput(st, terms)
	err := each(records, g.add)
	st.Goodput = g.result(st)
	return err
}

func newGoodput(st *rundir.Stage, terms []slo.Term) *goodput {
	return &goodput{terms: terms, from: duration(st.WindowFrom), to: duration(st.WindowFrom + st.Window)}
}

// holds is as [span.holds].
func (g *goodput) holds(seconds float64) bool {
	at := duration(seconds)
	return (at > g.from || at == 0 && g.from == 0) && at <= g.to
}

// add judges a request.
func (g *goodput) add(r *rundir.Record) {
	verdict := g.judge(r)
	if verdict == slo.Kept && g.holds(r.End.Value()) {
		g.done++
	}
	if !g.holds(r.Due.Value()) {
		return
	}
	g.due++
	switch verdict {
	case slo.Kept:
		g.good++
	case slo.Unknown:
		g.unknown++
	}
}

// judge says whether a request met every term. One that failed met none.
func (g *goodput) judge(r *rundir.Record) slo.Verdict {
	if r.Status == string(client.StatusError) {
		return slo.Broken
	}
	all := slo.Kept
	for _, t := range g.terms {
		switch meets(t, r) {
		case slo.Broken:
			return slo.Broken
		case slo.Unknown:
			all = slo.Unknown
		}
	}
	if !ok(r) { // it was cancelled while it was as good as promised
		return slo.Unknown
	}
	return all
}

// meets reads a term for a single request: its own time, or its own percentile of the gaps between its tokens. A share of
// errors is for rows alone.
func meets(t slo.Term, r *rundir.Record) slo.Verdict {
	if t.Figure == slo.Errors {
		return slo.Kept
	}
	if gaps := t.Figure == slo.ITL || t.Figure == slo.TPOT; gaps && ok(r) && len(r.GapsUS) == 0 && r.FirstToken.Known() {
		return slo.Kept // the answer came in one piece: there is no gap that was too long
	}
	switch f := readingOf(t, r); {
	case f.IsZero():
		return slo.Unknown
	case f.Value() >= t.Limit:
		return slo.Broken
	case f.Bound():
		return slo.Unknown
	}
	return slo.Kept
}

// readingOf is a term's figure of a single request, a lower bound where the request was cancelled before it was known.
func readingOf(t slo.Term, r *rundir.Record) rundir.Number {
	first, last, end := r.FirstToken.Value(), r.LastToken.Value(), r.End.Value()
	from := r.Sent.Value()
	if t.Figure == slo.TTFTDue {
		from = r.Due.Value()
	}
	switch {
	case t.Figure == slo.ITL && ok(r):
		return gapOf(t, r)
	case t.Figure == slo.TPOT && ok(r):
		return rundir.Exactly((last - first) / (r.OutputTokens.Value() - 1))
	case t.Figure == slo.ITL, t.Figure == slo.TPOT:
		return rundir.Number{} // gaps still to come may outweigh those seen
	case t.Figure == slo.Latency && ok(r) && r.LastToken.Known():
		return rundir.Exactly(last - from)
	case t.Figure == slo.Latency && ok(r):
		return rundir.Exactly(end - from)
	case t.Figure == slo.Latency, !r.FirstToken.Known() && !ok(r):
		return rundir.Over(end - from)
	}
	return rundir.Exactly(first - from)
}

// gapOf is a statistic of the gaps between one answer's tokens; a chunk of k tokens counts as k gaps.
func gapOf(t slo.Term, r *rundir.Record) rundir.Number {
	var gaps []float64
	for i, us := range r.GapsUS {
		k := 1
		if len(r.Counts) > 0 {
			k = int(r.Counts[i+1])
		}
		for range k {
			gaps = append(gaps, float64(us)/1e6/float64(k))
		}
	}
	if t.Stat == slo.Mean {
		return rundir.Exactly(stats.Mean(gaps))
	}
	slices.Sort(gaps)
	return rundir.Exactly(stats.Quantile(gaps, t.Quantile()))
}

// result is the goodput of a stage.
func (g *goodput) result(st *rundir.Stage) *rundir.Goodput {
	out := &rundir.Goodput{Unknown: g.unknown}
	if st.Rates.Completed.Known() && g.due > 0 { // as of those, there is no rate of nothing
		out.Rate = rundir.Exactly(float64(g.done) / st.Window)
	}
	if out.Share = rundir.Exactly(float64(g.good) / float64(g.due)); g.unknown > 0 {
		out.Share = rundir.Over(out.Share.Value())
	}
	verdict, _ := slo.Judge(st, g.terms)
	out.Verdict = verdict.String()
	for _, t := range g.terms {
		f, _ := t.Of(st)
		out.Terms = append(out.Terms, rundir.Promise{Term: t.String(), Verdict: t.Holds(st).String(), Value: f, Needs: t.Needs(st)})
	}
	return out
}
