// Package grade grades the answers to the rows of a dataset that say what is right: the share of right answers of each
// stage.
//
// Requests that failed, and answers that were cut by their limit, are neither right nor wrong. They are counted apart.
package grade

import (
	"cmp"
	"iter"
	"sync"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Grader grades the answers of all stages. It is told of answers by the requests of many goroutines at once.
type Grader struct {
	Clean func(string) string // takes secrets out of texts of the server; nil for none

	mu      sync.Mutex
	stages  map[string]*tally
	unsaved []rundir.Grade
}

// Source returns the sessions of a stage, whose answers are graded. A stage that is measured again begins anew.
func (g *Grader) Source(stage string, s load.Source) load.Source {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stages == nil {
		g.stages = map[string]*tally{}
	}
	g.stages[stage] = newTally()
	return &gradedSource{g, stage, s}
}

type gradedSource struct {
	grader *Grader
	stage  string
	inner  load.Source
}

// Next returns the next session. Rows with an answer have one turn.
func (g *gradedSource) Next() (load.Session, bool) {
	s, ok := g.inner.Next()
	if t, is := s.Tag.(*Task); ok && is {
		asked := s.Turns[0].OutputTokens
		s.Ended = func(seq, _ int, res *client.Result) { g.grader.grade(g.stage, t, seq, asked, res) }
	}
	return s, ok
}

// reasonRefused is why an answer is not graded that the provider's filter stopped.
const reasonRefused = "refused"

// grade keeps nothing of the result. A request that this program cancelled says nothing.
func (g *Grader) grade(stage string, t *Task, seq, asked int, res *client.Result) {
	line := rundir.Grade{Stage: stage, Item: t.Key, Seq: seq}
	switch {
	case res.Status == client.StatusIncomplete:
		return
	case res.Status != client.StatusOK:
		line.Failed = cmp.Or(string(res.Class), string(res.Status))
	case res.Finish == "content_filter" || res.Finish == "refusal":
		line.Failed = reasonRefused
	default:
		cut := res.Finish == "length" || res.Finish == "" && asked > 0 && res.OutputTokens >= asked
		o, said := t.Grade(string(res.Text), cut)
		if g.Clean != nil {
			said = g.Clean(said)
		}
		line.Outcome, line.Said = string(o), said
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsaved = append(g.unsaved, line)
	g.stages[stage].add(&line)
}

// Recall takes over the outcomes of stages that are kept of the first part of a run.
func (g *Grader) Recall(lines iter.Seq2[*rundir.Grade, error], kept func(stage string) bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stages = map[string]*tally{}
	for line, err := range lines {
		if err != nil {
			return err
		}
		if !kept(line.Stage) {
			continue
		}
		if g.stages[line.Stage] == nil {
			g.stages[line.Stage] = newTally()
		}
		g.stages[line.Stage].add(line)
	}
	return nil
}

// Judge writes what is known so far into a run. It returns the outcomes since the last call.
func (g *Grader) Judge(run *rundir.Run) []rundir.Grade {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := newTally()
	for i := range run.Stages {
		s := &run.Stages[i]
		s.Graded = nil
		if t := g.stages[s.Name]; t != nil && len(t.items)+t.cut+t.failed > 0 {
			sum := t.sum()
			s.Graded = &sum
			all.merge(t)
		}
	}
	sum := all.sum()
	run.Grades = &rundir.Grades{All: sum, Notes: notes(&sum)}
	unsaved := g.unsaved
	g.unsaved = nil
	return unsaved
}

// maxUnread is the share of the answers without a result above which the reader is told.
const maxUnread = 0.05

func notes(g *rundir.Graded) (all []note.Note) {
	if g.Cut > 0 {
		all = append(all, noteCut.New(g.Cut, g.Answers+g.Cut))
	}
	if float64(g.None) > maxUnread*float64(g.Answers) {
		all = append(all, noteNone.New(g.None, g.Answers))
	}
	return all
}

type tally struct {
	none, cut, failed int
	items             map[string]count // by question
}

// count counts the answers to one question.
type count struct{ right, answers int }

func newTally() *tally { return &tally{items: map[string]count{}} }

func (t *tally) add(line *rundir.Grade) {
	o := TaskOutcome(line.Outcome)
	switch {
	case line.Failed != "":
		t.failed++
		return
	case o == Cut:
		t.cut++
		return
	case o == None:
		t.none++
	}
	c := t.items[line.Item]
	c.answers++
	if o == Right {
		c.right++
	}
	t.items[line.Item] = c
}

func (t *tally) merge(other *tally) {
	t.none, t.cut, t.failed = t.none+other.none, t.cut+other.cut, t.failed+other.failed
	for item, c := range other.items {
		mine := t.items[item]
		t.items[item] = count{mine.right + c.right, mine.answers + c.answers}
	}
}

// sum returns the accuracy with its 95 % interval. The answers to one question are alike: they count as one of their
// mean.
func (t *tally) sum() rundir.Graded {
	g := rundir.Graded{None: t.none, Cut: t.cut, Failed: t.failed, Items: len(t.items)}
	for _, c := range t.items {
		g.Answers, g.Right = g.Answers+c.answers, g.Right+c.right
	}
	if g.Answers > 0 {
		share, n := float64(g.Right)/float64(g.Answers), float64(g.Items)
		low, high := stats.ShareBounds(share*n, n, 0.025)
		g.Accuracy = rundir.Estimate{N: g.Answers, Mean: rundir.Exactly(share), Low: rundir.Exactly(low),
			High: rundir.Exactly(high)}
	}
	return g
}
