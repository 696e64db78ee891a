// Package sweep is the experiment: it plans stages, lets requests arrive by schedules that no server can slow down,
// turns what was recorded into figures, and finds where the server saturates. It knows nothing of HTTP, which is the
// client's, nor of tables, which are the report's.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Config is a whole sweep. The zero value of a number is not its default: [Defaults] has those.
type Config struct {
	Doer     Doer
	Sources  func(stage string) Source // a fresh source for each stage
	Log      Log
	Observer Observer
	Waiter   Waiter // for the instants of arrivals; nil for Go's timer, which is late by up to a millisecond
	// Idle waits until the server says that it has nothing left to do; nil where it cannot be asked.
	Idle func(context.Context) error

	// Scrape asks the server about its own load; nil where it tells nothing.
	Scrape func(context.Context) (Gauges, error)
	// Retokenize counts the tokens of an answer's text, after the stage; nil where nobody can.
	Retokenize func(context.Context, string) (int, error)

	Points         int           // arrival rates between floor and ceiling
	Repeats        int           // stages at each of them, in shuffled order; 0 for one. Adaptive sweeps have no use for it
	Adaptive       bool          // no even grid: stages only where they narrow the answer, and at a comfortable load
	Budget         time.Duration // for the whole sweep; 0 for none. It sets the stages' time and, where it is short, their number
	StageTime      time.Duration // each stage measures at least this long,
	StageMax       time.Duration // and at most this long while it is undecided
	StageRequests  int           // requests due in a stage's window at least
	MaxConcurrency int           // bound of the throughput stage; the ceiling is searched for below it
	Warmup         Warmup
	Precision      float64       // the saturation rate's interval is narrowed to this, as a share of the rate on either side
	Drain          time.Duration // how long a backlog may take to end between stages before it is cancelled
	Caps           *Caps         // limits of a hosted API; nil for none
	MaxErrorRate   float64
	Tolerance      float64 // drift below this share of the offered rate is none
	Seed           uint64

	SLO []slo.Term // what must hold; the highest rate at which it does is searched for, to the same precision
}

// Defaults are the settings of a sweep that nobody tuned.
func Defaults() Config {
	return Config{
		Observer: Blind{}, Points: 9, Repeats: 1, StageTime: time.Minute, StageMax: 3 * time.Minute, StageRequests: 50,
		MaxConcurrency: 512, Warmup: Warmup{Auto: true}, Precision: 0.05, Drain: time.Minute, MaxErrorRate: 0.5, Tolerance: 0.05, Seed: 42,
	}
}

// Kinds of runs.
const (
	KindSweep = "sweep" // finds where a server saturates
	KindRun   = "run"   // does what was asked
)

// experiment is a sweep on its way.
type experiment struct {
	Config
	run     *rundir.Run
	started time.Time
	until   time.Time   // the end of the budget; zero for none
	ahead   int         // stages still to come after the one that runs, as far as planned
	latency float64     // mean of the latest stage, seconds
	plan    []note.Note // what was foreseen to be too much for the client
}

// errDead ends a run whose server is no longer there.
var errDead = errors.New("the server stopped answering")

// errNoRates ends a sweep whose floor or ceiling completed nothing.
var errNoRates = errors.New("no request succeeded, so that there are no rates to sweep")

// budgetError ends a sweep whose budget ran out before a stage.
type budgetError struct {
	budget time.Duration
	stage  string
}

// Error returns the message for a terminal.
func (e *budgetError) Error() string {
	return fmt.Sprintf("the budget of %v ran out before %s", e.budget, e.stage)
}

// Sweep runs the whole sweep and fills in run, which is saved as it goes. An interrupted or failed run is no error: its
// state says so. An error is ours: a full disk, say.
func Sweep(ctx context.Context, c Config, run *rundir.Run) error {
	plan := rundir.Plan{
		Kind: KindSweep, Points: c.Points, StageTime: c.StageTime.Seconds(), StageRequests: c.StageRequests,
		MaxConcurrency: c.MaxConcurrency,
	}
	x, err := c.begin(run, plan, c.Points*c.repeats()+1)
	if err != nil {
		return err
	}
	x.foresee(c.MaxConcurrency, 0, 0)
	return x.finish(x.stages(ctx))
}

