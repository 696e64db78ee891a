package experiment

import (
	"context"
	"errors"
	"math"
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
//   - [Experiment.runStage] sends the load and summarizes the records.
//   - [Experiment.conclude] judges client and answers and saves the row. It ends the run where the server, the disk or
//     the money is gone.

// runningStage is a stage from when it begins until its row is whole.
type runningStage struct {
	*Stage
	row     *rundir.Stage // in the run, but for a step of the search
	terms   []slo.Term    // of which its row tells the goodput
	answers []load.Answer // texts whose tokens are to be counted
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
	h, err := x.prepare(ctx, &s)
	if err != nil {
		return rundir.Stage{}, err
	}
	err = x.runStage(ctx, h)
	return x.conclude(ctx, h, err)
}

func (x *Experiment) prepare(ctx context.Context, s *Stage) (*runningStage, error) {
	if err := x.Settle(ctx); err != nil {
		return nil, err
	}
	if err := x.awaitRecovery(ctx); err != nil {
		return nil, err
	}
	if err := x.emptyCache(ctx, s.Name); err != nil {
		return nil, err
	}
	if x.HasBudget() && x.TimeLeft() <= 0 {
		return nil, BudgetEnds(x.config.Budget, s.Name)
	}
	x.run.Stages = append(x.run.Stages, s.describe(x.Elapsed()))
	h := &runningStage{Stage: s, terms: x.config.SLO, row: &x.run.Stages[len(x.run.Stages)-1]}
	if err := x.save(); err != nil {
		return nil, err
	}
	x.announce(h)
	x.connect(ctx, s)
	x.grade(s)
	return h, nil
}

func (x *Experiment) announce(h *runningStage) {
	x.sessions = h.Sessions
	x.config.Observer.StageBegins(h.row, max(h.MinTime, h.Hold))
}

func (x *Experiment) runStage(ctx context.Context, h *runningStage) error {
	c := &x.config
	criteria := x.criteria(h)
	account := measure.NewAccount(criteria)
	seen, err := load.Run(ctx, x.loadOf(h, &criteria), load.Environment{
		Doer: c.Doer, Others: c.Others, Log: c.Log, Monitor: account, Progress: x.progress,
		Scrape: c.Scrape, ScrapeEvery: h.Read,
		KeepReadings: func(all []load.Reading) error { return c.Log.AppendReadings(readings(h.Name, all)) },
	})
	return x.summarize(h, account, seen, err)
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

func (x *Experiment) summarize(
	h *runningStage, account *measure.Account, seen *load.Outcome, broken error,
) (err error) {
	*h.row, err = account.Summarize(*h.row, seen, x.config.Log.Records(h.Name))
	h.answers = seen.Answers
	x.warnFewSessions(h)
	x.idle.stage = h.Name // the server may still work on cancelled requests
	h.row.Warnings = append(h.row.Warnings, seen.Warnings...)
	h.row.State = rundir.Complete
	if seen.Interrupted || seen.Spent || broken != nil {
		h.row.State = rundir.Interrupted
	}
	if seen.Spent {
		broken = errors.Join(broken, spendLimit(h.Name))
	}
	x.setLatency(h.row.Latency.Mean)
	return joinErrors(broken, err)
}

// warnFewSessions warns where the slots of a closed loop held so few sessions that the row depends on which turns these
// were at.
func (x *Experiment) warnFewSessions(h *runningStage) {
	const enough = 3
	turns, width := x.run.Workload.Turns(), h.Load.Limit()
	if turns <= 1 || h.Load.MeanRate() > 0 || width < 2 || h.Steady {
		return
	}
	if n := float64(h.row.OfWholeRun().Requests.OK) / turns / float64(width); n < enough {
		h.row.Warnings = append(h.row.Warnings, noteFewSessions.New(n))
	}
}

func (x *Experiment) setLatency(mean rundir.Number) {
	if !mean.IsZero() {
		x.latency = mean.Value()
	}
}

// conclude completes the row of a stage, judges client and answers, and saves the run. broken is how the stage ended.
func (x *Experiment) conclude(ctx context.Context, h *runningStage, broken error) (rundir.Stage, error) {
	st := h.row
	x.retokenize(ctx, st, h.answers)
	x.warnOverload(st)
	st.Ended = x.Elapsed().Seconds()
	x.judgeClient()
	err := errors.Join(broken, x.judgeAnswers())
	x.config.Observer.StageEnds(st)
	if err := joinErrors(err, x.save(), context.Cause(ctx)); err != nil {
		return *st, err
	}
	if err := x.testClient(ctx); err != nil {
		return *st, err
	}
	onlyConnects := len(st.Errors) == 1 && st.Errors[string(client.ClassConnect)] > 0
	gone := onlyConnects && (strings.HasSuffix(st.Name, AgainSuffix) || !measure.WasAway(st.Invalid))
	if st.Requests.OK == 0 && (gone || x.frozen(len(x.run.Stages)-2)) {
		return *st, serverGone(st.Name)
	}
	if x.config.Ends == nil {
		return *st, nil
	}
	return *st, x.config.Ends(x)
}

// Try runs a step of the search for the ceiling. It is recorded, and is no row.
func (x *Experiment) Try(ctx context.Context, s Stage) (rundir.Stage, error) {
	if err := x.Settle(ctx); err != nil {
		return rundir.Stage{}, err
	}
	if err := x.emptyCache(ctx, s.Name); err != nil {
		return rundir.Stage{}, err
	}
	row := s.describe(0)
	h := &runningStage{Stage: &s, row: &row}
	x.announce(h)
	x.connect(ctx, &s)
	err := x.runStage(ctx, h)
	if err := joinErrors(err, context.Cause(ctx)); err != nil {
		return row, err
	}
	x.run.Search = append(x.run.Search, rundir.SearchStep{
		Name: h.Name, Output: row.TokensPerS.Output, Latency: row.Latency.Mean, Error: standardError(&row.Latency),
		Ended: x.Elapsed().Seconds(), Invalid: row.Invalid,
	})
	return row, x.save()
}

// standardError is a share of the mean; absent where it is not known.
func standardError(d *rundir.Dist) rundir.Number {
	if d.N < 2 || !d.Mean.Known() || !d.Std.Known() || d.Mean.Value() <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(d.Std.Value() / d.Mean.Value() / math.Sqrt(float64(d.N)))
}
