package sweep

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// lateWaiter waits like a client whose machine has no time for it.
type lateWaiter struct{ late time.Duration }

func (s lateWaiter) Wait(until time.Time, quit <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(until.Add(s.late))):
		return true
	case <-quit:
		return false
	}
}

// Stages that the client itself spoiled are invalid, and not part of the answer. Three loads in a row that it spoiled
// twice end the sweep, with a warning: before, the search for the SLO went on for hours.
func TestASweepEndsWhereTheClientIsTheLimit(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 80 * time.Millisecond} {
		run := sweepServer(t, demo(t), demoWork, func(c *Config) {
			c.Waiter, c.Points, c.StageTime, c.StageMax = lateWaiter{late}, 4, 5*time.Second, 15*time.Second
			if late > 0 {
				c.SLO = simtest.Terms("ttft:p90<100ms")
			}
		})
		for i := range run.Stages {
			st, want := &run.Stages[i], ""
			if st.Rate.Known() && late > 0 {
				want = "client.sent-late"
			}
			if st.Invalid.Code != want {
				t.Errorf("%v late: %s is marked %q, want %q", late, st.Name, st.Invalid, want)
			}
		}
		ended := false
		for _, n := range run.Warnings {
			ended = ended || n.Is(noteClientLimit)
		}
		if run.Client.Valid != (late == 0) || ended != (late > 0) || run.State != rundir.Complete ||
			ended && len(run.Stages) > 9 {
			t.Errorf("%v late: %d stages, %s, the client is called fit: %v; %v", late, len(run.Stages), run.State,
				run.Client.Valid, run.Warnings)
		}
		if s := run.Saturation; late > 0 && s != nil && (s.LowestSaturated.Known() || s.HighestStable.Known()) {
			t.Errorf("rows that the client spoiled bracket the answer: %+v", s)
		}
	}
}

// Where the floor alone shows the server, the sweep has failed, and there is no answer, whatever the search for the
// ceiling completed.
func TestNothingButTheClient(t *testing.T) {
	t.Parallel()
	why := note.Note{Code: "client.sent-late"}
	floor := rundir.Stage{
		Name: "synchronous", Role: rundir.Synchronous, State: rundir.Complete, Requests: rundir.Requests{OK: 10},
		Progress: rundir.Progress{Rate: rundir.Exactly(2)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(200)},
	}
	spoiled := floor
	spoiled.Name, spoiled.Role, spoiled.Invalid = "throughput", rundir.Throughput, why
	end := experiment.NewEndError(noteClientLimit.New(mostClientLimited, []note.Note{why}), "the client was the limit")
	for _, c := range []struct {
		second rundir.Stage
		failed bool
	}{{spoiled, true}, {rundir.Stage{Name: "throughput", Role: rundir.Throughput, State: rundir.Complete}, false}} {
		run := &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep, Budget: 60}, Stages: []rundir.Stage{floor, c.second},
			Search: []rundir.SearchStep{{Output: rundir.Exactly(22180)}},
		}
		x, err := begin(experimentWith(nil, nil), run, rundir.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.keepAnswer(end); (err != nil) != c.failed {
			t.Errorf("%s invalid %v: %v", c.second.Name, c.second.Invalid, err)
		}
	}
}

// lateDoer sends some requests later than they are due, as a machine does that has too much to do.
type lateDoer struct {
	load.Doer
	from, to int64 // which requests, by number from 1
	n        atomic.Int64
}

func (l *lateDoer) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	if n := l.n.Add(1); n >= l.from && n <= l.to {
		time.Sleep(200 * time.Millisecond)
	}
	l.Doer.Do(ctx, p, res)
}

