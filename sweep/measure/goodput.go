package measure

import (
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Goodput counts the requests of a window that met every term of an SLO (Zhong and others, "DistServe", OSDI 2024).
type Goodput struct {
	terms  []slo.Term
	beyond []beyond // of each term
	window Window

	due, good, unknown int // of those due in the window
	done               int // good, of those that ended in it
}

// NewGoodput returns a count of nothing.
func NewGoodput(w Window, terms []slo.Term) *Goodput {
	g := &Goodput{terms: terms, window: w}
	for _, t := range terms {
		g.beyond = append(g.beyond, beyond{term: t})
	}
	return g
}

// Add judges a request.
func (g *Goodput) Add(r *rundir.Record) {
	verdict := g.judge(r)
	if verdict == rundir.Kept && g.window.Holds(r.End.Value()) {
		g.done++
	}
	if !g.window.Holds(r.Due.Value()) {
		return
	}
	g.due++
	for i := range g.beyond {
		g.beyond[i].add(r)
	}
	switch verdict {
	case rundir.Kept:
		g.good++
	case rundir.Unsure:
		g.unknown++
	}
}

// judge returns whether a request met every term. One that failed met none.
func (g *Goodput) judge(r *rundir.Record) rundir.Promised {
	if r.Failed() {
		return rundir.Broken
	}
	all := rundir.Kept
	for _, t := range g.terms {
		switch meets(t, r) {
		case rundir.Broken:
			return rundir.Broken
		case rundir.Unsure:
			all = rundir.Unsure
		}
	}
	if !r.OK() { // it was cancelled while it was as good as promised
		return rundir.Unsure
	}
	return all
}

// meets returns whether a single request meets a term: by its own time, or by its own percentile of the gaps between its tokens. A
// share of errors or of equal answers is for stages alone.
func meets(t slo.Term, r *rundir.Record) rundir.Promised {
	if t.Metric == slo.Errors || t.OfAnswers() {
		return rundir.Kept
	}
	if gaps := t.Metric == slo.ITL || t.Metric == slo.TPOT; gaps && r.OK() && len(r.GapsUS) == 0 && r.FirstToken.Known() {
		return rundir.Kept // the answer came in one piece: there is no gap that was too long
	}
	switch f := readingOf(t, r); {
	case f.IsZero():
		return rundir.Unsure
	case f.Value() >= t.Limit:
		return rundir.Broken
	case f.Bound():
		return rundir.Unsure
	}
	return rundir.Kept
}

// readingOf returns a term's metric of a single request, a lower bound where the request was cancelled before it was known.
func readingOf(t slo.Term, r *rundir.Record) rundir.Number {
	first, last, end := r.FirstToken.Value(), r.LastToken.Value(), r.End.Value()
	from := r.Sent.Value()
	if t.Metric == slo.TTFTDue {
		from = r.Due.Value()
	}
	switch {
	case t.Metric == slo.ITL && r.OK():
		return gapOf(t, r)
	case t.Metric == slo.TPOT && r.OK():
		return rundir.Exactly((last - first) / (r.OutputTokens.Value() - 1))
	case t.Metric == slo.ITL, t.Metric == slo.TPOT:
		return rundir.Number{} // gaps still to come may outweigh those seen
	case t.Metric == slo.Latency && r.OK() && r.LastToken.Known():
		return rundir.Exactly(last - from)
	case t.Metric == slo.Latency && r.OK():
		return rundir.Exactly(end - from)
	case t.Metric == slo.Latency, !r.FirstToken.Known() && !r.OK():
		return rundir.Over(end - from)
	}
	return rundir.Exactly(first - from)
}

// gapOf returns a statistic of the gaps between one answer's tokens; a chunk of k tokens counts as k gaps.
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

// Result returns the goodput of a stage whose other metrics are known.
func (g *Goodput) Result(st *rundir.Stage) *rundir.Goodput {
	out := &rundir.Goodput{Unknown: g.unknown}
	if st.Rates.Completed.Known() && g.due > 0 { // a rate of nothing is absent
		out.Rate = rundir.Exactly(float64(g.done) / st.Window)
	}
	if out.Share = rundir.Exactly(float64(g.good) / float64(g.due)); g.unknown > 0 {
		out.Share = rundir.Over(out.Share.Value())
	}
	for i, t := range g.terms {
		out.Terms = append(out.Terms, rundir.Promise{Term: t.String(), Beyond: g.beyond[i].result(st)})
	}
	judged := *st // by the counts, where there are some
	judged.Goodput = out
	GoodputJudge(&judged, g.terms)
	return out
}

// GoodputJudge judges a stage by the counts that it has. Answers to canaries are known after the other metrics: then it is judged again.
func GoodputJudge(st *rundir.Stage, terms []slo.Term) {
	out := st.Goodput
	if out == nil || len(out.Terms) != len(terms) {
		return
	}
	for i, t := range terms {
		if t.OfAnswers() {
			out.Terms[i].Beyond = t.Answers(st)
		}
	}
	verdict, _ := slo.Judge(st, terms)
	out.Verdict = verdict
	for i, t := range terms {
		value, _ := t.Of(st)
		p := &out.Terms[i]
		p.Verdict, p.Value, p.Needs = t.Holds(st), value, t.Needs(st)
	}
}
