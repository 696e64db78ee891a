// Package sweep decides which loads are measured: it sweeps a server from one request at a time to beyond saturation,
// and narrows the answer ([Sweep]), or measures the stages that were asked for ([Run]). The whole of sweep/
// knows nothing of HTTP, which is the client's, nor of tables and languages, which are the report's.
//
// The way of one request:
//
//  1. [experiment.Experiment.Measure] takes an [experiment.Stage]: a load ([arrival.Load]) and how long to hold it. The
//     load gives a schedule, drawn from the seed and the stage's name before the stage begins.
//  2. [llmsweep/sweep/load.Run] takes a session from the workload's source and encodes its first request ahead of time,
//     waits until it is due, waits for a place where the number in flight is limited, and hands it to the client.
//  3. package client sends it, stamps the instants at which bytes arrive, and fills in a result.
//  4. load turns the result into a record, appends it to records.jsonl, and shows it to the stage's account
//     ([llmsweep/sweep/measure.Account]), which also sees the tokens that arrived in each tick. The account decides
//     when the stage has gone on for long enough.
//  5. At the stage's end the account finds the window, reads the records once, and fills in a [rundir.Stage]: metrics,
//     goodput and verdict. A run that was killed is summarized by the same code, from its records
//     ([saturation.Reopen]).
//  6. [Config.Next] says by the stages so far which is next. It asks [saturation.NextHold] and
//     [llmsweep/sweep/slo.NextRate]; at the end [saturation.WriteAnswer] writes what they found into the run.
//  7. run.json is saved after each stage; package report renders it.
//
// Packages import downwards only: pair; sweep; saturation; experiment; measure; grade; load; slo; arrival and sample;
// rundir/store; rundir and stats. What holds and measures a stage knows nothing of the several processes (cluster) and
// the self-test.
//
// A new load is a type in arrival. What judges one stage is in measure/verdict.go, what answers in saturation, what
// comes next in plan.go. A new metric is a field of rundir.Stage that measure fills in.
package sweep

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

type sweeper struct {
	*experiment.Experiment
	config   Config // never changed
	sessions openSessions
}

func begin(c Config, run *rundir.Run, plan rundir.Plan) (*sweeper, error) {
	if plan.Kind == rundir.KindSweep {
		c.Ends = endAtClientLimit
	}
	x, err := experiment.Begin(c.Config, run, plan)
	return &sweeper{Experiment: x, config: c}, err
}

func (x *sweeper) conclude(ctx context.Context, err error) error {
	err = x.keepAnswer(errors.Join(err, x.Flush(ctx)))
	if experiment.Interrupted(err) {
		x.Run().State = rundir.Interrupted // the answer does not blame the budget
	}
	saturation.WriteAnswer(x.Run(), x.config.SLO)
	if x.HasBudget() && err == nil && !x.config.Users {
		if omitted := x.config.plan(x.Run(), 0).omittedRates(); len(omitted) > 0 {
			x.Warn(noteOmittedRates.New(x.config.Budget, len(omitted), x.config.Points, rateNames(omitted)))
		}
	}
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
		MaxConcurrency: c.MaxConcurrency, Budget: c.Budget.Seconds(), Precision: c.Precision,
	}
	x, err := begin(c, run, plan)
	if err != nil {
		return err
	}
	x.WarnClientLimit(c.MaxConcurrency, 0, 0)
	ctx, stop := x.Watch(ctx)
	defer stop()
	return x.conclude(ctx, x.sweep(ctx))
}

func (x *sweeper) sweep(ctx context.Context) error {
	for warm := false; ; warm = true {
		left := x.TimeLeft()
		s, ok := x.config.Next(x.Run(), left)
		if !ok || x.HasBudget() && left <= 0 {
			return x.checkRates()
		}
		if !warm {
			if err := x.WarmUp(ctx); err != nil {
				return err
			}
		}
		if !x.config.Users {
			x.renewOutlook()
		}
		if err := x.measure(ctx, s); err != nil {
			return err
		}
	}
}

