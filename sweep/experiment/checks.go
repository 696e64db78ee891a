package experiment

import (
	"context"
	"errors"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Check judges answers: it asks prompts alone, one at a time, before the first stage, and then in each stage.
type Check interface {
	// Phase is what is shown while prompts are asked alone.
	Phase() string
	// Requests returns how many requests the passes before the first stage take.
	Requests() int
	// Passes returns their names.
	Passes() []string
	// Pass returns the sessions of a pass.
	Pass(name string) load.Source
	// Source returns the sessions of a stage, given those of the workload.
	Source(stage string, s load.Source) load.Source
	// Judge writes what the answers show into the run, and the answers into the log.
	Judge(run *rundir.Run, log Log) error
	// Recall takes the answers of the first part of a run that goes on from the log: those got alone, and those of stages that are kept.
	Recall(before *rundir.Run, kept func(stage string) bool, log Log) error
}

// Phases in which checks ask prompts alone, one at a time.
const (
	PhaseCanaries = "canaries"
	PhaseGraded   = "graded" // questions whose answers are graded
	PhaseText     = "text"   // the windows of a text that is scored
)

// asked returns how many requests the checks take before the first stage.
func (x *Experiment) asked() (n int) {
	for _, c := range x.config.Checks {
		n += c.Requests()
	}
	return n
}

// alone asks the prompts of the checks one at a time.
func (x *Experiment) alone(ctx context.Context) error {
	for _, c := range x.config.Checks {
		for _, name := range c.Passes() {
			if err := x.pass(ctx, c, name); err != nil {
				return err
			}
			if err := x.judgeAnswers(); err != nil {
				return err
			}
		}
	}
	x.Ahead.Canaries = 0
	return x.save()
}

// pass asks each prompt of a pass once.
func (x *Experiment) pass(ctx context.Context, c Check, name string) error {
	source, begun := c.Pass(name), time.Now()
	for n := 0; ; n++ {
		s, ok := source.Next()
		if !ok {
			return nil
		}
		if x.HasBudget() && x.TimeLeft() <= 0 {
			return BudgetEnds(x.config.Budget, name)
		}
		x.config.Caps.Wait(ctx, s.Turns[0].PromptTokens+s.Turns[0].OutputTokens)
		_, err := x.one(ctx, name, s, n, begun)
		switch {
		case errors.Is(err, load.ErrSpent):
			return spentUp(name)
		case err != nil:
			return err
		}
		x.Ahead.Canaries = max(0, x.Ahead.Canaries-1)
		if took := time.Since(begun).Seconds(); x.Ahead.Canaries > 0 {
			x.Ahead.Canary = took / float64(n+1)
		}
		x.progress(load.Snapshot{Phase: c.Phase(), Elapsed: time.Since(begun), Done: n + 1, TTFT: -1, ITL: -1})
	}
}

// mix lets the checks follow the sessions of a stage, and put their own among them.
func (x *Experiment) mix(s *Stage) {
	if len(x.config.Checks) == 0 {
		return
	}
	if s.Source == nil {
		s.Source = x.config.Sources(s.Name)
	}
	for _, c := range x.config.Checks {
		s.Source = c.Source(s.Name, s.Source)
	}
}

// judgeAnswers writes what the answers show so far.
func (x *Experiment) judgeAnswers() (err error) {
	if len(x.config.Checks) == 0 {
		return nil
	}
	for _, c := range x.config.Checks {
		err = errors.Join(err, c.Judge(x.run, x.config.Log))
	}
	for i := range x.run.Stages {
		measure.GoodputJudge(&x.run.Stages[i], x.config.SLO)
	}
	return err
}

// recallAnswers takes over the answers of the first part of a run that goes on.
func (x *Experiment) recallAnswers(before *rundir.Run) (err error) {
	for _, c := range x.config.Checks {
		err = errors.Join(err, c.Recall(before, Keeps(before), x.config.Log))
	}
	return err
}