// The requests that fill a closed loop are due together and sent as fast as the machine can: that takes time, and
// spoils nothing. Later ones that are late do.
func TestTheFirstWaveOfAClosedLoopIsNeverLate(t *testing.T) {
	t.Parallel()
	const width = 40
	for name, c := range map[string]struct {
		from, to int64
		code     string
	}{"the first wave": {1, width, ""}, "a later wave": {2*width + 1, 3 * width, "client.sent-late"}} {
		run := runStages(t, simtest.Preset(t, "demo"), simtest.SameInAll(16, 4), func(config *Config) {
			config.Doer = &lateDoer{Doer: config.Doer, from: c.from, to: c.to}
		}, experiment.NewStage(arrival.Closed{Concurrency: width}, 5*width, 0))
		if got := run.Stages[0].Invalid; got.Code != c.code {
			t.Errorf("%s is late: the row is marked %q", name, got)
		}
	}
}

// A closed loop has all its connections before it begins, a search for the ceiling too; a rate has a bounded number of
// them.
func TestConnectionsAreOpenedAhead(t *testing.T) {
	t.Parallel()
	const width = 1000
	for name, c := range map[string]struct {
		load arrival.Load
		step bool
		want int
	}{
		"a closed loop":        {arrival.Closed{Concurrency: width}, false, width},
		"a step of the search": {arrival.Closed{Concurrency: width}, true, width},
		"a rate":               {arrival.Constant{Rate: 5000}, false, 256},
	} {
		simtest.Beside(t, simtest.Preset(t, "plain8"), func(t *testing.T, d load.Doer) {
			counting := &lateDoer{Doer: d}
			cfg := experimentWith(counting, simtest.SameInAll(16, 4))
			opened, sent := 0, int64(0)
			cfg.Warm = func(_ context.Context, n int) error {
				opened, sent = n, counting.n.Load()
				return nil
			}
			x := fresh(t, cfg)
			if err := x.WarmUp(t.Context()); err != nil { // the latency of a rate's requests
				t.Fatal(err)
			}
			warm, s := counting.n.Load(), experiment.NewStage(c.load, width, 0)
			var err error
			if c.step {
				err = x.Try(t.Context(), s)
			} else {
				_, err = x.Measure(t.Context(), s)
			}
			if err != nil {
				t.Fatal(err)
			}
			if opened != c.want || sent != warm {
				t.Errorf("%s: %d connections opened after %d requests, want %d before it", name, opened, sent-warm, c.want)
			}
		})
	}
}

// A plan, and stages, that go beyond what the client was shown to measure well are marked, and still valid: also where
// it was shown after the first stage.
func TestBeyondTheSelftest(t *testing.T) {
	t.Parallel()
	f := rundir.Exactly
	for name, c := range map[string]struct {
		shown     *rundir.Selftest
		plan, row string // what is exceeded, by what
	}{
		"no self-test":     {nil, "", ""},
		"all within":       {&rundir.Selftest{Streams: 10, TokensPerS: f(1e4), ArrivalsPerS: f(1e3)}, "", ""},
		"nothing is known": {&rundir.Selftest{Streams: 10}, "", ""},
		"too many streams": {&rundir.Selftest{Streams: 9}, "excess.streams of 9: 10", "excess.streams of 9: 10"},
		"too many tokens": {&rundir.Selftest{Streams: 10, TokensPerS: f(39)}, "excess.tokens of 39: 40",
			"excess.tokens of 39: "},
		"too many arrivals": {&rundir.Selftest{Streams: 10, ArrivalsPerS: f(19)}, "excess.arrivals of 19: 20", ""},
	} {
		check := func(what string, notes []note.Note, code, want string) {
			t.Helper()
			got := ""
			for _, n := range notes {
				for _, e := range n.Args["excess"].([]note.Note) {
					asked, _ := e.Number("asked")
					shown, _ := e.Number("shown")
					got += fmt.Sprintf("%s of %v: %v", e.Code, shown, asked)
				}
			}
			if len(notes) > 1 || len(notes) == 1 && notes[0].Code != code || (got == "") != (want == "") ||
				!strings.HasPrefix(got, want) {
				t.Errorf("%s: the %s exceeds %q, want %q: %v", name, what, got, want, notes)
			}
		}
		for _, later := range []bool{false, true} {
			run := &rundir.Run{Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 2}}}
			simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
				cfg := experimentWith(d, simtest.SameInAll(4, 1))
				cfg.Warmup = experiment.Warmup{}
				if run.Client.Selftest = c.shown; later {
					run.Client.Selftest = nil
					cfg.Selftest = func(context.Context) *rundir.Selftest {
						if n := len(run.Stages); n != 1 {
							t.Errorf("%s: tested after %d stages", name, n)
						}
						time.Sleep(time.Hour)
						return c.shown
					}
				}
				if err := Run(t.Context(), cfg, []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 10}, 100, 0),
					experiment.NewStage(arrival.Constant{Rate: 20}, 100, 0)}, run); err != nil {
					t.Fatal(err)
				}
			})
			check("run", run.Warnings, "client.plan-beyond", c.plan)
			check("client", run.Client.Warnings, "client.plan-beyond", c.plan)
			st := &run.Stages[0]
			check("row", st.Warnings, "stage.beyond-client", c.row)
			if began := run.Stages[1].Started; !st.Invalid.IsZero() || !run.Client.Valid || began > 60 {
				t.Errorf("%s: %s; the second stage began after %v s, by which the test counts", name, st.Invalid, began)
			}
		}
	}
}

