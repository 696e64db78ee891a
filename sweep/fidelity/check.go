package fidelity

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"sync"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Names of the two passes in which canaries are asked one at a time, before the first stage.
const (
	Alone = "canaries"
	Again = "canaries-again"
)

// Options is the configuration of a [Check].
type Options struct {
	Set   Set
	Share float64 // of the requests of each stage, from LeastShare to MostShare
	Seed  uint64
	// Alone has canaries asked alone, and in no stage.
	Alone bool
	// Clean takes secrets out of texts of the server, which may repeat what it was sent; nil for none.
	Clean func(string) string
}

// Limits on the share of a stage's requests that are canaries, and the default.
const (
	LeastShare   = 0.01
	MostShare    = 0.05
	defaultShare = 0.05
)

// Check asks canaries, and judges the answers. It is told answers by the requests of many goroutines at once.
type Check struct {
	Options

	mu       sync.Mutex
	refused  bool  // the server refused to send log-probabilities
	useless  bool  // the server refused the canaries as well without
	retry    []int // canaries to be asked again, without log-probabilities
	alone    map[int]*Answer
	null     []asked
	unasked  int // requests of the second time alone that failed
	stages   map[string]*Stage
	unsaved  []rundir.CanaryAnswer
	logProbs int // answers with log-probabilities
	thought  int // answers that begin with reasoning
	cut      int // answers whose tokens are divided otherwise
	strange  bool
}

// New returns a check of a set.
func New(o Options) *Check {
	o.Share = cmp.Or(o.Share, defaultShare)
	return &Check{Options: o, alone: map[int]*Answer{}, stages: map[string]*Stage{}}
}

// Phase is the phase in which canaries are asked alone.
func (c *Check) Phase() string { return experiment.PhaseCanaries }

// Requests returns how many requests the passes before the first stage take.
func (c *Check) Requests() int { return len(c.Set) * len(c.Passes()) }

// Passes returns the names of the passes before the first stage.
func (c *Check) Passes() []string { return []string{Alone, Again} }

// Pass returns the canaries of a pass, one after the other.
func (c *Check) Pass(name string) load.Source { return &pass{check: c, name: name} }

// pass asks each canary once.
type pass struct {
	check *Check
	name  string
	next  int
}

// Next returns the next canary.
func (p *pass) Next() (load.Session, bool) {
	c := p.check
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.retry); n > 0 {
		i := c.retry[n-1]
		c.retry = c.retry[:n-1]
		return c.session(p.name, i), true
	}
	if c.useless || p.next == len(c.Set) {
		return load.Session{}, false
	}
	p.next++
	return c.session(p.name, p.next-1), true
}

// session returns the session that asks a canary. The caller holds the lock.
func (c *Check) session(stage string, i int) load.Session {
	canary := c.Set[i]
	return load.Session{
		Turns: []load.Turn{{User: canary.Prompt, OutputTokens: canary.Tokens, Greedy: &api.Greedy{LogProbs: !c.refused}}},
		Ended: func(seq, _ int, res *client.Result) { c.ended(stage, i, seq, res) },
	}
}

// Source returns the sessions of a stage, with canaries in place of some: one at a random place among each 1/Share of them.
func (c *Check) Source(stage string, s load.Source) load.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.useless || len(c.alone) == 0 || c.Options.Alone {
		return s
	}
	return c.mix(stage, s, func(i int) bool { return c.alone[i] != nil })
}

// Planned returns the sessions of a stage as [Check.Source] does if all canaries are answered alone. None of them is sent.
func (c *Check) Planned(stage string, s load.Source) load.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mix(stage, s, func(int) bool { return true })
}

