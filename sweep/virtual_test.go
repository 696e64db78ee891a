package sweep

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/sim"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// experimentWith is a sweep of a doer that keeps its records in memory.
func experimentWith(d load.Doer, w load.Source) Config {
	c := Defaults()
	c.Doer, c.Log = d, &store.Memory{}
	c.Sources = func(string) load.Source { return w }
	return c
}

// fresh is an experiment that has measured nothing.
func fresh(t *testing.T, c Config) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Begin(c.Config, &rundir.Run{}, rundir.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// collect reads all records of a stage, in the order of their ends.
func collect(t *testing.T, l experiment.Log, stage string) (records []*rundir.Record) {
	t.Helper()
	for r, err := range l.Records(stage) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// demo is the server of the demo, five times slower: a second of a sweep then takes a fifth of the requests.
func demo(t *testing.T) sim.MachineConfig { return simtest.Slowed(simtest.Preset(t, "demo"), 5) }

// demoWork are requests to it.
var demoWork = simtest.SameInAll(64, 16)

// sweepServer sweeps a simulated server in virtual time.
func sweepServer(t *testing.T, server sim.MachineConfig, w load.Source, change func(c *Config)) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, w)
		change(&c)
		defer closeLog(c.Log)
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// runStages runs stages on a simulated server in virtual time, without a warm-up.
func runStages(t *testing.T, server sim.MachineConfig, w load.Source, change func(c *Config),
	stages ...experiment.Stage) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, w)
		c.Warmup = experiment.Warmup{}
		change(&c)
		defer closeLog(c.Log)
		if err := Run(t.Context(), c, stages, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// closeLog ends the goroutine of a directory, which belongs to the bubble.
func closeLog(l experiment.Log) {
	if dir, ok := l.(*store.Dir); ok {
		dir.Close()
	}
}

// codes returns the kinds of notes, and hasNote whether a stage has one of a kind.
func codes(notes []note.Note) (all []string) {
	for _, n := range notes {
		all = append(all, n.Code)
	}
	return all
}

func hasNote(st *rundir.Stage, code string) bool { return slices.Contains(codes(st.Warnings), code) }

// arrivals are the due instants of a schedule's first seconds.
func arrivals(s arrival.Schedule, until float64) []float64 {
	var at []float64
	for {
		due, ok := s.Next()
		if !ok || due.Seconds() > until {
			return at
		}
		at = append(at, due.Seconds())
	}
}

// oneStage runs a single stage.
func oneStage(t *testing.T, c Config, plan func(*experiment.Experiment) experiment.Stage) rundir.Stage {
	t.Helper()
	x := fresh(t, c)
	st, err := x.Measure(t.Context(), plan(x))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// A sweep finds the capacity that is computed, and holds it between two verdicts.
func TestSweepFindsTheCapacity(t *testing.T) {
	t.Parallel()
	all := []struct {
		server string
		w      simtest.Fixed
	}{{"Qwen2-7B/L20/fp16", simtest.SameInAll(512, 128)}, {"Qwen2-72B/H200x4/fp16", simtest.SameInAll(1024, 64)},
		{"demo", demoWork}}
	for _, c := range all[:simtest.SampleSize(1, len(all))] {
		server := simtest.Preset(t, c.server)
		run := sweepServer(t, server, c.w, func(*Config) {})
		truth, s := c.w.Capacity(server).RequestsPerSecond, run.Saturation
		if off := math.Abs(s.Rate.Value()/truth - 1); off > 0.05 || run.State != rundir.Complete {
			t.Errorf("%s: %s, found %.4g req/s, %.1f %% off the capacity of %.4g", c.server, run.State, s.Rate.Value(), off*100,
				truth)
		}
		if s.HighestStable.Value() > truth*1.05 || s.LowestSaturated.Value() < truth {
			t.Errorf("%s: the bracket %v-%v does not hold %v", c.server, s.HighestStable, s.LowestSaturated, truth)
		}
		for _, st := range run.Stages {
			n, p90 := float64(st.Requests.Due), float64(experiment.RequestsFor(0.9))
			if st.Role == rundir.Grid && n < math.Min(p90, 0.45*15*st.Rate.Value()) {
				t.Errorf("%s: %s ended after %g requests: too few for a p90, although it had time", c.server, st.Name, n)
			}
			if o, d := st.Rates.Offered.Value(), st.Rates.Completed.Value(); st.Rate.Known() && d > o+4*math.Sqrt(o/st.Window) {
				t.Errorf("%s: %s completed %.3f of %.3f offered", c.server, st.Name, d, o)
			}
		}
	}
}

// stallingServer answers after 50 ms, except within a span of the run, when it answers at the span's end.
type stallingServer struct {
	simtest.Unencoded
	began    time.Time
	from, to time.Duration
}

func (s stallingServer) Do(ctx context.Context, _ *client.Prepared, res *client.Result) {
	res.Sent, res.Status = time.Since(res.Epoch), client.StatusIncomplete
	wait := 50 * time.Millisecond
	if at := time.Since(s.began); at > s.from && at < s.to {
		wait += s.to - at
	}
	if rest(ctx, wait.Seconds()) {
		complete(res, 1, 1)
	}
}

// A server that stalls for half of the stage must not delay one arrival, and its latencies must show the stall in full.
func TestAStalledServerDelaysNoArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := stallingServer{began: time.Now(), from: 20 * time.Second, to: 50 * time.Second}
		c := experimentWith(d, simtest.SameInAll(1, 1))
		c.StageTime = time.Minute
		var marks []time.Duration
		st := oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(20, rundir.Grid)
			marks = (&measure.Criteria{Extent: s.Extent, Rate: 20}).Marks()
			return s
		})
		due := arrivals(arrival.Counted{Poisson: arrival.Poisson{Rate: 20}, By: marks}.Schedule(c.Seed, st.Name),
			st.WindowFrom+st.Window)
		i, waited := 0, 0.0
		records := collect(t, c.Log, st.Name)
		slices.SortFunc(records, func(a, b *rundir.Record) int { return int(a.Seq - b.Seq) })
		for _, r := range records {
			if i < len(due) && math.Abs(r.Due.Value()-due[i]) > 2e-9 {
				t.Fatalf("request %d was due at %v, the schedule says %v", i, r.Due.Value(), due[i])
			}
			if lag := r.Sent.Value() - r.Due.Value(); lag > 2e-9 {
				t.Fatalf("request %d was sent %v s late", i, lag)
			}
			waited = max(waited, r.End.Value()-r.Due.Value())
			i++
		}
		if i < len(due) {
			t.Errorf("%d arrivals, want %d", i, len(due))
		}
		if waited < 29 {
			t.Errorf("the longest wait is %v s, and the server stalled for 30", waited)
		}
	})
}

