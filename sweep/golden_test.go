package sweep

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/testkit"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// goldenConfig is a sweep in short stages.
func goldenConfig(log experiment.Log) Config {
	c, server := Defaults(), simtest.NewSlotted()
	c.Doer, c.Scrape, c.Log, c.Seed = server, server.Gauges, log, 7
	c.Sources = func(stage string) load.Source { return simtest.Mixed(7, stage) }
	c.Points, c.StageTime, c.StageMax = 4, 6*time.Second, 12*time.Second
	c.Warmup = experiment.Warmup{Requests: 3}
	return c
}

func golden(t *testing.T, name string, v any) {
	t.Helper()
	testkit.CheckGolden(t, name+".json", simtest.Numbers(t, v))
}

// The numbers of seeded sweeps in virtual time stay the same.
func TestGoldenSweep(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, c *Config){
		"sweep":        func(*testing.T, *Config) {},
		"sweep-budget": func(_ *testing.T, c *Config) { c.Budget = 90 * time.Second },
		"sweep-slo": func(t *testing.T, c *Config) {
			c.SLO = simtest.Terms(t, "ttft:p90<60ms", "itl:p50<20ms", "errors<1%")
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := &rundir.Run{}
			synctest.Test(t, func(t *testing.T) {
				c := goldenConfig(&store.Memory{})
				change(t, &c)
				if err := Sweep(t.Context(), c, run); err != nil {
					t.Fatal(err)
				}
			})
			golden(t, name, run)
		})
	}
}

// goldenStages is one stage of each kind of load.
func goldenStages() []experiment.Stage {
	trace := []time.Duration{0, 500_111_113, 1_000_000_007, 1_100_000_031, 4_000_000_039}
	return []experiment.Stage{
		experiment.NewStage(arrival.Closed{Concurrency: 4}, 60, 0),
		experiment.NewStage(arrival.Closed{Concurrency: 3}, 0, 5*time.Second),
		experiment.NewStage(arrival.Poisson{Rate: 30}, 0, 8*time.Second),
		experiment.NewStage(arrival.Constant{Rate: 197.3, MaxConcurrency: 5}, 100, 0),
		experiment.NewStage(arrival.Gamma{Rate: 40, Gaps: arrival.Shape(0.5)}, 200, 0),
		experiment.NewStage(arrival.Ramp{From: 10, To: 50, Over: 5 * time.Second}, 0, 0),
		experiment.NewStage(arrival.Trace{Offsets: trace, Speed: 2}, 0, 0),
	}
}

func TestGoldenRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run")
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := goldenConfig(dir)
		c.SLO = simtest.Terms(t, "ttft:p90<60ms", "latency:mean<900ms")
		if err := Run(t.Context(), c, goldenStages(), run); err != nil {
			t.Fatal(err)
		}
	})
	golden(t, "run", run)

	// A killed run says what its records say: here as if all of its stages had been cut.
	golden(t, "run-killed", reopenKilled(t, run, path, func(st *rundir.Stage) bool { return st.Whole }))
}
