package sweep

import (
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// TestASweepEndsWhereTheClientIsTheLimit: three rows in a row that show the client end the sweep, with a warning;
// before, the search for the SLO went on for hours.
func TestASweepEndsWhereTheClientIsTheLimit(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
		c.Waiter, c.StageTime, c.StageMax = starved{80 * time.Millisecond}, 5*time.Second, 15*time.Second
		var err error
		if c.SLO, err = slo.ParseAll([]string{"ttft:p90<100ms"}); err != nil {
			t.Fatal(err)
		}
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
		if want := 2 + mostSpoiled; len(run.Stages) != want || run.State != rundir.Complete {
			t.Errorf("%d stages, %s; want %d stages, complete", len(run.Stages), run.State, want)
		}
		if !slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteClientLimit) }) {
			t.Errorf("no warning that the client was the limit: %v", run.Warnings)
		}
	})
}

// TestNothingButTheClient: where the floor alone shows the server, the sweep has failed, and there is no answer,
// whatever the search for the ceiling completed.
func TestNothingButTheClient(t *testing.T) {
	t.Parallel()
	why := note.Note{Code: "client.sent-late"}
	floor := rundir.Stage{
		Name: "synchronous", Role: rundir.Synchronous, State: rundir.Complete, Requests: rundir.Requests{OK: 10},
		Progress: rundir.Progress{Rate: rundir.Exactly(2)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(200)},
	}
	spoiled := floor
	spoiled.Name, spoiled.Role, spoiled.Invalid = "throughput", rundir.Throughput, why
	end := experiment.NewEndError(noteClientLimit.New(mostSpoiled, []note.Note{why}), "the client was the limit")
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
