package experiment

import (
	"context"
	"errors"
	"math"
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
)

// asked returns how many requests the checks take before the first stage.
func (x *Experiment) asked() (n int) {
	for _, c := range x.config.Checks {
		n += c.Requests()
	}
	return n
}

// aloneShare is the part of a budget in which the checks ask alone, all of them together: the sweep itself needs the rest.
const aloneShare = 0.2

// announced is after how many prompts it is told how long all of them take.
const announced = 3

// alone asks the prompts of the checks one at a time. A budget cuts their number; each pass then asks as many as the first.
func (x *Experiment) alone(ctx context.Context) error {
	for _, c := range x.config.Checks {
		most, passes := math.MaxInt, c.Passes()
		limit := time.Duration(aloneShare * float64(x.config.Budget) / float64(len(x.config.Checks)*max(1, len(passes))))
		for i, name := range passes {
			if i > 0 {
				limit = 0 // the number decides
			}
			n, err := x.pass(ctx, c, name, most, limit)
			if err != nil {
				return err
			}
			most = n
			if err := x.judgeAnswers(); err != nil {
				return err
			}
		}
	}
	x.Ahead.Canaries = 0
	return x.save()
}

// pass asks each prompt of a pass once, up to a number and for a limited time, 0 for no limit. It returns how many it asked.
func (x *Experiment) pass(ctx context.Context, c Check, name string, most int, limit time.Duration) (n int, err error) {
	source, begun := c.Pass(name), time.Now()
	planned := c.Requests() / max(1, len(c.Passes()))
	for ; ; n++ {
		if n == most {
			return n, nil
		}
		s, ok := source.Next()
		if !ok {
			return n, nil
		}
		if x.HasBudget() && x.TimeLeft() <= 0 {
			return n, BudgetEnds(x.config.Budget, name)
		}
		took := time.Since(begun)
		if n == announced && most == math.MaxInt {
			x.Note(noteAsksAlone.New(c.Requests(), time.Duration(c.Requests())*took/announced))
		}
		if limit > 0 && n >= announced && took >= limit {
			x.Warn(noteAskedFewer.New(n, planned, aloneShare))
			return n, nil
		}
		x.config.Caps.Wait(ctx, s.Turns[0].PromptTokens+s.Turns[0].OutputTokens)
		_, err := x.one(ctx, name, s, n, begun)
		switch {
		case errors.Is(err, load.ErrSpent):
			return n, spentUp(name)
		case err != nil:
			return n, err
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