// A stage is offered its rate to within a request, whatever the server makes of its opening, and far below saturation
// it completes as much.
func TestStagesAreOfferedTheirRates(t *testing.T) {
	t.Parallel()
	due, missing := 0.0, 0.0
	for i := range simtest.SampleSize(4, 100) {
		k := simulated{simtest.Random(uint64(i))}
		for _, share := range []float64{0.2, 0.6, 1.3} {
			rate := share * k.Work.Capacity(k.Server).RequestsPerSecond
			st := k.stage(t, k.Seed, func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(rate, rundir.Grid)
				s.MinTime = max(s.MinTime, 8*k.Work.Capacity(k.Server).Latency)
				s.MaxTime = 2 * s.MinTime
				return s
			})
			const within = 1 + 1e-6
			if off := (st.Rates.Offered.Value() - rate) * st.Window; math.Abs(off) > within {
				t.Errorf("%v at %.2f/s: offered %v, off by %.1f requests in %.1f s from %.1f s on", k, rate, st.Rates.Offered, off,
					st.Window, st.WindowFrom)
			}
			if share < 0.7 {
				due += st.Rates.Offered.Value() * st.Window
				missing += (st.Rates.Offered.Value() - st.Rates.Completed.Value()) * st.Window
			}
		}
	}
	// Under the race detector there is one server, which is too few. Windows that begin with an idle server miss 3 %.
	if !simtest.RaceDetector && math.Abs(missing) > 0.01*due {
		t.Errorf("%.0f of %.0f requests are missing", missing, due)
	}
}

