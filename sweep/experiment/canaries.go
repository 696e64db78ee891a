package experiment

import (
	"context"
	"errors"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/measure/goodput"
)

// alone asks the canaries one at a time, once in each pass.
func (x *Experiment) alone(ctx context.Context) error {
	for _, pass := range x.config.Canaries.Passes() {
		if err := x.pass(ctx, pass); err != nil {
			return err
		}
		if err := x.judgeAnswers(); err != nil {
			return err
		}
	}
	x.Ahead.Canaries = 0
	return x.save()
}

// pass asks each canary once.
func (x *Experiment) pass(ctx context.Context, name string) error {
	source, begun := x.config.Canaries.Pass(name), time.Now()
	for n := 0; ; n++ {
		s, ok := source.Next()
		if !ok {
			return nil
		}
		if x.HasBudget() && x.TimeLeft() <= 0 {
			return budgetOver(x.config.Budget, name)
		}
		x.config.Caps.Wait(ctx, s.Turns[0].PromptTokens+s.Turns[0].OutputTokens)
		_, err := load.One(ctx, x.config.Doer, x.config.Log, name, s, n, begun)
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
		x.progress(load.Snapshot{Phase: load.PhaseCanaries, Elapsed: time.Since(begun), Done: n + 1, TTFT: -1, ITL: -1})
	}
}

// mix puts canaries among the sessions of a stage.
func (x *Experiment) mix(s *Stage) {
	if x.config.Canaries == nil {
		return
	}
	if s.Source == nil {
		s.Source = x.config.Sources(s.Name)
	}
	s.Source = x.config.Canaries.Source(s.Name, s.Source)
}

// judgeAnswers writes what the canaries show so far.
func (x *Experiment) judgeAnswers() error {
	if x.config.Canaries == nil {
		return nil
	}
	err := x.config.Canaries.Judge(x.run, x.config.Log)
	for i := range x.run.Stages {
		goodput.Judge(&x.run.Stages[i], x.config.SLO)
	}
	return err
}
