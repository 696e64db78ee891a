package grade

import (
	"cmp"
	"errors"
	"sync"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Alone names the pass in which questions are asked one at a time, before the first stage.
const Alone = "graded"

// Options is the configuration of a [Check].
type Options struct {
	// Source returns the sessions of a stage. All stages ask the same, in the same order.
	Source func(stage string) load.Source
	Rows   int // different sessions that it has
	Items  int // questions asked alone
	// Clean takes secrets out of texts of the server; nil for none.
	Clean func(string) string
}

// Check asks graded questions alone, and grades the answers of all stages. It is told answers by the requests of many goroutines at once.
type Check struct {
	Options

	mu      sync.Mutex
	alone   *Tally
	stages  map[string]*Tally
	unsaved []rundir.Grade
	cached  bool // the server had an answer's prompt in its cache
}

// New returns a check.
func New(o Options) *Check {
	return &Check{Options: o, alone: newTally(Alone), stages: map[string]*Tally{}}
}

// Phase is the phase in which questions are asked alone.
func (c *Check) Phase() string { return experiment.PhaseGraded }

// Requests returns how many requests the pass takes.
func (c *Check) Requests() int { return c.Items }

// Questions returns how many questions are asked alone; 0 for no check.
func (c *Check) Questions() int {
	if c == nil {
		return 0
	}
	return c.Items
}

// Tokens returns the tokens of the questions that are asked alone, given what counts those of a text.
func (c *Check) Tokens(count func(string) int) (all []experiment.SpendTokens) {
	if c == nil {
		return nil
	}
	for source := c.Pass(Alone); ; {
		s, ok := source.Next()
		if !ok {
			return all
		}
		all = append(all, experiment.SpendTokens{Prompt: int64(count(s.System) + count(s.Turns[0].User)), Output: int64(s.Turns[0].OutputTokens)})
	}
}

// Passes returns the name of the pass before the first stage.
func (c *Check) Passes() []string { return []string{Alone} }

// Pass returns the questions, each once.
func (c *Check) Pass(name string) load.Source {
	return &pass{check: c, inner: c.Options.Source(name), seen: map[string]bool{}}
}

// pass asks each question once.
type pass struct {
	check *Check
	inner load.Source
	taken int // sessions
	seen  map[string]bool
}

// Next returns the next question.
func (p *pass) Next() (load.Session, bool) {
	for len(p.seen) < p.check.Items && p.taken < p.check.Rows {
		s, ok := p.inner.Next()
		if !ok {
			return s, false
		}
		p.taken++
		if t := taskOf(&s); t != nil && !p.seen[t.Key] {
			p.seen[t.Key] = true
			return p.check.graded(Alone, s), true
		}
	}
	return load.Session{}, false
}

// Source returns the sessions of a stage, whose answers are graded.
func (c *Check) Source(stage string, s load.Source) load.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stages[stage] = newTally(stage)
	return &followed{c, stage, s}
}

// followed is a source whose answers are graded.
type followed struct {
	check *Check
	stage string
	inner load.Source
}

// Next returns the next session.
func (f *followed) Next() (load.Session, bool) {
	s, ok := f.inner.Next()
	if ok && taskOf(&s) != nil {
		s = f.check.graded(f.stage, s)
	}
	return s, ok
}

// taskOf returns what grades the answer to the last turn; nil where the session is not graded.
func taskOf(s *load.Session) *Task {
	t, _ := s.Tag.(*Task)
	return t
}

// graded returns a session whose last answer is graded.
func (c *Check) graded(stage string, s load.Session) load.Session {
	t, last := taskOf(&s), len(s.Turns)-1
	asked := s.Turns[last].OutputTokens
	s.Ended = func(seq, turn int, res *client.Result) {
		if turn == last {
			c.ended(stage, t, seq, asked, res)
		}
	}
	return s
}

// refusal is why an answer is not graded that the provider's filter stopped.
const refusal = "refused"

