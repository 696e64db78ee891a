package sweep

import (
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/virtual"
)

// fixed asks the same of the server each time.
type fixed struct{ prompt, output int }

func (f fixed) Next() (Task, bool) {
	return Task{Turns: []Turn{{PromptTokens: f.prompt, OutputTokens: f.output}}}, true
}

// sweepVirtually runs a whole sweep against a simulated server in virtual time.
func sweepVirtually(t *testing.T, server sim.Config, w fixed, change func(*Config)) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		live, err := sim.Start(server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		c := Defaults()
		c.Doer, c.Log = virtual.Doer{Live: live}, &rundir.Memory{}
		c.Sources = func(string) Source { return w }
		if change != nil {
			change(&c)
		}
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

func preset(t *testing.T, name string) sim.Config {
	t.Helper()
	c, err := sim.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSweepFindsTheCapacity(t *testing.T) {
	for _, name := range []string{"Qwen2-7B/L20/fp16", "demo"} {
		server := preset(t, name)
		w := fixed{512, 128}
		if name == "demo" {
			w = fixed{64, 16}
		}
		began := time.Now()
		run := sweepVirtually(t, server, w, nil)
		truth := server.Capacity(sim.Workload{PromptTokens: w.prompt, OutputTokens: w.output})
		t.Logf("%s took %v: capacity %.3f, found %.3f (%.3f-%.3f)", name, time.Since(began), truth.RequestsPerSecond,
			run.Saturation.Rate.Value(), run.Saturation.Low.Value(), run.Saturation.High.Value())
		for _, s := range run.Stages {
			t.Logf("%-18s bound %3d off %6.3f done %6.3f prog %6.3f (%6.3f %6.3f) lat %6.3f ttft %7.4f/%7.4f itl %7.5f out %7.1f fl %6.1f/%d n %d win %5.1f+%5.1f el %5.1f %s drift %.3f (%.3f %.3f) %v %s",
				s.Name, s.MaxConcurrency, s.Rates.Offered.Value(), s.Rates.Completed.Value(), s.Progress.Rate.Value(), s.Progress.Low.Value(), s.Progress.High.Value(),
				s.Latency.Mean.Value(), s.TTFT.Mean.Value(), s.TTFT.P99.Value(), s.InterToken.Value(), s.TokensPerS.Output.Value(), s.Concurrency.Mean.Value(), s.Concurrency.Peak,
				s.Requests.Due, s.WindowFrom, s.Window, s.Elapsed, s.Verdict, s.Drift.Value.Value(), s.Drift.Low.Value(), s.Drift.High.Value(), s.Warnings, s.Invalid)
		}
		t.Log(run.Warnings, run.Saturation)
	}
}
