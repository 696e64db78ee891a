// Package sweep decides which loads are measured: it sweeps a server from one request at a time to beyond saturation, and narrows the answer
// ([Sweep]), or measures the stages that were asked for ([Run]). Programs that embed a sweep begin at [Server]. The whole of sweep/ knows nothing of HTTP, which is the client's, nor of
// tables and languages, which are the report's.
//
// The way of one request:
//
//  1. [experiment.Experiment.Measure] takes an [experiment.Stage]: a load ([llmsweep/sweep/arrival.Load]) and how long to hold it. The load
//     gives a schedule, drawn from the seed and the stage's name before the stage begins.
//  2. [llmsweep/sweep/load.Run] takes a session from the workload's source and encodes its first request ahead of time, waits until it
//     is due, waits for a place where the number in flight is limited, and hands it to the client.
//  3. package client sends it, stamps the instants at which bytes arrive, and fills in a result.
//  4. load turns the result into a record, appends it to records.jsonl, and shows it to the stage's account
//     ([llmsweep/sweep/measure.Account]), which also sees the tokens that arrived in each tick. The account decides when the stage has
//     gone on for long enough.
//  5. At the stage's end the account finds the window, reads the records once, and fills in a [rundir.Stage]: metrics, goodput and verdict.
//     A run that was killed is summarized by the same code, from its records ([saturation.Reopen]).
//  6. [llmsweep/sweep/saturation.Find] and [llmsweep/sweep/slo.Highest] look at the stages so far. The sweep decides by them which stage is
//     next; at the end [saturation.Write] writes what they found into the run.
//  7. run.json is saved after each stage; package report renders it.
//
// Packages import downwards only: pair; sweep; saturation; experiment; measure; grade; load; slo; arrival and sample; rundir/store; rundir and stats. The
// several processes (cluster), the traffic of others
// (record) and the self-test are wings: what holds and measures a stage knows nothing of them.
//
// A new load is a type in arrival. A rule that judges one stage is in measure/verdict.go, one that changes the answer in saturation. A new metric is
// a field of rundir.Stage that measure fills in.
package sweep

import (
	"context"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// sweeper is a sweep while it runs.
type sweeper struct {
	*experiment.Experiment
	config  Config        // never changed
	ceiling float64       // requests per second that the closed loop completed; 0 before that is known
	aside   time.Duration // of the budget, after its end, for control measurements
}

// begin returns a sweep or run that has measured nothing.
func begin(c Config, run *rundir.Run, plan rundir.Plan) (*sweeper, error) {
	if plan.Kind == rundir.KindSweep {
		c.Ends = endSpoiled
	}
	x, err := experiment.Begin(c.Config, run, plan)
	return &sweeper{Experiment: x, config: c}, err
}

// conclude writes the answer, and how the sweep or run ended.
func (x *sweeper) conclude(err error) error {
	err = x.keepAnswer(err)
	if experiment.Interrupted(err) {
		x.Run().State = rundir.Interrupted // the answer does not blame the budget
	}
	saturation.WriteAnswer(x.Run(), x.config.SLO)
	if err != nil {
		defer saturation.DropUnsure(x.Run()) // but not in the file, from which the run may go on
	} else {
		saturation.DropUnsure(x.Run())
	}
	return x.Finish(err)
}

// Sweep runs the whole sweep and fills in run, which is saved as it goes. An interrupted or failed run is no error: its
// state says so. An error is the client's own: a full disk, say.
func Sweep(ctx context.Context, c Config, run *rundir.Run) error {
	kind := rundir.KindSweep
	if c.Users {
		kind, c.Points = rundir.KindUsers, 0
	}
	plan := rundir.Plan{
		Kind: kind, Points: c.Points, StageTime: c.StageTime.Seconds(), StageRequests: c.StageRequests,
		MaxConcurrency: c.MaxConcurrency, Budget: c.Budget.Seconds(),
	}
	x, err := begin(c, run, plan)
	if err != nil {
		return err
	}
	x.Foresee(c.MaxConcurrency, 0, 0)
	ctx, stop := x.Watch(ctx)
	defer stop()
	if c.Users {
		return x.conclude(x.users(ctx))
	}
	return x.conclude(x.sweep(ctx))
}

// Run measures stages in order and fills in run, which is saved as it goes. States and errors are as in [Sweep].
func Run(ctx context.Context, c Config, stages []experiment.Stage, run *rundir.Run) error {
	first := stages[0]
	plan := rundir.Plan{
		Kind: rundir.KindRun, StageTime: first.MinTime.Seconds(), StageRequests: first.Sessions, MaxConcurrency: first.Load.Limit(),
	}
	x, err := begin(c, run, plan)
	if err != nil {
		return err
	}
	for _, s := range stages {
		x.Foresee(s.Load.Limit(), s.Load.MeanRate(), run.Workload.OutputTokens.Mean)
	}
	ctx, stop := x.Watch(ctx)
	defer stop()
	return x.conclude(x.inOrder(ctx, stages))
}

// inOrder warms up and measures stages.
func (x *sweeper) inOrder(ctx context.Context, stages []experiment.Stage) error {
	x.Coming(stages)
	x.Ahead.WarmUp = true
	if err := x.WarmUp(ctx); err != nil {
		return err
	}
	succeeded, due := false, 0
	for i, s := range stages {
		x.Coming(stages[i+1:])
		st, err := x.Measure(ctx, s)
		if err != nil {
			return err
		}
		due += st.Requests.Due
		succeeded = succeeded || st.Requests.OK > 0
	}
	switch {
	case due == 0:
		return experiment.NothingDue()
	case !succeeded:
		return experiment.NothingDone()
	}
	return nil
}
