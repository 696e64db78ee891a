package fidelity

import (
	"errors"
	"math"
	"slices"

	"llmsweep/client/api"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// written returns an answer as it was before it was written.
func written(line *rundir.CanaryAnswer) *Answer {
	a := &Answer{Text: line.Text, Output: line.Output}
	for i, text := range line.Tokens {
		t := api.LogProbToken{Text: text, LogP: math.NaN()}
		if i < len(line.LogProbs) {
			t.LogP = line.LogProbs[i]
		}
		if i < len(line.Top) {
			for _, c := range line.Top[i] {
				t.Top = append(t.Top, api.LogProbChoice{Text: c.Token, LogP: c.LogP})
			}
		}
		a.Tokens = append(a.Tokens, t)
	}
	return a
}

var (
	errOtherCanaries = errors.New("the run was planned with other canaries than now: their file has changed, or this llmsweep has others")
	errNoAnswers     = errors.New("the answers to canaries that the first part of the run got are gone: measure again")
)

// Recall takes over the answers of the first part of a run that goes on.
func (c *Check) Recall(before *rundir.Run, kept func(stage string) bool, log experiment.Log) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case before.Fidelity == nil:
		return errNoAnswers
	case before.Fidelity.Set != c.Set.Fingerprint():
		return errOtherCanaries
	}
	for line, err := range log.Canaries() {
		if err != nil {
			return err
		}
		if slices.Contains(c.Passes(), line.Stage) || kept(line.Stage) {
			c.recall(line)
		}
	}
	for _, n := range before.Fidelity.Notes { // what no line tells
		switch {
		case n.Is(noteRefused):
			c.refused, c.useless = true, true
		case n.Is(noteNotTaken):
			c.refused = true
		case n.Is(noteStrange):
			c.strange = true
		case n.Is(noteThinks):
			c.thought = count(n.Number("answers"))
		case n.Is(noteCut):
			c.cut = count(n.Number("answers"))
		}
	}
	if len(c.alone) == 0 && !c.useless {
		return errNoAnswers
	}
	return nil
}

func count(v float64, ok bool) int {
	if !ok {
		return 0
	}
	return int(v)
}

// recall takes in a line of canaries.jsonl.
func (c *Check) recall(line *rundir.CanaryAnswer) {
	s := c.stages[line.Stage]
	if s == nil {
		s = &Stage{Name: line.Stage}
		c.stages[line.Stage] = s
	}
	asked := asked{Canary: line.Canary, Malformed: line.Malformed, Difference: Difference{
		Kind: kindOf(line), First: value(line.First), Shift: value(line.Shift), KL: value(line.KL), Length: value(line.Length),
	}}
	switch {
	case line.Stage == Alone && line.Failed == "":
		c.alone[line.Canary] = written(line)
		if len(line.Tokens) > 0 {
			c.logProbs++
		}
	case line.Stage == Alone:
	case line.Failed != "" && line.Stage == Again:
		c.unasked++
	case line.Failed != "":
		s.Failed++
	case line.Stage == Again:
		c.null = append(c.null, asked)
	default:
		s.Asked = append(s.Asked, asked)
	}
}

// kindOf returns the kind of the difference in a line.
func kindOf(line *rundir.CanaryAnswer) kind {
	for _, k := range []kind{Tie, change, unknown} {
		if k.String() == line.Kind {
			return k
		}
	}
	return none
}

// value returns a number, NaN where it is absent.
func value(n rundir.Number) float64 {
	if !n.Known() {
		return math.NaN()
	}
	return n.Value()
}