// mix puts those canaries that are wanted among the sessions of a stage. The caller holds the lock.
func (c *Check) mix(stage string, s load.Source, wanted func(i int) bool) load.Source {
	rng := stats.Rand(c.Seed, "canaries", stage)
	c.stages[stage] = &Stage{Name: stage}
	var order []int
	for i := range c.Set {
		if wanted(i) {
			order = append(order, i)
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return &mixed{check: c, stage: stage, inner: s, rng: rng, order: order, block: max(1, int(math.Round(1/c.Share)))}
}

// mixed is a source with canaries in it.
type mixed struct {
	check *Check
	stage string
	inner load.Source
	rng   *rand.Rand
	order []int
	block int // sessions, one of which is a canary
	n     int // sessions so far
	place int // of the canary in this block
	asked int // canaries so far
}

// Next returns the next session. A canary takes the place of one of the workload's, so that those that follow keep their arrivals.
func (m *mixed) Next() (load.Session, bool) {
	s, ok := m.inner.Next()
	if !ok {
		return s, false
	}
	at := m.n % m.block
	if at == 0 {
		m.place = m.rng.IntN(m.block)
	}
	m.n++
	if at != m.place {
		return s, true
	}
	i := m.order[m.asked%len(m.order)]
	m.asked++
	m.check.mu.Lock()
	defer m.check.mu.Unlock()
	return m.check.session(m.stage, i), true
}

// refusedBy reports whether a server refused a request as one that it does not take.
func refusedBy(res *client.Result) bool {
	return res.Status == client.StatusError && res.Class == client.ClassHTTP4xx && res.HTTP != 401 && res.HTTP != 403 && res.HTTP != 404
}

// ended takes in the outcome of a request. It keeps nothing of the result.
func (c *Check) ended(stage string, i, seq int, res *client.Result) {
	raw, text := bytes.Clone(res.LogProbs), string(res.Text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if stage == Alone && refusedBy(res) && len(c.alone) == 0 {
		if c.refused {
			c.useless = true
			return
		}
		c.refused, c.retry = true, append(c.retry, i)
		return
	}
	if res.Status != client.StatusOK {
		c.failed(stage, i, seq, res)
		return
	}
	a := &Answer{Text: c.clean(text), Output: max(0, res.OutputTokens)}
	if tokens, err := api.ParseLogProbs(raw); err == nil {
		a.Tokens = tokens
	} else {
		c.strange = true
	}
	if a.Text != text { // a secret may be spread over tokens
		a.Tokens = nil
	}
	if len(a.Tokens) > 0 {
		c.logProbs++
	}
	if res.ReasoningTokens > 0 {
		c.thought++
	}
	c.answered(stage, i, seq, a)
}

func (c *Check) clean(s string) string {
	if c.Clean == nil {
		return s
	}
	return c.Clean(s)
}

// failed counts a request without an answer. One that this program cancelled says nothing.
func (c *Check) failed(stage string, i, seq int, res *client.Result) {
	if res.Status == client.StatusIncomplete {
		return
	}
	c.unsaved = append(c.unsaved, rundir.CanaryAnswer{Stage: stage, Canary: i, Seq: seq, Failed: string(res.Class)})
	switch s := c.stages[stage]; {
	case stage == Again:
		c.unasked++
	case s != nil:
		s.Failed++
	}
}

// answered compares an answer, and keeps it to be saved.
func (c *Check) answered(stage string, i, seq int, a *Answer) {
	if stage == Alone {
		c.alone[i] = a
		c.unsaved = append(c.unsaved, whole(stage, i, seq, a))
		return
	}
	first := c.alone[i]
	if first == nil {
		return
	}
	asked := asked{Canary: i, Malformed: malformed(a), Difference: compare(first, a)}
	if asked.Cut {
		c.cut++
	}
	c.unsaved = append(c.unsaved, compared(stage, seq, a, &asked))
	if stage == Again {
		c.null = append(c.null, asked)
	} else if s := c.stages[stage]; s != nil {
		s.Asked = append(s.Asked, asked)
	}
}

// whole returns an answer as canaries.jsonl has it.
func whole(stage string, i, seq int, a *Answer) rundir.CanaryAnswer {
	line := rundir.CanaryAnswer{Stage: stage, Canary: i, Seq: seq, Text: a.Text, Output: a.Output, Malformed: malformed(a)}
	for _, t := range a.Tokens {
		line.Tokens = append(line.Tokens, t.Text)
		if !math.IsNaN(t.LogP) && !math.IsInf(t.LogP, 0) {
			line.LogProbs = append(line.LogProbs, rundir.Millionths(t.LogP))
		}
		var top []rundir.Likely
		for _, choice := range t.Top {
			if !math.IsInf(choice.LogP, 0) {
				top = append(top, rundir.Likely{Token: choice.Text, LogP: rundir.Millionths(choice.LogP)})
			}
		}
		line.Top = append(line.Top, top)
	}
	if len(line.LogProbs) < len(line.Tokens) {
		line.LogProbs = nil
	}
	return line
}

// compared returns an answer without what it has in common with the first.
func compared(stage string, seq int, a *Answer, d *asked) rundir.CanaryAnswer {
	line := rundir.CanaryAnswer{Stage: stage, Canary: d.Canary, Seq: seq}
	if !d.Same() {
		line = whole(stage, d.Canary, seq, a)
		line.Top = nil
	}
	line.Same, line.Kind, line.Malformed = d.Same(), d.Kind.String(), d.Malformed
	line.First, line.Shift, line.KL, line.Length = rundir.Exactly(d.First), rundir.Exactly(rundir.Millionths(d.Shift)), rundir.Exactly(rundir.Millionths(d.KL)), rundir.Exactly(d.Length)
	return line
}

// Judge writes what is known so far into a run, and new answers into its log.
func (c *Check) Judge(run *rundir.Run, log experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := log.AppendCanaries(c.unsaved)
	c.unsaved = nil
	var stages []Stage
	for i := range run.Stages {
		if s := c.stages[run.Stages[i].Name]; s != nil && len(s.Asked)+s.Failed > 0 {
			s.Load = loadOf(&run.Stages[i])
			stages = append(stages, *s)
		}
	}
	run.Fidelity = c.fidelity(run, stages)
	return err
}

// loadOf returns the number of requests in flight, by which stages are put in order.
func loadOf(s *rundir.Stage) float64 {
	if v := s.Concurrency.Mean; v.Known() {
		return v.Value()
	}
	return float64(s.MaxConcurrency)
}

func (c *Check) fidelity(run *rundir.Run, stages []Stage) *rundir.Fidelity {
	j := judge(c.null, c.unasked, stages)
	for i := range run.Stages {
		run.Stages[i].Fidelity = nil
		if a, ok := j.Stages[run.Stages[i].Name]; ok {
			run.Stages[i].Fidelity = &a
		}
	}
	f := &rundir.Fidelity{
		Canaries: len(c.Set), Set: c.Set.Fingerprint(), Tokens: c.Set.Tokens(), Share: rundir.Exactly(c.Share), LogProbs: c.logProbs > 0,
		Alone: j.Alone, Load: j.Load, Verdict: cmp.Or(j.Verdict, rundir.FidelityUndecided), Stage: j.Begins,
	}
	if len(stages) > 0 {
		f.Needs, f.Detects = Needed(oneInHundred, j.Hypotheses), rundir.Exactly(detects(len(c.alone), j.Hypotheses))
	}
	f.Notes = c.notes(f)
	return f
}

// oneInHundred is the share of changes for which the number of canaries is told.
const oneInHundred = 0.01

// notes returns what limits the comparison.
func (c *Check) notes(f *rundir.Fidelity) (all []note.Note) {
	add := func(yes bool, n note.Note) {
		if yes {
			all = append(all, n)
		}
	}
	add(c.useless, noteRefused.New())
	add(!c.useless && c.refused, noteNotTaken.New())
	add(!c.useless && !c.refused && !f.LogProbs && len(c.alone) > 0, noteNotSent.New())
	add(c.strange, noteStrange.New())
	if n := len(c.null); n > 0 {
		differ := 0
		for i := range c.null {
			differ += int(truth(!c.null[i].Same()))
		}
		add(differ > 0, noteUnsteady.New(differ, n))
	}
	add(c.thought > 0, noteThinks.New(c.thought))
	add(c.cut > 0, noteCut.New(c.cut))
	return all
}
