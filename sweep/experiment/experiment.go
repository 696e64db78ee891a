// Package experiment measures stages, one after the other, on one server, and keeps the run directory up to date. It
// does not decide which stages: package sweep does, or package pair, for two experiments in turns.
//
// It warms the server up, waits before each stage until it is idle, opens the connections that the stage needs, ends
// the run when the server is gone or the budget is used up, and sums up whether the client was fit to measure.
package experiment

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Experiment measures stages, one after the other, and keeps run.json up to date.
type Experiment struct {
	config  Config // never changed
	run     *rundir.Run
	started time.Time
	resumed time.Duration // when the first part of the run ended, since the start; 0 where there was none

	// What changes from stage to stage.
	latency       float64 // mean of the latest stage, seconds
	idle          idleState
	last          *load.Rest      // what the latest stage left in flight; nil for nothing
	open          []*runningStage // whose requests have not all ended
	cacheRefusals int             // how often the server did not empty its cache

	stageTime, remaining time.Duration // how long the stage that runs takes, and all after it; 0 for not known
	sessions             int           // of the stage that runs; 0 where the time decides
	recoveries           int           // requests that were sent to see whether the server has recovered
	demands              []demand      // of the plan
	planWarnings         []note.Note   // what the plan asks beyond what the client was shown to measure well
	clientTested         bool          // the client was tested, or could not be
}

// Begin returns an experiment, and saves the run's plan, in which it fills in what the configuration tells.
func Begin(c Config, run *rundir.Run, plan rundir.Plan) (*Experiment, error) {
	x := &Experiment{config: c, run: run, started: time.Now()}
	plan.SLO = slo.Strings(c.SLO)
	plan.Warmup, plan.Drain, plan.MaxErrorRate, plan.Tolerance = c.Warmup.String(), c.Drain.Seconds(), c.MaxErrorRate,
		c.Tolerance
	run.Schema, run.Started, run.State, run.Plan = rundir.Schema, x.started, rundir.Running, plan
	if c.Before != nil && len(Kept(c.Before)) > 0 {
		return x, x.resume(c.Before)
	}
	return x, c.Log.Save(run)
}

// Run returns what was measured so far.
func (x *Experiment) Run() *rundir.Run { return x.run }

// Elapsed returns the time since the experiment began. What passed between two parts of a run does not count.
func (x *Experiment) Elapsed() time.Duration { return time.Since(x.started) }

func (x *Experiment) setClock(elapsed time.Duration) { x.started = time.Now().Add(-elapsed) }

// Closed returns a stage that keeps a number of requests in flight, each of which takes about a latency; 0 for not
// known.
func (c *Config) Closed(name string, role rundir.Role, width int, latency time.Duration) Stage {
	const waves, floorRequests = 3, 10 // one request at a time is slow, and varies little
	s := c.stage(arrival.Closed{Concurrency: width}, name, name, role)
	s.MinWaves = waves
	if width > 1 {
		s.Opening = arrival.Opening(width, latency, c.Seed, name)
	}
	if role == rundir.Synchronous {
		s.MinRequests = min(s.MinRequests, floorRequests)
	}
	return s
}

// Closed returns a stage that keeps a number of requests in flight, by how long they took in the latest stage.
func (x *Experiment) Closed(name string, role rundir.Role, width int) Stage {
	return x.config.Closed(name, role, width, rundir.Duration(x.latency))
}

// UsersAtOnce returns a stage that holds a number of users, whose turns come so long after one another. It goes on
// until hit rate and token rate are steady.
func (c *Config) UsersAtOnce(users int, role rundir.Role, cycle time.Duration) Stage {
	s := c.Closed(rundir.KindOfUsers+"@"+strconv.Itoa(users), role, users, cycle)
	s.Kind, s.Steady, s.MinWaves = rundir.KindOfUsers, true, 0
	if role == rundir.Probe {
		s.MinRequests = max(s.MinRequests, c.RequestsForSLO())
	}
	return s
}

// Poisson returns a stage of Poisson arrivals. It lasts until it has the requests that the percentiles of the SLO need,
// where that fits into its time.
func (c *Config) Poisson(rate float64, role rundir.Role) Stage {
	l := arrival.Poisson{Rate: rate}
	s := c.stage(l, l.Name(), l.Kind(), role)
	if n := c.RequestsForSLO(); float64(n)/rate <= s.MaxTime.Seconds() {
		s.MinRequests = max(s.MinRequests, n)
	}
	return s
}

// Poisson returns a stage of Poisson arrivals.
func (x *Experiment) Poisson(rate float64, role rundir.Role) Stage {
	return x.config.Poisson(rate, role)
}

func (c *Config) stage(l arrival.Load, name, kind string, role rundir.Role) Stage {
	return Stage{
		Name: name, Kind: kind, Role: role, Load: l, Tail: c.StageTime,
		Extent: measure.Extent{MinTime: c.StageTime, MaxTime: c.StageMax, MinRequests: c.StageRequests},
	}
}

func (x *Experiment) save() error {
	if x.config.Spent != nil {
		x.run.Spent = x.config.Spent()
	}
	return x.config.Log.Save(x.run)
}

// SetRemaining sets how long the next stage takes, and all after it.
func (x *Experiment) SetRemaining(stage, after time.Duration) {
	x.stageTime, x.remaining = stage, after
}

// Latency returns the mean latency of the latest stage in seconds; 0 before the first request.
func (x *Experiment) Latency() float64 { return x.latency }

