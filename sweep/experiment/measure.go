package experiment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// A stage goes through three steps:
//
//   - [Experiment.prepare] waits until the server is idle and as quick as before an overload, empties its cache if that
//     was asked for, writes the row as Running and opens connections.
//   - [Experiment.runStage] sends the load.
//   - [Experiment.conclude] summarizes the records, judges client and answers and saves the row. It ends the run where
//     the server, the disk or the money is gone.
//
// A chained stage is concluded when its last requests have ended, which is during the stages that follow: chain.go.

// runningStage is a stage from when it begins until its row is whole.
type runningStage struct {
	*Stage
	index int           // of its row in the run, or of the step of the search
	began time.Duration // since the start of the run
	terms []slo.Term    // of which its row tells the goodput

	before  []*runningStage // whose requests were in flight when it began
	account *measure.Account
	seen    *load.Outcome
	broken  error        // what ended its load early
	pace    measure.Pace // of a paced stage, as it was when its window closed: the plan goes by it
}

// Measure runs one stage and saves what it measured. A stage in which this program was stopped, or the server was away,
// is repeated, once.
func (x *Experiment) Measure(ctx context.Context, s Stage) (rundir.Stage, error) {
	st, err := x.measure(ctx, s)
	if err == nil && measure.Accident(st.Invalid) {
		s.Name += AgainSuffix
		return x.measure(ctx, s)
	}
	return st, err
}

// AgainSuffix is behind the name of a stage that repeats one that met an accident.
const AgainSuffix = "-again"

func (x *Experiment) measure(ctx context.Context, s Stage) (rundir.Stage, error) {
	if err := x.prepare(ctx, &s); err != nil {
		return rundir.Stage{}, err
	}
	if x.HasBudget() && x.TimeLeft() <= 0 {
		return rundir.Stage{}, BudgetEnds(x.config.Budget, s.Name)
	}
	h := &runningStage{Stage: &s, terms: x.config.SLO, index: len(x.run.Stages)}
	x.run.Stages = append(x.run.Stages, s.describe(x.Elapsed()))
	if err := x.save(); err != nil {
		return rundir.Stage{}, err
	}
	x.announce(ctx, h, &x.run.Stages[h.index])
	x.grade(&s)
	err := x.runStage(ctx, h)
	return x.run.Stages[h.index], err
}

// Try runs a step of the search for the ceiling. It is recorded, and is no row.
func (x *Experiment) Try(ctx context.Context, s Stage) error {
	s.Step = true
	if err := x.prepare(ctx, &s); err != nil {
		return err
	}
	h, row := &runningStage{Stage: &s, index: len(x.run.Search)}, s.describe(0)
	x.run.Search = append(x.run.Search, rundir.SearchStep{Name: s.Name})
	x.announce(ctx, h, &row)
	if err := x.runStage(ctx, h); err != nil {
		x.run.Search = x.run.Search[:h.index]
		return err
	}
	return x.save()
}

func (x *Experiment) prepare(ctx context.Context, s *Stage) error {
	if s.Fresh {
		if err := x.Flush(ctx); err != nil {
			return err
		}
	}
	if x.last != nil {
		return nil
	}
	if err := x.Settle(ctx); err != nil {
		return err
	}
	if !s.Step {
		if err := x.awaitRecovery(ctx); err != nil {
			return err
		}
	}
	return x.emptyCache(ctx, s.Name)
}

func (x *Experiment) announce(ctx context.Context, h *runningStage, row *rundir.Stage) {
	x.sessions = h.Sessions
	x.config.Observer.StageBegins(row, max(h.MinTime, h.Hold))
	x.connect(ctx, h.Stage)
}