// begin opens a run of so many stages after the first.
func (c Config) begin(run *rundir.Run, plan rundir.Plan, ahead int) (*experiment, error) {
	x := &experiment{Config: c, run: run, started: time.Now(), ahead: ahead}
	if c.Budget > 0 {
		x.until = x.started.Add(c.Budget)
	}
	plan.SLO = slo.Strings(c.SLO)
	if c.Repeats > 1 {
		plan.Repeats = c.Repeats
	}
	plan.Warmup, plan.Drain, plan.MaxErrorRate, plan.Tolerance = c.Warmup.String(), c.Drain.Seconds(), c.MaxErrorRate, c.Tolerance
	run.Schema, run.Started, run.State, run.Plan = rundir.Schema, x.started, rundir.Running, plan
	return x, c.Log.Save(run)
}

// closed plans a closed loop of the given width.
func (x *experiment) closed(kind, role string, width int) *Spec {
	s := x.spec(kind, kind, role)
	s.Schedule, s.Bound, s.MinWaves = Always{}, width, 3
	if width > 1 {
		s.Opening = opening(width, duration(x.latency), NewRand(x.Seed, "opening", s.Name))
	}
	if role == rundir.Floor { // one at a time is slow, and varies little
		s.MinRequests = min(s.MinRequests, 10)
	}
	return s
}

// open plans Poisson arrivals.
func (x *experiment) open(rate float64, role string) *Spec {
	return x.openAgain(repetition{rate: rate}, role)
}

// openAgain plans Poisson arrivals of their own for a repetition.
func (x *experiment) openAgain(r repetition, role string) *Spec {
	s := x.spec(repeatName("poisson@"+rateName(r.rate), r.number), "poisson", role)
	s.Rate, s.Repeat, s.Schedule = r.rate, r.number, NewPoisson(r.rate, x.Seed, s.Name)
	x.support(s)
	return s
}

func (x *experiment) spec(name, kind, role string) *Spec {
	return &Spec{
		Name: name, Kind: kind, Role: role, Source: x.Sources(name), Waiter: x.Waiter, MinTime: x.StageTime, MaxTime: x.StageMax,
		MinRequests: x.StageRequests, Until: x.until, Tail: x.StageTime, Drain: x.Drain, Caps: x.Caps, KeepText: x.Retokenize != nil,
		MaxErrorRate: x.MaxErrorRate, Tolerance: x.Tolerance,
	}
}

// rateName has two decimals, as the published tables do, and more where those would say too little.
func rateName(rate float64) string {
	decimals := 2
	for r := rate; r < 1 && decimals < 8; r *= 10 {
		decimals++
	}
	return strconv.FormatFloat(rate, 'f', decimals, 64)
}

// stage runs one stage and saves what it measured.
func (x *experiment) stage(ctx context.Context, spec *Spec) (rundir.Stage, error) {
	if !x.until.IsZero() && time.Until(x.until) <= 0 {
		return rundir.Stage{}, &budgetError{x.Budget, spec.Name}
	}
	st := spec.describe(time.Since(x.started))
	x.run.Stages = append(x.run.Stages, st)
	if err := x.Log.Save(x.run); err != nil {
		return st, err
	}
	left := x.left(x.ahead)
	x.Observer.StageBegins(&st, spec.MinTime, left)
	x.connect(ctx, spec)
	running := newStage(spec, x.Doer, x.Log, x.Observer)
	running.scrape = x.Scrape
	m, broken := running.run(ctx)
	st, err := summarise(st, x.Log.Records(spec.Name), m, spec.Tolerance)
	err = errors.Join(broken, err, judgeSLO(&st, x.SLO, x.Log.Records(spec.Name)))
	x.retokenize(ctx, &st, running.texts)
	st.State = rundir.Complete
	if m.cut || broken != nil {
		st.State = rundir.Interrupted
	}
	if w, ok := overreached(x.run.Client.Selftest, &st); ok {
		st.Warnings = append(st.Warnings, w)
	}
	x.run.Stages[len(x.run.Stages)-1] = st
	x.judgeClient()
	if l := st.Latency.Mean; !l.IsZero() {
		x.latency = l.Value()
	}
	x.Observer.StageEnds(&st)
	if err := errors.Join(err, x.Log.Save(x.run), context.Cause(ctx)); err != nil {
		return st, err
	}
	if st.Requests.OK == 0 && onlyConnects(st.Errors) {
		return st, errDead
	}
	return st, x.settle(ctx)
}

