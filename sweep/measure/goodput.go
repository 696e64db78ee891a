package measure

import (
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Goodput counts the requests of a window that met every term of an SLO (Zhong and others, "DistServe", OSDI 2024).
type Goodput struct {
	terms       []slo.Term
	exceedances []exceedances // of each term
	window      Window

	due, good, unknown int           // requests due in the window: all, those that met the terms, those that may have
	done, doubtful     int           // requests that ended in the window: those that met the terms, those that may have
	tokens             rundir.Number // output tokens of the requests done; absent once one has no count

	sessions map[int]sessionState // by their place in the stage; nil where each request stands alone
}

type sessionState struct{ missed, doubtful bool }

// NewGoodput returns a count of nothing. talks is whether requests are turns of sessions.
func NewGoodput(w Window, terms []slo.Term, talks bool) *Goodput {
	g := &Goodput{terms: terms, window: w, tokens: rundir.Exactly(0)}
	for _, t := range terms {
		g.exceedances = append(g.exceedances, exceedances{term: t})
	}
	if talks {
		g.sessions = map[int]sessionState{}
	}
	return g
}

// Add judges a request.
func (g *Goodput) Add(r *rundir.Record) {
	verdict := judgeRequest(g.terms, r)
	if g.window.Holds(r.End.Value()) {
		switch {
		case verdict == rundir.Met:
			g.done++
			g.tokens = rundir.Exactly(g.tokens.Value() + r.OutputTokens.Value())
		case verdict == rundir.Unsure && r.OK():
			g.doubtful++
		}
	}
	if !g.window.Holds(r.Due.Value()) {
		return
	}
	g.due++
	for i := range g.exceedances {
		g.exceedances[i].add(r)
	}
	switch verdict {
	case rundir.Met:
		g.good++
	case rundir.Unsure:
		g.unknown++
	}
	if g.sessions != nil && (r.OK() || verdict == rundir.Missed) {
		t := g.sessions[r.Seq]
		t.missed, t.doubtful = t.missed || verdict == rundir.Missed, t.doubtful || verdict == rundir.Unsure
		g.sessions[r.Seq] = t
	}
}

// missedSessions counts the sessions with a turn in the window that missed a term; nil where there are none.
func (g *Goodput) missedSessions(st *rundir.Stage) *rundir.Beyond {
	b := &rundir.Beyond{Of: len(g.sessions), Neff: rundir.Exactly(float64(len(g.sessions)))}
	for _, t := range g.sessions {
		switch {
		case t.missed:
			b.Count++
		case t.doubtful || g.unknownToStage(st):
			b.Open++
		}
	}
	if b.Of == 0 {
		return nil
	}
	slo.Bound(b)
	return b
}

// goodSessions returns the share of the sessions of which no turn missed a term; a lower bound where that is not known
// of some turns, and absent where there are no sessions.
func (g *Goodput) goodSessions(st *rundir.Stage) rundir.Number {
	b := g.missedSessions(st)
	if b == nil {
		return rundir.Number{}
	}
	share := 1 - float64(b.Count+b.Open)/float64(b.Of)
	if b.Open > 0 {
		return rundir.Over(share)
	}
	return rundir.Exactly(share)
}

// unknownToStage reports whether a stage does not tell the metric of one of the terms at all.
func (g *Goodput) unknownToStage(st *rundir.Stage) bool {
	return st.FirstAnswer.N == 0 && slo.Of(slo.TTFA, g.terms) != nil
}

// judgeRequest returns whether a request met every term. One that failed met none.
func judgeRequest(terms []slo.Term, r *rundir.Record) rundir.SLOVerdict {
	if r.Failed() {
		return rundir.Missed
	}
	all := rundir.Met
	for _, t := range terms {
		switch meets(t, r) {
		case rundir.Missed:
			return rundir.Missed
		case rundir.Unsure:
			all = rundir.Unsure
		}
	}
	if !r.OK() { // cancelled before it missed a term
		return rundir.Unsure
	}
	return all
}

// meets judges gaps between tokens by the request's own percentile of them. Errors, equal answers and sessions are for
// stages alone.
func meets(t slo.Term, r *rundir.Record) rundir.SLOVerdict {
	if t.Metric == slo.Errors || t.OfStage() {
		return rundir.Met
	}
	if t.Metric == slo.Speed && r.OK() && valueOf(t, r).IsZero() {
		return rundir.Met // nothing came after the first token
	}
	if gaps := t.Metric == slo.ITL || t.Metric == slo.TPOT; gaps && r.OK() && len(r.GapsUS) == 0 && r.FirstToken.Known() {
		return rundir.Met // the answer came in one piece: there is no gap that was too long
	}
	switch f := readingOf(t, r); {
	case f.IsZero():
		return rundir.Unsure
	case f.Value() >= t.Limit:
		return rundir.Missed
	case f.Bound():
		return rundir.Unsure
	}
	return rundir.Met
}

// Write sets the goodput of a stage whose other metrics are known.
func (g *Goodput) Write(st *rundir.Stage) {
	st.Goodput = g.result(st)
	if st.Sessions != nil {
		st.Sessions.Good = g.goodSessions(st)
	}
}

func (g *Goodput) result(st *rundir.Stage) *rundir.Goodput {
	out := &rundir.Goodput{Unknown: g.unknown}
	if g.unknownToStage(st) {
		g.done, g.doubtful, g.good, g.unknown = 0, g.doubtful+g.done, 0, g.unknown+g.good
		out.Unknown = g.unknown
	}
	if st.Rates.Completed.Known() && g.due > 0 && (g.done > 0 || g.doubtful == 0) { // a rate of nothing is absent
		out.Rate, out.Tokens = rundir.Exactly(float64(g.done)/st.Window), rundir.Exactly(g.tokens.Value()/st.Window)
		if g.doubtful > 0 {
			out.Rate, out.Tokens = rundir.Over(out.Rate.Value()), rundir.Over(out.Tokens.Value())
		}
	}
	out.Share = rundir.Exactly(float64(g.good) / float64(g.due))
	if g.unknown > 0 {
		out.Share = rundir.Over(out.Share.Value())
	}
	for i, t := range g.terms {
		p := rundir.TermResult{Term: t.String(), Beyond: g.exceedances[i].result(st)}
		if t.Metric == slo.Sessions {
			p.Beyond = g.missedSessions(st)
		}
		out.Terms = append(out.Terms, p)
	}
	judged := *st // by the counts, where there are some
	judged.Goodput = out
	JudgeGoodput(&judged, g.terms)
	return out
}

// JudgeGoodput judges a stage by the counts that it has. Graded answers are known after the other metrics: then it is
// judged again.
func JudgeGoodput(st *rundir.Stage, terms []slo.Term) {
	out := st.Goodput
	if out == nil || len(out.Terms) != len(terms) {
		return
	}
	for i, t := range terms {
		if t.Metric == slo.Accuracy {
			out.Terms[i].Beyond = t.Counted(st)
		}
	}
	verdict, _ := slo.Judge(st, terms)
	out.Verdict = verdict
	for i, t := range terms {
		value, _ := t.Of(st)
		p := &out.Terms[i]
		p.Verdict, p.Value, p.Needs, p.Unknown = t.Verdict(st), value, t.Needs(st), t.Unknown(st)
	}
}