// runStage sends the load of a stage, and concludes those whose requests have ended.
func (x *Experiment) runStage(ctx context.Context, h *runningStage) error {
	c := &x.config
	criteria := x.criteria(h)
	h.account, h.began, h.before = measure.NewAccount(criteria), x.Elapsed(), slices.Clone(x.open)
	h.seen, h.broken = load.Run(ctx, x.loadOf(h, &criteria), load.Environment{
		Doer: c.Doer, Others: c.Others, Log: c.Log, Monitor: h.account, Progress: x.progress,
		Scrape: c.Scrape, ScrapeEvery: h.Read,
		KeepReadings: func(all []load.Reading) error { return c.Log.AppendReadings(readings(h.Name, all)) },
		Before:       x.last,
	})
	x.last = h.seen.Rest
	if h.Paced {
		h.pace = h.account.Pace()
		x.setLatency(h.pace.Latency)
	}
	if h.Step {
		x.run.Search[h.index] = rundir.SearchStep{
			Name: h.Name, Ended: x.Elapsed().Seconds(), Output: h.pace.Output, Latency: h.pace.Latency, Error: h.pace.Error,
			Waited: h.pace.Waited,
		}
	} else {
		x.showPace(h)
	}
	x.open = append(x.open, h)
	stopped := !measure.Stopped(h.seen.Stopped).IsZero() // it is repeated
	return joinErrors(x.concludeOpen(ctx, x.last == nil || stopped), context.Cause(ctx))
}

// readings leaves out what the server does not tell: it is NaN, and absent in a run directory.
func readings(stage string, all []load.Reading) []rundir.Reading {
	var kept []rundir.Reading
	for _, r := range all {
		kept = append(kept, rundir.Reading{
			Stage: stage, At: r.At.Seconds(), Running: rundir.Exactly(r.Running), Waiting: rundir.Exactly(r.Waiting),
			KVUsage: rundir.Exactly(r.KVUsage), Preemptions: rundir.Exactly(r.Preemptions),
		})
	}
	return kept
}

func (x *Experiment) criteria(h *runningStage) measure.Criteria {
	c := h.criteria()
	c.TimeOut, c.MaxErrorRate, c.Tolerance, c.SLO = x.timeOut(), x.config.MaxErrorRate, x.config.Tolerance, h.terms
	c.LoneLengths, c.LoneLatency = x.loneLengths(), x.loneLatency()
	c.Capped, c.Turns = x.run.Workload.Capped, x.run.Workload.Turns()
	if l, ok := h.countedLoad(c.Turns).(arrival.Counted); ok {
		c.Arrivals = func() arrival.Schedule { return l.Schedule(x.config.Seed, h.Name) }
	}
	return c
}

func (x *Experiment) loadOf(h *runningStage, criteria *measure.Criteria) load.Stage {
	c, source := &x.config, h.Source
	if source == nil {
		source = c.Sources(h.Name)
	}
	what, joins := x.sessionLoad(h)
	return load.Stage{
		Name: h.Name, Schedule: what.Schedule(c.Seed, h.Name), Limit: h.Load.Limit(), Source: source, Unfinished: h.Left,
		Waiter: c.Waiter, Caps: c.Caps, KeepText: c.Retokenize != nil, Opening: h.Opening, Joins: joins,
		Sessions: h.Sessions, Exact: x.run.Workload.Forced, Tick: criteria.Tick(), Tail: h.Tail, Drain: x.drain(),
		TimeOut: criteria.TimeOut,
		Chained: h.Chained,
	}
}

// sessionLoad also returns how far those sessions have come that are on when the stage begins: at random, so that they
// are not in step. Where all sessions count, each is whole.
func (x *Experiment) sessionLoad(h *runningStage) (arrival.Load, []float64) {
	w := &x.run.Workload
	what := arrival.NewSessions(h.countedLoad(w.Turns()), w.Turns(), w.Pause(), !h.whole())
	n := 0
	switch l := what.(type) {
	case arrival.Sessions:
		n = l.Joined
	case arrival.Closed:
		if w.Turns() > 1 && l.Concurrency > 1 && !h.whole() {
			n = l.Concurrency
		}
	}
	joins, rng := make([]float64, n), stats.Rand(x.config.Seed, "turns", h.Name)
	for i := range joins {
		joins[i] = rng.Float64()
	}
	return what, joins
}