// busyClient is late for a while in the first stage with a name that begins so.
type busyClient struct {
	load.Doer
	experiment.Observer
	stage, once string
	late        atomic.Bool
	times       int
}

func (b *busyClient) StageBegins(s *rundir.Stage, planned time.Duration) {
	if strings.HasPrefix(s.Name, b.stage) && !strings.HasSuffix(s.Name, experiment.AgainSuffix) && b.once == "" {
		b.once = s.Name
	}
	now := b.once != "" && strings.HasPrefix(s.Name, b.once) && b.times > 0
	if now {
		b.times--
	}
	b.late.Store(now)
	b.Observer.StageBegins(s, planned)
}

func (b *busyClient) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	if b.late.Load() {
		time.Sleep(200 * time.Millisecond)
	}
	b.Doer.Do(ctx, p, res)
}

// A sweep ends with an answer and all of its rows also where the client was late in a stage: that is measured once
// more, and where the client is late again, the sweep goes on without it.
func TestABusyClientEndsNoSweep(t *testing.T) {
	t.Parallel()
	for _, stage := range []string{"synchronous", "search@16", "throughput", "asynchronous@", "hold@"} {
		for i, budget := range []time.Duration{5 * time.Minute, 0} {
			times := 1 + i
			busy := &busyClient{Observer: experiment.NoObserver{}, stage: stage, times: times}
			run := sweepServer(t, demo(t), demoWork, func(c *Config) {
				busy.Doer = c.Doer
				c.Doer, c.Observer, c.Budget = busy, busy, budget
			})
			rows := map[float64]bool{} // that count, by rate
			var late, again []string
			for i := range run.Stages {
				st := &run.Stages[i]
				if rows[st.Rate.Or(0)] = rows[st.Rate.Or(0)] || st.Invalid.IsZero(); !st.Invalid.IsZero() {
					late = append(late, st.Name)
				}
				if isAgain(st.Name) {
					again = append(again, st.Name)
				}
			}
			for _, step := range run.Search {
				if !step.Invalid.IsZero() {
					late = append(late, step.Name)
				}
				if isAgain(step.Name) {
					again = append(again, step.Name)
				}
			}
			whole := 0
			for _, st := range run.Stages {
				if st.Role == rundir.Grid && !isAgain(st.Name) && rows[st.Rate.Value()] {
					whole++
				}
			}
			wantRows := 7
			if stage == "asynchronous@" && times == 2 {
				wantRows = 6
			}
			if len(late) != times || len(again) != 1 || whole != wantRows || run.Answer.Kind != rundir.Saturates ||
				run.State != rundir.Complete || run.Client.Valid != (times == 1 || stage == "search@16") {
				t.Errorf("%d times late in %s, budget %v: late %v, again %v, %d rows, %s, fit %v", times, stage, budget, late,
					again, whole, run.Answer.Kind, run.Client.Valid)
			}
		}
	}
}
