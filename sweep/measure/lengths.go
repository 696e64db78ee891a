package measure

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

type total struct {
	n                      int
	sum, squares, min, max float64
}

func (t *total) add(v float64) {
	if t.n == 0 {
		t.min, t.max = v, v
	}
	t.n++
	t.sum += v
	t.squares += v * v
	t.min, t.max = min(t.min, v), max(t.max, v)
}

func (t *total) addNumber(n rundir.Number) {
	if n.Known() {
		t.add(n.Value())
	}
}

func (t *total) mean() float64 { return t.sum / float64(t.n) }

// std returns the population standard deviation.
func (t *total) std() float64 { return math.Sqrt(max(0, t.squares/float64(t.n)-t.mean()*t.mean())) }

// variation returns the coefficient of variation; 0 where it is not known.
func (t *total) variation() float64 {
	if t.sum <= 0 {
		return 0
	}
	return t.std() / t.mean()
}

func (t *total) tokens() rundir.TokenStats {
	if t.n == 0 {
		return rundir.TokenStats{}
	}
	return rundir.TokenStats{
		N: t.n, Mean: rundir.Exactly(t.mean()), Std: rundir.Exactly(t.std()),
		Total: rundir.Exactly(math.Round(t.mean() * float64(t.n))),
		Min:   rundir.Exactly(t.min), Max: rundir.Exactly(t.max),
	}
}

// answerLengths is the distribution of the lengths of answers that end by themselves. A nil one takes nothing in.
type answerLengths struct {
	lengths sample.Sample
	cut     float64 // as long as allowed
}

func (a *answerLengths) add(r *rundir.Record) {
	if a == nil || !r.OutputTokens.Known() {
		return
	}
	a.lengths.Add(r.Due.Value(), r.OutputTokens.Value())
	if r.OutputTokens.Value() >= float64(r.AskedTokens) {
		a.cut++
	}
}

func (a *answerLengths) fill(t *rundir.TokenStats) {
	if a == nil || t.N == 0 {
		return
	}
	d := a.lengths.Dist()
	t.P50, t.P90, t.AtLimit = d.P50, d.P90, rundir.Exactly(a.cut/float64(t.N))
}

type lengths struct {
	output, prompt, cached, asked total
	spread                        *answerLengths // of answers that end by themselves; nil where they do not

	shares Shares
	source string
}

func (l *lengths) add(r *rundir.Record) {
	l.shares.add(r)
	if !r.OK() {
		return
	}
	l.asked.add(float64(r.AskedTokens))
	l.output.addNumber(r.OutputTokens)
	l.spread.add(r)
	l.prompt.addNumber(r.PromptTokens)
	l.cached.addNumber(r.CachedTokens)
	switch {
	case l.source == "":
		l.source = r.TokenSource
	case r.TokenSource != "" && r.TokenSource != l.source:
		l.source = "mixed"
	}
}

func (l *lengths) fill(st *rundir.Stage, count tokenCounter) {
	st.OutputTokens, st.PromptTokens = l.output.tokens(), l.prompt.tokens()
	l.spread.fill(&st.OutputTokens)
	if p := &st.PromptTokens; p.Total.Known() { // text is all that we send
		p.Text, p.Vision = p.Total, rundir.Exactly(0)
	}
	st.CachedTokens = rundir.Exactly(l.cached.mean())
	st.AskedTokens = rundir.Number{}
	if mean := l.asked.mean(); mean > 0 {
		st.AskedTokens = rundir.Exactly(mean)
	}
	st.TokensPerChunk = rundir.Number{}
	if count.known {
		st.TokensPerChunk = rundir.Exactly(count.perChunk)
	}
	st.TokenSource = l.source
}