// A run whose server fails, dies or freezes keeps what it measured, has no numbers of what did not succeed, and says
// why it ended.
func TestAServerThatFailsEndsTheRun(t *testing.T) {
	t.Parallel()
	dies := func(after int64, class client.Class) func(*Config) {
		return func(c *Config) { c.Doer = simtest.NewFailing(c.Doer, after, class) }
	}
	freezes := simtest.Preset(t, "demo")
	freezes.Habits.Freezes = 15 * time.Second
	run := sweepServer(t, demo(t), demoWork, dies(0, client.ClassHTTP5xx))
	if run.State != rundir.Failed || run.Failure.IsZero() || run.Saturation != nil || len(run.Stages) != 1 {
		t.Fatalf("it fails: %s (%v) after %d stages, saturation %v", run.State, run.Failure, len(run.Stages), run.Saturation)
	}
	st := &run.Stages[0]
	for _, n := range []rundir.Number{st.Rates.Completed, st.TokensPerS.Output, st.Latency.Mean, st.TTFT.Mean,
		st.InterToken} {
		if !n.IsZero() {
			t.Errorf("%v, and nothing succeeded", n)
		}
	}
	if st.Errors["http_5xx"] < 20 || st.Elapsed > 10 {
		t.Errorf("errors %v in %v s", st.Errors, st.Elapsed)
	}
	run = sweepServer(t, demo(t), demoWork, dies(1000, client.ClassConnect))
	if first := run.Stages[0]; run.State != rundir.Failed || first.State != rundir.Complete ||
		!first.Latency.Mean.Known() {
		t.Errorf("it dies: %s, first %+v", run.State, first)
	}
	for _, want := range []int{2, 3} { // of 2 and 4 stages
		var stages []experiment.Stage
		for n := range 2 * (want - 1) {
			stages = append(stages, experiment.NewStage(arrival.Closed{Concurrency: 8 + n}, 0, 10*time.Second))
		}
		run := runStages(t, freezes, demoWork, func(*Config) {}, stages...)
		if run.State != rundir.Failed || run.Failure.Code != "run.server-gone" || len(run.Stages) != want {
			t.Errorf("it freezes: %s (%v) after %d stages, want %d", run.State, run.Failure, len(run.Stages), want)
		}
		healthy, half := &run.Stages[0], &run.Stages[1]
		if share := half.Rates.Completed.Value() / healthy.Rates.Completed.Value(); healthy.FrozenSince.Known() ||
			share < 0.4 || share > 0.6 {
			t.Errorf("it completed %v, and %v with half of the time frozen", healthy.Rates.Completed, half.Rates.Completed)
		}
	}
}

// An interrupt at any time keeps what was measured, and leaves what is known by then as the answer: a guess after the
// throughput, and then a bracket that narrows and holds the truth.
func TestAnInterruptLeavesTheBracket(t *testing.T) {
	t.Parallel()
	k := queueServer(8, 2)
	const truth = 4.0
	width := math.Inf(1)
	cut := 0
	for _, minutes := range []float64{1, 2, 4, 9.5} {
		run := &rundir.Run{Workload: rundir.Workload{Forced: true}}
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(rundir.Duration(60*minutes), func() { cancel(experiment.ErrInterrupted) })
			d, end := k.start()
			defer end()
			if err := Sweep(ctx, experimentWith(d, simtest.SameInAll(32, meanTokens)), run); err != nil {
				t.Fatal(err)
			}
		})
		last := len(run.Stages) - 1
		for i, st := range run.Stages {
			if st.State == rundir.Interrupted && i == last && st.Requests.OK > 0 {
				cut++
			} else if st.State != rundir.Complete {
				t.Errorf("after %v minutes: %s is %s with %+v", minutes, st.Name, st.State, st.Requests)
			}
		}
		a := run.Answer
		low, high := a.Low.Or(0), a.High.Or(math.Inf(1))
		if a.Kind == rundir.AtLeast {
			low = a.Rate.Value()
		}
		if run.State != rundir.Interrupted || low > truth || high < truth || high-low > width {
			t.Errorf("after %v minutes: %s, %s, between %v and %v", minutes, run.State, a.Kind, low, high)
		}
		if width = high - low; minutes == 2 && math.Abs(a.Guess.Value()-truth) > 0.1*truth {
			t.Errorf("a guess of %v after %v minutes", a.Guess, minutes)
		}
	}
	if width > 0.1*truth || cut == 0 {
		t.Errorf("a bracket %v wide; %d stages were cut", width, cut)
	}
}