func (x *Experiment) progress(s load.Snapshot) {
	if x.stageTime > 0 {
		const few = 5 // requests that have ended: from fewer nothing can be told
		stage := x.stageTime - s.Elapsed
		if stage <= 0 { // it takes longer than was expected: until its end, where that is known
			stage = max(0, s.Until-s.Elapsed)
		}
		if ended := s.Done + s.Failed; x.sessions > 0 && ended >= few {
			stage = time.Duration(float64(s.Elapsed) / float64(ended) * float64(max(0, x.sessions-ended)))
		}
		const sooner, later = 0.8, 1.3
		left := float64(stage + x.remaining)
		x.config.Observer.Left(time.Duration(sooner*left), time.Duration(later*left))
	}
	x.config.Observer.Progress(s)
}

// connect opens the connections that a stage needs at its start. Where that fails, its requests tell.
func (x *Experiment) connect(ctx context.Context, s *Stage) {
	const spare = 1.5 // by Little's law, rate x latency are in flight on average; a Poisson process has busier moments
	if x.config.Warm == nil {
		return
	}
	n := s.Load.Limit()
	if rate := s.Load.MeanRate(); rate > 0 {
		n = min(int(math.Ceil(spare*rate*x.latency)), load.MaxRateConnections)
	}
	x.config.Warm(ctx, n)
}

// supportSlack is how many requests a stage collects for each independent one that it needs, since neighbours are
// alike.
const supportSlack = 1.3

// RequestsFor returns how many requests a stage needs for a percentile, given as a share.
func RequestsFor(p float64) int { return int(math.Ceil(supportSlack * stats.Needed(p))) }

// RequestsForSLO returns how many requests a stage needs for its percentiles to be judged.
func (c *Config) RequestsForSLO() int {
	n := 0
	for _, t := range c.SLO {
		n = max(n, t.Sample())
	}
	return int(math.Ceil(supportSlack * float64(n)))
}

// retokenize counts the tokens of the text of the window's answers. A total far from the reported one means that the
// stream repeats or loses text, or that it does not tokenize back. Reasoning is not in the text, and some servers hide
// it: it counts as reported.
func (x *Experiment) retokenize(ctx context.Context, st *rundir.Stage, answers []load.Answer) {
	total, all, w := 0, 0, measure.WindowOf(st)
	for _, a := range answers {
		inside := w.HoldsAt(a.Due)
		if !inside && st.WholeRun == nil {
			continue
		}
		n, err := x.config.Retokenize(ctx, a.Text)
		if err != nil {
			if ctx.Err() == nil {
				x.Warn(noteRetokenize.New(st.Name, err))
			}
			return
		}
		all += n + a.Reasoning
		if inside {
			total += n + a.Reasoning
		}
	}
	if st.WholeRun != nil && all > 0 {
		st.WholeRun.OutputTokens.Retokenized = rundir.Exactly(float64(all))
	}
	if total > 0 {
		st.OutputTokens.Retokenized = rundir.Exactly(float64(total))
	}
}

// frozen reports whether the server stopped answering in a stage, by the stage's index, and did not answer again.
func (x *Experiment) frozen(stage int) bool {
	return stage >= 0 && x.run.Stages[stage].FrozenSince.Known()
}

// Note tells the observer something that run.json does not keep.
func (x *Experiment) Note(n note.Note) { x.config.Observer.Note(n) }

// Warn adds a warning to the run, and tells the observer.
func (x *Experiment) Warn(n note.Note) {
	x.run.Warnings = append(x.run.Warnings, n)
	x.config.Observer.Note(n)
}

func (x *Experiment) judgeClient() {
	c := &x.run.Client
	if x.config.Timestamps != nil {
		c.Timestamps = x.config.Timestamps()
	}
	c.Valid, c.Warnings, c.LagP99, c.CPU = true, slices.Clone(x.planWarnings), rundir.Number{}, rundir.Number{}
	for i := range x.run.Stages {
		st := &x.run.Stages[i]
		c.LagP99 = rundir.Max(c.LagP99, st.Lag.P99)
		c.CPU = rundir.Max(c.CPU, st.ClientCPU)
		repeated := slices.ContainsFunc(x.run.Stages, func(o rundir.Stage) bool { return o.Name == st.Name+AgainSuffix })
		if !st.Invalid.IsZero() && !measure.Accident(st.Invalid) && !repeated {
			c.Valid = false
			c.Warnings = append(c.Warnings, noteOfStage.New(st.Name, []note.Note{st.Invalid}))
		}
	}
}

// Finish writes how the run ended, and saves it. err is what ended it early; nil where nothing did. Finish returns what
// is an error of the client's own.
func (x *Experiment) Finish(err error) error {
	run := x.run
	if last := len(run.Stages) - 1; err == nil && x.frozen(last) {
		err = serverGone(run.Stages[last].Name)
	}
	run.Ended = time.Now()
	run.State = rundir.Complete
	var planned *EndError
	var broken *store.WriteError
	switch {
	case errors.As(err, &broken):
		run.State, run.Failure = rundir.Failed, Failure(broken)
	case Interrupted(err):
		run.State, err = rundir.Interrupted, nil
	case errors.As(err, &planned) && planned.Why.Is(noteSpendLimit) && run.Succeeded():
		x.Warn(planned.Why)
		err = nil
	case errors.As(err, &planned):
		run.State, run.Failure, err = rundir.Failed, planned.Why, nil
	case err != nil:
		run.State, run.Failure = rundir.Failed, Failure(err)
		if !slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.State != rundir.Complete }) {
			err = nil // the server's failure
		}
	}
	return joinErrors(err, x.save())
}
