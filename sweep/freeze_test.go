package sweep

import (
	"math"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// frozen measures a load for a time on a server that freezes at a time, and returns the stage and its records.
func frozen(t *testing.T, k *simtest.Trial, l arrival.Load, window, at, drain time.Duration) (st rundir.Stage,
	records []*rundir.Record) {
	t.Helper()
	server := k.Server
	if at > 0 {
		server.Habits.Freezes = at
	}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, k.Work)
		c.Drain = drain
		var err error
		if c.SLO, err = slo.ParseAll([]string{"ttft:p90<1h", "itl:p90<1h", "errors<100%"}); err != nil {
			t.Fatal(err)
		}
		st = oneStage(t, c, func(*experiment.Experiment) experiment.Stage { return experiment.NewStage(l, 0, window) })
		if records, err = collect(c.Log, st.Name); err != nil {
			t.Fatal(err)
		}
	})
	return st, records
}

// hasNote reports whether notes have one with a code.
func hasNote(st *rundir.Stage, code string) bool {
	for _, n := range st.Warnings {
		if n.Code == code {
			return true
		}
	}
	return false
}

// The window of a closed loop ends with its last answers, except where the server stopped answering: its silence
// counts.
func TestAFrozenServerIsNamed(t *testing.T) {
	t.Parallel()
	const froze = "server.froze"
	of, missed := 0, 0
	for seed := range uint64(simtest.SampleSize(6, 100)) {
		k := simtest.Random(100 + seed)
		truth := k.Work.Capacity(k.Server)
		// Long enough for a few waves, and the freeze comes in the middle.
		planned := max(20*time.Second, 20*truth.SyncLatency)
		at := planned/2 + time.Duration(seed)*time.Millisecond
		for _, l := range []arrival.Load{
			arrival.Closed{Concurrency: 1}, arrival.Closed{Concurrency: 8},
			arrival.Poisson{Rate: max(0.5*truth.RequestsPerSecond, 4/truth.SyncLatency.Seconds())},
		} {
			for _, drain := range []time.Duration{3 * time.Second, time.Minute} {
				st, records := frozen(t, k, l, planned, at, drain)
				of++
				if !st.FrozenSince.Known() || !hasNote(&st, froze) {
					missed++
					t.Errorf("%v: %s, drain %v: not named; window %.1f-%.1f s", k, st.Name, drain, st.WindowFrom, st.WindowFrom+
						st.Window)
					continue
				}
				if since := st.FrozenSince.Value(); since > at.Seconds() || since < at.Seconds()-(2*truth.SyncLatency+
					8*truth.SyncTTFT).Seconds() {
					t.Errorf("%v: %s: frozen since %.3f s, the truth is %.3f", k, st.Name, since, at.Seconds())
				}
				end := st.WindowFrom + st.Window
				const rounding = 1e-6
				// an open loop may wait for waves
				if end < planned.Seconds()-rounding || end > 1.1*planned.Seconds() && !st.Rate.Known() {
					t.Errorf("%v: %s: the window ends at %.2f s, planned were %v", k, st.Name, end, planned)
				}
				done := 0.0
				for _, r := range records {
					if r.Status == "ok" && measure.WindowOf(&st).Holds(r.End.Value()) {
						done++
					}
				}
				if want := done / (end - st.WindowFrom); done > 0 && math.Abs(st.Rates.Completed.Value()-want) > 1e-6*want {
					t.Errorf("%v: %s: %.3f req/s, the truth is %.3f", k, st.Name, st.Rates.Completed.Value(), want)
				}
				for _, p := range st.Goodput.Terms {
					if p.Verdict != rundir.Missed {
						t.Errorf("%v: %s: %s is %s", k, st.Name, p.Term, p.Verdict)
					}
				}
			}
		}
	}
	simtest.Claim(t, "a server that freezes is named", "in every stage", "in %d of %d", of-missed, of)
}

// Neither a healthy server nor one that pauses is said to have frozen.
func TestPlainServersAreNotFrozen(t *testing.T) {
	t.Parallel()
	of, wrong := 0, 0
	for seed := range uint64(simtest.SampleSize(2, 200)) {
		plain, pauses := simtest.Random(300+seed), simtest.RandomWith(300+seed, "pauses")
		for _, k := range []*simtest.Trial{plain, pauses} {
			truth := k.Work.Capacity(k.Server)
			window := max(10*time.Second, 5*truth.SyncLatency)
			for _, l := range []arrival.Load{
				arrival.Closed{Concurrency: 1}, arrival.Closed{Concurrency: 8},
				arrival.Poisson{Rate: 0.7 * truth.RequestsPerSecond},
				arrival.Poisson{Rate: 1.5 * truth.RequestsPerSecond},
			} {
				for _, drain := range []time.Duration{time.Millisecond, 3 * time.Second} {
					of++
					if st, _ := frozen(t, k, l, window, 0, drain); st.FrozenSince.Known() {
						wrong++
						t.Errorf("%v: %s, drain %v: frozen since %v s of %.1f", k, st.Name, drain, st.FrozenSince.Value(), st.Elapsed)
					}
				}
			}
		}
	}
	simtest.Claim(t, "a healthy server, or one that pauses, is said to have frozen", "never", "in %d of %d stages", wrong,
		of)
}

// A run whose server freezes keeps what it measured and ends as failed, also where stages were still to come.
func TestAFreezeEndsTheRun(t *testing.T) {
	t.Parallel()
	server := simtest.Preset(t, "demo")
	server.Habits = sim.Habits{Freezes: 15 * time.Second}
	for name, c := range map[string]struct{ stages, want int }{"the last stage": {2, 2}, "a stage in the middle": {4, 3}} {
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			run, config := &rundir.Run{}, experimentWith(d, simtest.SameInAll(64, 16))
			var stages []experiment.Stage
			for range c.stages {
				stages = append(stages, experiment.NewStage(arrival.Closed{Concurrency: 8 + len(stages)}, 0, 10*time.Second))
			}
			if err := Run(t.Context(), config, stages, run); err != nil {
				t.Fatal(err)
			}
			if run.State != rundir.Failed || run.Failure.Code != "run.server-gone" || len(run.Stages) != c.want {
				t.Errorf("%s: %s (%v) after %d stages, want %d", name, run.State, run.Failure, len(run.Stages), c.want)
			}
			if first := run.Stages[0]; first.FrozenSince.Known() || !first.Rates.Completed.Known() {
				t.Errorf("%s: the stage before the freeze: %+v", name, first.FrozenSince)
			}
			healthy, half := run.Stages[0].Rates.Completed.Value(), run.Stages[1].Rates.Completed.Value()
			if share := half / healthy; share < 0.4 || share > 0.6 {
				t.Errorf("%s: %.1f req/s after %.1f: the server answered half of the time", name, half, healthy)
			}
		})
	}
}

// A stage of a number of requests does not wait until the requests of a frozen server time out.
func TestAFrozenServerEndsACountedStage(t *testing.T) {
	t.Parallel()
	server := simtest.Preset(t, "demo")
	server.Habits = sim.Habits{Freezes: 5 * time.Second}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, simtest.SameInAll(64, 16))
		c.Drain = 3 * time.Second
		began := time.Now()
		st := oneStage(t, c, func(*experiment.Experiment) experiment.Stage {
			return experiment.NewStage(arrival.Closed{Concurrency: 4}, 100_000, 0)
		})
		if took := time.Since(began); took > 75*time.Second || !hasNote(&st, "stage.gave-up") || !st.FrozenSince.Known() {
			t.Errorf("it took %v: %v", took, st.Warnings)
		}
	})
}