// renewOutlook tells how long the sweep still takes, and notes it once the length of a request is known.
func (x *sweeper) renewOutlook() {
	run, elapsed := x.Run(), x.Elapsed()
	first := imagined{lone: x.Latency()}
	o := x.config.outlook(run, first, elapsed)
	x.SetRemaining(o.next, o.Takes-o.next)
	if len(run.Stages) != 1 || len(run.Search) > 0 {
		return
	}
	c := x.config
	c.Budget = 0
	switch takes := c.outlook(run, first, elapsed).Takes + elapsed; {
	case !x.HasBudget() || takes <= x.config.Budget:
		x.Note(noteTakes.New(takes.Round(time.Minute)))
	case o.Brackets:
		x.Note(noteBudgetAnswer.New(x.config.Budget, o.Rows, takes.Round(time.Minute)))
	case o.Rows > 0:
		x.Note(noteBudgetRows.New(x.config.Budget, o.Rows, takes.Round(time.Minute)))
	default:
		x.Note(noteBudgetRows.New(x.config.Budget, nil, takes.Round(time.Minute)))
	}
}

func (x *sweeper) measure(ctx context.Context, s experiment.Stage) error {
	if s.Step {
		return x.Try(ctx, s)
	}
	if s.Steady {
		s.Source, s.Left = x.sessions.source(x.config.Sources(s.Name), s.Load.Limit()), x.sessions.add
	}
	st, err := x.Measure(ctx, s)
	if err == nil {
		x.noteBracket(&st)
	}
	return err
}

// noteBracket tells the observer what is known of the saturation rate after a stage that changed it.
func (x *sweeper) noteBracket(st *rundir.Stage) {
	switch st.Role {
	case rundir.Throughput:
		if guess := saturation.ThroughputRate(x.Run()); guess.Known() {
			x.Note(noteGuess.New(guess.Value()))
		}
	case rundir.Hold:
		s := saturation.Find(x.Run())
		switch {
		case s == nil:
		case s.Low.Known() && s.High.Known():
			x.Note(noteSoFar.New(s.Low.Value(), s.High.Value()))
		case s.High.Known():
			x.Note(noteAtMost.New(s.High.Value()))
		case s.Rate.Bound():
			x.Note(noteAtLeast.New(s.Rate.Value()))
		}
	}
}

func rateNames(rates []float64) (names []string) {
	for _, rate := range rates {
		names = append(names, arrival.RateName(rate))
	}
	return names
}

func (x *sweeper) checkRates() error {
	stages := x.Run().Stages
	switch {
	case x.config.Users && !x.Run().Succeeded():
		return experiment.NothingDone()
	case !x.config.Users && len(stages) > 0 && !stages[len(stages)-1].Rate.Known() &&
		!saturation.ThroughputRate(x.Run()).Known() && !x.HasBudget():
		return experiment.NewEndError(noteNoRates.New(), "no request succeeded, so that there are no rates to sweep")
	}
	return nil
}

// Run measures stages in order and fills in run, which is saved as it goes. States and errors are as in [Sweep].
func Run(ctx context.Context, c Config, stages []experiment.Stage, run *rundir.Run) error {
	first := stages[0]
	plan := rundir.Plan{
		Kind: rundir.KindRun, StageTime: first.MinTime.Seconds(), StageRequests: first.Sessions,
		MaxConcurrency: first.Load.Limit(),
	}
	x, err := begin(c, run, plan)
	if err != nil {
		return err
	}
	for _, s := range stages {
		x.WarnClientLimit(s.Load.Limit(), s.Load.MeanRate(), run.Workload.OutputTokens.Mean)
	}
	ctx, stop := x.Watch(ctx)
	defer stop()
	return x.conclude(ctx, x.measureAll(ctx, stages))
}

// measureAll measures the stages that an earlier part of the run has not.
func (x *sweeper) measureAll(ctx context.Context, stages []experiment.Stage) error {
	measured := 0
	for _, st := range x.Run().Stages {
		if !strings.HasSuffix(st.Name, experiment.AgainSuffix) {
			measured++
		}
	}
	for i, s := range stages[min(measured, len(stages)):] {
		if i == 0 {
			if err := x.WarmUp(ctx); err != nil {
				return err
			}
		}
		x.SetRemaining(estimateRun(stages[measured+i:], rundir.Duration(x.Latency())))
		if _, err := x.Measure(ctx, s); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(x.Run().Stages, func(st rundir.Stage) bool { return st.Requests.Due > 0 }) {
		return experiment.NothingDue()
	}
	if !x.Run().Succeeded() {
		return experiment.NothingDone()
	}
	return nil
}