// ended grades the outcome of a request. It keeps nothing of the result. One that this program cancelled says nothing.
func (c *Check) ended(stage string, t *Task, seq, asked int, res *client.Result) {
	line := rundir.Grade{Stage: stage, Item: t.Key, Seq: seq}
	switch {
	case res.Status == client.StatusIncomplete:
		return
	case res.Status != client.StatusOK:
		line.Failed = cmp.Or(string(res.Class), string(res.Status))
	case res.Finish == "content_filter" || res.Finish == "refusal":
		line.Failed = refusal
	default:
		o, said := t.Grade(string(res.Text), cut(res, asked))
		if c.Clean != nil {
			said = c.Clean(said)
		}
		line.Outcome, line.Said = string(o), said
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached = c.cached || stage != Alone && res.CachedTokens > 0
	c.unsaved = append(c.unsaved, line)
	c.add(&line)
}

// cut reports whether an answer was ended by its limit.
func cut(res *client.Result, asked int) bool {
	return res.Finish == "length" || res.Finish == "" && asked > 0 && res.OutputTokens >= asked
}

// add counts an outcome. The caller holds the lock.
func (c *Check) add(line *rundir.Grade) {
	t := c.alone
	if line.Stage != Alone {
		t = c.stages[line.Stage]
	}
	if t != nil {
		t.Add(line.Item, TaskOutcome(line.Outcome), line.Failed)
	}
}

// Recall takes over the outcomes of the first part of a run that goes on.
func (c *Check) Recall(before *rundir.Run, kept func(stage string) bool, log experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before.Grades == nil {
		return errNoGrades
	}
	for line, err := range log.Grades() {
		if err != nil {
			return err
		}
		if line.Stage == Alone || kept(line.Stage) {
			if line.Stage != Alone && c.stages[line.Stage] == nil {
				c.stages[line.Stage] = newTally(line.Stage)
			}
			c.add(line)
		}
	}
	return nil
}

var errNoGrades = errors.New("the graded answers that the first part of the run got are gone: measure again")

// Judge writes what is known so far into a run, and new outcomes into its log.
func (c *Check) Judge(run *rundir.Run, log experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := log.AppendGrades(c.unsaved)
	c.unsaved = nil
	var stages []*Tally
	for i := range run.Stages {
		s := &run.Stages[i]
		if t := c.stages[s.Name]; t != nil && len(t.items)+t.Cut+t.Failed > 0 {
			t.Load = inFlight(s)
			stages = append(stages, t)
		}
	}
	j := judge(c.alone, stages)
	for i := range run.Stages {
		run.Stages[i].Graded = nil
		if g, ok := j.Stages[run.Stages[i].Name]; ok {
			run.Stages[i].Graded = &g
		}
	}
	run.Grades = c.summary(j)
	return err
}

// inFlight returns the number of requests in flight, by which stages are put in order.
func inFlight(s *rundir.Stage) float64 {
	if v := s.Concurrency.Mean; v.Known() {
		return v.Value()
	}
	return float64(s.MaxConcurrency)
}

// Differences are those for which the number of questions is told.
var differences = []float64{0.01, 0.05}

// summary returns what is told of a run.
func (c *Check) summary(j *judgement) *rundir.Grades {
	g := &rundir.Grades{Items: j.Alone.Items, Alone: j.Alone, Load: j.Load, Verdict: j.Verdict, Stage: j.Stage, Notes: c.notes(j)}
	if pairs := j.Load.Pairs; pairs > 0 {
		g.Needs = Needs(j.Noise, j.Hypotheses)
		g.Detects = rundir.Exactly(Detects(pairs, j.Noise, j.Hypotheses))
	}
	return g
}

// Needs returns how many questions show differences of one and five points.
func Needs(noise float64, hypotheses int) (all []rundir.Needed) {
	for _, d := range differences {
		if n := needed(d, noise, hypotheses); n > 0 {
			all = append(all, rundir.Needed{Difference: rundir.Exactly(d), Items: n})
		}
	}
	return all
}

// fewUnread is the share of the answers without a result above which the reader is told.
const fewUnread = 0.05

// notes returns what limits the grading.
func (c *Check) notes(j *judgement) (all []note.Note) {
	answers, none, cut := j.Alone.Answers+j.Load.Answers, j.Alone.None+j.Load.None, j.Alone.Cut+j.Load.Cut
	if cut > 0 {
		all = append(all, noteCut.New(cut, answers+cut))
	}
	if float64(none) > fewUnread*float64(answers) {
		all = append(all, noteNone.New(none, answers))
	}
	if c.cached {
		all = append(all, noteRepeats.New(j.Alone.Items))
	}
	return all
}