// connect makes the connections that a stage will need at its start, or as many of them as are worth it. That it fails is for
// the stage's requests to find out.
func (x *experiment) connect(ctx context.Context, spec *Spec) {
	const most = 256
	n := spec.Bound
	if !spec.closed() {
		n = int(math.Ceil(1.5 * spec.Rate * x.latency)) // Little's law, and some more
	}
	if w, ok := x.Doer.(warmer); ok {
		w.Warm(ctx, min(n, most))
	}
}

// retokenize counts what the text of the window's answers tokenizes to. A total far from the reported one means that the
// stream repeats or loses text.
func (x *experiment) retokenize(ctx context.Context, st *rundir.Stage, texts []answered) {
	total, w := 0, span{st.WindowFrom, st.WindowFrom + st.Window}
	for _, a := range texts {
		if !w.holds(a.due) {
			continue
		}
		n, err := x.Retokenize(ctx, a.text)
		if err != nil {
			if ctx.Err() == nil {
				x.warn(noteRetokenize.New(st.Name, err))
			}
			return
		}
		total += n
	}
	if total > 0 {
		st.OutputTokens.Retokenized = rundir.Exactly(float64(total))
	}
}

func onlyConnects(errs map[string]int) bool {
	return len(errs) == 1 && errs[string(client.ClassConnect)] > 0
}

// settle waits until the server says that it is idle, so that no stage begins on another's backlog.
func (x *experiment) settle(ctx context.Context) error {
	limit := x.Drain
	if !x.until.IsZero() {
		limit = min(limit, time.Until(x.until))
	}
	if x.Idle == nil || limit < time.Second { // the last stage of a budget: nothing comes after it
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := x.Idle(wait); err != nil && ctx.Err() == nil {
		x.warn(noteNotIdle.New(x.run.Stages[len(x.run.Stages)-1].Name, err))
	}
	return context.Cause(ctx)
}

func (x *experiment) warn(n note.Note) {
	x.run.Warnings = append(x.run.Warnings, n)
	x.Observer.Note(n)
}

// left estimates the time that so many more stages take, one probe included.
func (x *experiment) left(stages int) time.Duration {
	each := x.StageTime.Seconds() + 2*math.Min(x.latency, x.StageTime.Seconds())
	return duration(each * float64(stages+1))
}

// judgeClient sums up over the stages whether the client was fit to measure.
func (x *experiment) judgeClient() {
	c := &x.run.Client
	if d, ok := x.Doer.(stamper); ok {
		c.Timestamps = d.Timestamps()
	}
	c.Valid, c.Warnings, c.LagP99, c.CPU = true, slices.Clone(x.plan), rundir.Number{}, rundir.Number{}
	for i := range x.run.Stages {
		st := &x.run.Stages[i]
		c.LagP99 = larger(c.LagP99, st.Lag.P99)
		c.CPU = larger(c.CPU, st.ClientCPU)
		if !st.Invalid.IsZero() {
			c.Valid = false
			c.Warnings = append(c.Warnings, noteOfStage.New(st.Name, []note.Note{st.Invalid}))
		}
	}
}

func larger(a, b rundir.Number) rundir.Number {
	if a.IsZero() || b.Known() && b.Value() > a.Value() {
		return b
	}
	return a
}

// finish writes the answer and how the run ended.
func (x *experiment) finish(err error) error {
	run := x.run
	run.Ended = time.Now()
	run.State = rundir.Complete
	if run.Plan.Kind == KindSweep {
		conclude(run)
		run.SLO = promised(run, x.SLO, run.Saturation)
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrInterrupted):
		run.State, err = rundir.Interrupted, nil
	case errors.Is(err, errDead):
		run.State, run.Failure = rundir.Failed, noteServerGone.New(run.Stages[len(run.Stages)-1].Name)
		err = nil
	case err != nil:
		run.State, run.Failure = rundir.Failed, failure(err)
		if !slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.State != rundir.Complete }) {
			err = nil // the server's failure, not ours
		}
	}
	return errors.Join(err, x.Log.Save(run))
}

// failure returns why a run failed.
func failure(err error) note.Note {
	var budget *budgetError
	switch {
	case errors.Is(err, errNoRates):
		return noteNoRates.New()
	case errors.Is(err, errNothing):
		return noteNothingDone.New()
	case errors.Is(err, errOther):
		return noteOtherFailed.New()
	case errors.As(err, &budget):
		return noteBudgetOver.New(budget.budget, budget.stage)
	}
	return noteFailed.New(err)
}

// ErrInterrupted is the cause to cancel a sweep's context with when somebody asked it to stop.
var ErrInterrupted = errors.New("interrupted")
