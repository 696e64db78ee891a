package sweep_test

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/testkit"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// mixed is a workload of lengths drawn from the seed and the stage's name.
type mixed struct{ draw func() float64 }

func newMixed(runSeed uint64, stage string) load.Source {
	return mixed{stats.Rand(runSeed, "lengths", stage).Float64}
}

func (m mixed) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{
		User: strconv.FormatFloat(m.draw(), 'f', -1, 64), PromptTokens: 32 + int(64*m.draw()), OutputTokens: 4 +
			int(24*m.draw()),
	}}}, true
}

// slotted is a server of eight slots whose times follow from the prompt alone, to the nanosecond. No two instants
// coincide, so that a run repeats itself: the simulated server's steps end many requests at once, in an order that
// testing/synctest draws at random.
type slotted struct{ slots chan struct{} }

func newSlotted() slotted { return slotted{make(chan struct{}, 8)} }

func (slotted) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

func (s slotted) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := call.Request
	h := fnv.New64a()
	h.Write([]byte(r.Messages[0].Content))
	rng := rand.New(rand.NewPCG(h.Sum64(), 1))
	res.Sent = time.Since(res.Epoch)
	res.Status = client.StatusIncomplete
	// so that those sent at once arrive one by one, in a fixed order
	time.Sleep(time.Duration(rng.Int64N(int64(time.Millisecond))))
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return
	}
	for i := range r.OutputTokens {
		wait := 2*time.Millisecond + time.Duration(rng.Int64N(int64(2*time.Millisecond)))
		if i == 0 {
			wait += time.Duration(r.PromptTokens) * 200 * time.Microsecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		res.Token(time.Since(res.Epoch), 1, false)
	}
	res.Status, res.Headers, res.End = client.StatusOK, res.FirstToken, res.LastToken
	res.PromptTokens, res.OutputTokens, res.TokenSource = r.PromptTokens, r.OutputTokens, client.SourceServer
}

// gauges are the server's own metrics.
func (s slotted) gauges(context.Context) (load.Gauges, error) {
	nan := math.NaN()
	return load.Gauges{Running: float64(len(s.slots)), Waiting: 2, KVUsage: 0.5, Preemptions: 0, PrefixQueries: nan,
		PrefixHits: nan}, nil
}

// goldenConfig is a sweep in short stages.
func goldenConfig(log experiment.Log) sweep.Config {
	c, server := sweep.Defaults(), newSlotted()
	c.Doer, c.Scrape, c.Log, c.Seed = server, server.gauges, log, 7
	c.Sources = func(stage string) load.Source { return newMixed(7, stage) }
	c.Points, c.StageTime, c.StageMax = 4, 6*time.Second, 12*time.Second
	c.Warmup = experiment.Warmup{Requests: 3}
	return c
}

// golden compares the numbers of v, as JSON, with a file: notes, and what this machine's load decides, are left out.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	if b, err = json.MarshalIndent(rounded(tree), "", " "); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, name+".json", append(b, '\n'))
}

// rounded keeps four significant digits of each number, since a fifth depends on which of two events at one instant
// comes first, and drops notes and the client's share of the processor.
func rounded(v any) any {
	switch v := v.(type) {
	case float64:
		short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		if err != nil || math.Abs(v) < 1e-9 {
			return 0.0
		}
		return short
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case map[string]any:
		for _, key := range []string{"ended", "lag_s", "warnings", "reason", "failure", "invalid", "client_cpu_fraction",
			"client_gc_fraction", "cpu_fraction", "valid"} {
			delete(v, key)
		}
		for key := range v {
			v[key] = rounded(v[key])
		}
	}
	return v
}

// The numbers of seeded sweeps in virtual time stay the same.
func TestGoldenSweep(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, c *sweep.Config){
		"sweep":        func(*testing.T, *sweep.Config) {},
		"sweep-budget": func(_ *testing.T, c *sweep.Config) { c.Budget = 90 * time.Second },
		"sweep-slo": func(t *testing.T, c *sweep.Config) {
			c.SLO = simtest.Terms(t, "ttft:p90<60ms", "itl:p50<20ms", "errors<1%")
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := &rundir.Run{}
			synctest.Test(t, func(t *testing.T) {
				c := goldenConfig(&store.Memory{})
				change(t, &c)
				if err := sweep.Sweep(t.Context(), c, run); err != nil {
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
		experiment.NewStage(arrival.Gamma{Rate: 40, Shape: 0.5}, 200, 0),
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
		if err := sweep.Run(t.Context(), c, goldenStages(), run); err != nil {
			t.Fatal(err)
		}
	})
	golden(t, "run", run)

	// A killed run says what its records say: here as if all of its stages had been cut.
	killed := *run
	killed.State = rundir.Running
	killed.Stages = nil
	for _, st := range run.Stages {
		killed.Stages = append(killed.Stages, rundir.Stage{
			Name: st.Name, Kind: st.Kind, Role: st.Role, State: rundir.Running, Rate: st.Rate, MaxConcurrency: st.MaxConcurrency,
			Started: st.Started, Whole: st.Whole,
		})
	}
	b, err := json.Marshal(&killed)
	if err == nil {
		err = os.WriteFile(filepath.Join(path, "run.json"), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, err := saturation.Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "run-killed", again)
}

func TestGoldenPair(t *testing.T) {
	t.Parallel()
	record, runs := &rundir.Pair{}, [2]*rundir.Run{{}, {}}
	var rows []pair.Row
	synctest.Test(t, func(t *testing.T) {
		c := pair.Config{Budget: 4 * time.Minute, Planned: func(int, int, time.Duration) {},
			Save: func(*rundir.Pair) error { return nil }}
		for i := range c.Sides {
			c.Sides[i] = goldenConfig(&store.Memory{})
			c.Sides[i].StageTime = 2 * time.Second
		}
		if err := pair.Run(t.Context(), c, runs, record); err != nil {
			t.Fatal(err)
		}
		rows = pair.Rows(record, runs[0], runs[1])
	})
	golden(t, "pair", record)
	var numbers []map[string]any
	for _, r := range rows {
		numbers = append(numbers, map[string]any{
			"key": r.Key, "a": r.A, "b": r.B, "ratio": r.Ratio, "low": r.Low, "high": r.High, "shown": r.Shown,
		})
	}
	golden(t, "pair-rows", numbers)
}
