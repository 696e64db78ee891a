package experiment

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A run that ended early goes on with the stages that it has: its plan is a function of them.

// Kept returns which stages of a run that ended early are kept when it goes on: the whole ones. Where the server
// stopped answering, the stages without an answer are not, nor those in which connections broke more than at the start
// of the run.
func Kept(run *rundir.Run) (stages []rundir.Stage) {
	for i := range run.Stages {
		if st := &run.Stages[i]; st.State == rundir.Complete {
			stages = append(stages, *st)
		}
	}
	if run.State != rundir.Failed {
		return stages
	}
	for len(stages) > 0 {
		last := &stages[len(stages)-1]
		if last.Requests.OK > 0 && !last.FrozenSince.Known() &&
			connectionFailures(last) <= connectionFailures(&stages[0])+crashShare {
			break
		}
		stages = stages[:len(stages)-1]
	}
	return stages
}

// crashShare is the share of broken connections, beyond that of the first stage, from which on the server counts as
// gone in a stage.
const crashShare = 0.1

func connectionFailures(st *rundir.Stage) float64 {
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

// errOtherPlan is the error of a run that cannot go on, because it would be another.
var errOtherPlan = errors.New("the run was planned with other flags than now: its configuration file has changed, " +
	"or this llmsweep has other defaults")

func (x *Experiment) resume(before *rundir.Run) error {
	if !samePlan(&x.run.Plan, &before.Plan) {
		return errOtherPlan
	}
	if g := x.config.Grader; g != nil {
		if err := g.Recall(x.config.Log.Grades(), Keeps(before)); err != nil {
			return err
		}
	}
	x.run.Started, x.run.Client.Selftest, x.run.Search = before.Started, before.Client.Selftest, before.Search
	for _, n := range before.Warnings {
		if n.Is(noteNotIdle) || n.Is(noteRetokenize) || n.Is(noteResumed) || n.Is(noteCacheEmptied) || n.Is(noteCacheKept) {
			x.run.Warnings = append(x.run.Warnings, n) // the others are found again
		}
	}
	for _, step := range before.Search {
		x.resumed, x.idle.stage = max(x.resumed, step.EndsAt()), step.Name
		x.setLatency(step.Latency)
	}
	for _, st := range Kept(before) {
		x.run.Stages = append(x.run.Stages, st)
		x.resumed, x.idle.stage = max(x.resumed, st.EndsAt()), st.Name
		x.setLatency(st.Latency.Mean)
		x.config.Observer.StageBegins(&st, rundir.Duration(st.Window))
		x.config.Observer.StageEnds(&st)
	}
	x.judgeClient()
	if err := x.judgeAnswers(); err != nil {
		return err
	}
	x.setClock(x.resumed)
	x.Warn(noteResumed.New(len(x.run.Stages), x.idle.stage, time.Since(before.Started)-x.resumed))
	return x.save()
}

// samePlan takes no terms and an empty list of them for the same.
func samePlan(a, b *rundir.Plan) bool {
	one, other := *a, *b
	one.SLO, other.SLO = nil, nil
	return slices.Equal(a.SLO, b.SLO) && reflect.DeepEqual(one, other)
}

// SameWorkload reports whether two runs ask for the same.
func SameWorkload(a, b *rundir.Workload) bool { return reflect.DeepEqual(a, b) }