// loneLengths returns how long answers to lone requests are: exactly as asked where the server was shown to keep to
// that, else as in the floor row. It is nil where there is none.
func (x *Experiment) loneLengths() *measure.Shares {
	if x.run.Workload.Forced {
		return measure.Exact()
	}
	for i := range x.run.Stages {
		st := &x.run.Stages[i]
		if st.Role != rundir.Synchronous || st.State != rundir.Complete {
			continue
		}
		if shares, err := measure.SharesOf(x.config.Log.Records(st.Name)); err == nil {
			return shares
		}
	}
	return nil
}

// loneLatency is 0 where it is not known.
func (x *Experiment) loneLatency() time.Duration {
	for i := range x.run.Stages {
		if st := &x.run.Stages[i]; st.Role == rundir.Synchronous && st.State == rundir.Complete {
			return rundir.Duration(st.Latency.Mean.Or(0))
		}
	}
	return 0
}

// conclude completes the row of a stage, judges client and answers, and saves the run.
func (x *Experiment) conclude(ctx context.Context, h *runningStage) error {
	seen, row := h.seen, h.describe(h.began)
	if !h.Step {
		row = x.run.Stages[h.index]
	}
	st, err := h.account.Summarize(row, seen, x.records(h))
	broken := h.broken
	st.State = rundir.Complete
	if seen.Interrupted || seen.Spent || broken != nil {
		st.State = rundir.Interrupted
	}
	if seen.Spent {
		broken = errors.Join(broken, spendLimit(h.Name))
	}
	err = joinErrors(broken, err)
	x.idle.stage = h.Name // the server may still work on cancelled requests
	if h.Step {
		x.run.Search[h.index].Invalid = st.Invalid
		return err
	}
	x.warnFewSessions(h, &st)
	st.Warnings = append(st.Warnings, seen.Warnings...)
	x.setLatency(st.Latency.Mean)
	x.retokenize(ctx, &st, seen.Answers)
	if st.Ended == 0 {
		st.Ended = x.Elapsed().Seconds()
	}
	x.warnOverload(&st)
	x.run.Stages[h.index] = st
	x.judgeClient()
	err = errors.Join(err, x.judgeAnswers())
	x.config.Observer.StageEnds(&x.run.Stages[h.index])
	if err := joinErrors(err, x.save(), context.Cause(ctx)); err != nil {
		return err
	}
	if err := x.testClient(ctx); err != nil {
		return err
	}
	onlyConnects := len(st.Errors) == 1 && st.Errors[string(client.ClassConnect)] > 0
	gone := onlyConnects && (strings.HasSuffix(st.Name, AgainSuffix) || !measure.WasAway(st.Invalid))
	if st.Requests.OK == 0 && (gone || x.frozen(h.index-1)) {
		return serverGone(st.Name)
	}
	if x.config.Ends == nil {
		return nil
	}
	return x.config.Ends(x)
}

// warnFewSessions warns where the slots of a closed loop held so few sessions that the row depends on which turns these
// were at.
func (x *Experiment) warnFewSessions(h *runningStage, st *rundir.Stage) {
	const enough = 3
	turns, width := x.run.Workload.Turns(), h.Load.Limit()
	if turns <= 1 || h.Load.MeanRate() > 0 || width < 2 || h.Steady {
		return
	}
	if n := float64(st.OfWholeRun().Requests.OK) / turns / float64(width); n < enough {
		st.Warnings = append(st.Warnings, noteFewSessions.New(n))
	}
}

func (x *Experiment) setLatency(mean rundir.Number) {
	if !mean.IsZero() {
		x.latency = mean.Value()
	}
}
