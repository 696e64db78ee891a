package experiment

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A run that ended early goes on by being planned again: the plan follows from the configuration, the seed, and what the stages showed. What
// the first part measured is taken from its run.json ([Experiment.recall]), at the time on the clock at which it was measured. The first stage
// that is not there is measured, and so is all that follows ([Experiment.catchUp]).

// past is what the first part of a run measured, and has not been recalled yet.
type past struct {
	run    *rundir.Run
	stages map[string]rundir.Stage
	steps  map[string]rundir.SearchStep
	at     time.Duration // on the clock of the run
	over   bool          // what is not recalled is measured now
	last   string        // the latest stage that was recalled
}

// Kept returns which stages of a run that ended early are kept when it goes on: the whole ones. Where the server stopped answering, the
// stages without an answer are not, nor those in which connections broke more than at the start of the run.
func Kept(run *rundir.Run) (stages []rundir.Stage) {
	for i := range run.Stages {
		if st := &run.Stages[i]; st.State == rundir.Complete {
			stages = append(stages, *st)
		}
	}
	for n := len(stages) - 1; n >= 0 && run.State == rundir.Failed; n-- {
		if st := &stages[n]; st.Requests.OK > 0 && !st.FrozenSince.Known() && lost(st) <= lost(&stages[0])+crashed {
			break
		}
		stages = stages[:n]
	}
	return stages
}

// crashed is the share of broken connections, beyond that of the first stage, from which on the server counts as gone in a stage.
const crashed = 0.1

// lost returns the share of a stage's requests whose connections could not be made, or broke.
func lost(st *rundir.Stage) float64 {
	n, all := 0, st.Requests.OK
	for class, count := range st.Errors {
		all += count
		switch client.Class(class) {
		case client.ClassConnect, client.ClassReset, client.ClassTruncated:
			n += count
		}
	}
	return float64(n) / float64(max(1, all))
}

// Keeps returns whether a stage or step of a run is kept, by its name.
func Keeps(run *rundir.Run) func(stage string) bool {
	names := map[string]bool{}
	for _, st := range Kept(run) {
		names[st.Name] = true
	}
	for _, step := range run.Search {
		names[step.Name] = true
	}
	return func(stage string) bool { return names[stage] }
}

// remember returns the past of a run that goes on.
func remember(run *rundir.Run) *past {
	p := &past{run: run, stages: map[string]rundir.Stage{}, steps: map[string]rundir.SearchStep{}}
	for _, st := range Kept(run) {
		p.stages[st.Name] = st
	}
	for _, step := range run.Search {
		p.steps[step.Name] = step
	}
	return p
}

// empty reports whether there is nothing to recall.
func (p *past) empty() bool { return p == nil || p.over || len(p.stages) == 0 && len(p.steps) == 0 }

// errOtherPlan is the error of a run that cannot go on, because it would be another.
var errOtherPlan = errors.New("the run was planned with other flags than now: its configuration file has changed, or this llmsweep has other defaults")

// resume takes over what a run keeps when it goes on.
func (x *Experiment) resume(before *rundir.Run) error {
	if !samePlan(&x.run.Plan, &before.Plan) {
		return errOtherPlan
	}
	if err := x.recallAnswers(before); err != nil {
		return err
	}
	x.past = remember(before)
	x.run.Started, x.run.Client.Selftest, x.run.Recoveries = before.Started, before.Client.Selftest, before.Recoveries
	for _, n := range before.Warnings {
		if n.Is(noteNotIdle) || n.Is(noteRetokenize) || n.Is(noteResumed) {
			x.run.Warnings = append(x.run.Warnings, n) // the others are found again
		}
	}
	return nil
}

// samePlan reports whether two plans are the same.
func samePlan(a, b *rundir.Plan) bool {
	one, other := *a, *b
	one.SLO, other.SLO = nil, nil
	return slices.Equal(a.SLO, b.SLO) && reflect.DeepEqual(one, other)
}

// recall returns a stage that the first part of the run measured.
func (x *Experiment) recall(s *Stage) (st rundir.Stage, ok bool) {
	if x.past == nil {
		return st, false
	}
	if st, ok = x.past.stages[s.Name]; !ok {
		return st, false
	}
	delete(x.past.stages, s.Name)
	if !x.past.over {
		x.past.at, x.past.last = st.EndsAt(), st.Name
		x.run.Stages = append(x.run.Stages, st)
		x.judgeAnswers() // they are in the log: nothing is written
		st = x.run.Stages[len(x.run.Stages)-1]
	}
	x.Ahead.Begins(s.forecast())
	x.config.Observer.StageBegins(&st, s.MinTime)
	x.Ahead.Ended(s.forecast(), &st)
	x.recovery.overload = "" // the stage came after the check of an earlier one
	x.overloaded(&st)
	x.learn(st.Latency.Mean)
	x.judgeClient()
	x.config.Observer.StageEnds(&st)
	return st, true
}

// recallStep returns a step of the search for the ceiling that the first part of the run took.
func (x *Experiment) recallStep(s *Stage) (st rundir.Stage, ok bool) {
	if x.past == nil {
		return st, false
	}
	step, ok := x.past.steps[s.Name]
	if !ok {
		return st, false
	}
	delete(x.past.steps, s.Name)
	if !x.past.over {
		x.past.at, x.past.last = step.EndsAt(), step.Name
	}
	st = s.describe(0)
	st.State, st.TokensPerS.Output, st.Latency.Mean, st.Invalid = rundir.Complete, step.Output, step.Latency, step.Invalid
	x.overloaded(&st)
	x.learn(st.Latency.Mean)
	x.run.Search = append(x.run.Search, step)
	return st, true
}

// catchUp ends the recalling: what follows is measured. The server is warmed up before it.
func (x *Experiment) catchUp(ctx context.Context) error {
	if x.past == nil || x.past.over {
		return nil
	}
	p := x.past
	x.keepRest()
	p.over = true
	x.idle.after = p.last
	x.setClock(p.at)
	if err := x.judgeAnswers(); err != nil {
		return err
	}
	x.Warn(noteResumed.New(len(x.run.Stages), p.last, time.Since(p.run.Started)-p.at))
	if err := x.save(); err != nil {
		return err
	}
	latency, alone := x.latency, x.Ahead.Alone
	if err := x.warmUp(ctx); err != nil {
		return err
	}
	x.latency, x.Ahead.Alone = latency, alone
	x.setClock(p.at)
	return nil
}

// keepRest takes over the whole stages that were not recalled, so that none is lost: the plan may ask for them yet.
func (x *Experiment) keepRest() {
	p := x.past
	var rest []rundir.Stage
	for _, st := range p.stages {
		rest = append(rest, st)
	}
	slices.SortFunc(rest, func(a, b rundir.Stage) int { return cmp.Compare(a.Started, b.Started) })
	for i := range rest {
		x.run.Stages = append(x.run.Stages, rest[i])
		if rest[i].EndsAt() > p.at {
			p.at, p.last = rest[i].EndsAt(), rest[i].Name
		}
	}
}

// SameWorkload reports whether two runs ask for the same.
func SameWorkload(a, b *rundir.Workload) bool { return reflect.DeepEqual(a, b) }
