// Package sweep is the experiment: it measures stages, decides which comes next, and finds the rate at which a server saturates. It
// knows nothing of HTTP, which is the client's, nor of tables and languages, which are the report's.
//
// The way of one request:
//
//  1. [Experiment.Measure] takes a [Stage]: a load ([llmsweep/sweep/arrival.Load]) and how long to hold it. The load gives a schedule,
//     drawn from the seed and the stage's name before the stage begins.
//  2. [llmsweep/sweep/load.Run] takes a session from the workload's source and encodes its first request ahead of time, waits until it
//     is due, waits for a place where the number in flight is limited, and hands it to the client.
//  3. package client sends it, stamps the instants at which bytes arrive, and fills in a result.
//  4. load turns the result into a record, appends it to records.jsonl, and shows it to the stage's account
//     ([llmsweep/sweep/measure.Account]), which also sees the tokens that arrived in each tick. The account decides when the stage has
//     gone on for long enough.
//  5. At the stage's end the account finds the window, reads the records once, and fills in a [rundir.Stage]: metrics, goodput and verdict.
//     A run that was killed is summarized by the same code, from its records ([Reopen]).
//  6. [llmsweep/sweep/saturation.Find] and [llmsweep/sweep/slo.Highest] look at the stages so far. The sweep decides by them which stage is next.
//  7. run.json is saved after each stage; package report renders it.
//
// Packages import downwards only: sweep and pair; saturation and slo; measure; load; arrival and sample; rundir and stats.
package sweep

import (
	"context"

	"llmsweep/sweep/rundir"
)

// Kinds of runs.
const (
	KindSweep = "sweep" // finds where a server saturates
	KindRun   = "run"   // measures the stages that were asked for
)

// Sweep runs the whole sweep and fills in run, which is saved as it goes. An interrupted or failed run is no error: its
// state says so. An error is the client's own: a full disk, say.
func Sweep(ctx context.Context, c Config, run *rundir.Run) error {
	plan := rundir.Plan{
		Kind: KindSweep, Points: c.Points, StageTime: c.StageTime.Seconds(), StageRequests: c.StageRequests,
		MaxConcurrency: c.MaxConcurrency,
	}
	x, err := Begin(c, run, plan)
	if err != nil {
		return err
	}
	x.foresee(c.MaxConcurrency, 0, 0)
	return x.Finish(x.sweep(ctx))
}

// Run measures stages in order, or shuffled where they are repetitions, and fills in run, which is saved as it goes. States and errors
// are as in [Sweep].
func Run(ctx context.Context, c Config, stages []Stage, run *rundir.Run) error {
	first := stages[0]
	plan := rundir.Plan{
		Kind: KindRun, StageTime: first.MinTime.Seconds(), StageRequests: first.Sessions, MaxConcurrency: first.Load.Limit(),
	}
	x, err := Begin(c, run, plan)
	if err != nil {
		return err
	}
	for _, s := range stages {
		x.foresee(s.Load.Limit(), s.Load.MeanRate(), run.Workload.OutputTokens.Mean)
	}
	if c.Repeats > 1 {
		stages = shuffled(stages, c.Seed)
	}
	return x.Finish(x.inOrder(ctx, stages))
}

// inOrder warms up and measures stages.
func (x *Experiment) inOrder(ctx context.Context, stages []Stage) error {
	x.ahead.stages, x.ahead.planned, x.ahead.WarmUp = stages, true, true
	if err := x.WarmUp(ctx); err != nil {
		return err
	}
	succeeded := false
	for i, s := range stages {
		x.ahead.stages = stages[i+1:]
		st, err := x.Measure(ctx, s)
		if err != nil {
			return err
		}
		succeeded = succeeded || st.Requests.OK > 0
	}
	if !succeeded {
		return NothingDone()
	}
	return nil
}
