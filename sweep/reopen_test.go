package sweep

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
)

// intoDir lets a sweep keep its records in a directory.
func intoDir(t *testing.T, c *Config, path string) {
	dir, err := store.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Log = dir
}

// reopenKilled saves a run in its directory as if all of its stages had been cut, and reads it again. Whole reports
// whether all requests of a stage count.
func reopenKilled(t *testing.T, run *rundir.Run, path string, whole func(st *rundir.Stage) bool) *rundir.Run {
	t.Helper()
	cut := *run
	cut.State, cut.Stages = rundir.Running, nil
	for i := range run.Stages {
		st := &run.Stages[i]
		cut.Stages = append(cut.Stages, rundir.Stage{Name: st.Name, Kind: st.Kind, Role: st.Role, State: rundir.Running,
			Rate: st.Rate, MaxConcurrency: st.MaxConcurrency, Started: st.Started, Whole: whole(st)})
	}
	b, err := json.Marshal(&cut)
	if err == nil {
		err = os.WriteFile(filepath.Join(path, rundir.RunFile), b, 0o644)
	}
	if err == nil {
		run, err = saturation.Reopen(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// A run directory that is judged afterwards says what it would have said.
func TestAssessAgreesWithTheRun(t *testing.T) {
	t.Parallel()
	limits := simtest.Terms(t, "ttft:p90<150ms", "itl:p50<45ms")
	path := filepath.Join(t.TempDir(), "run")
	sweepServer(t, demo(t), demoWork, func(c *Config) {
		intoDir(t, c, path)
		c.SLO, c.Points, c.StageTime, c.StageMax = limits, 3, 10*time.Second, 30*time.Second
	})
	then, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := saturation.Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range now.Stages {
		now.Stages[i].Goodput = nil
	}
	now.SLO, now.Plan.SLO = nil, nil
	if err := saturation.Assess(path, now, limits); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(then, now, cmp.AllowUnexported(rundir.Number{})); diff != "" {
		t.Errorf("(-then +now):\n%s", diff)
	}
	if s := now.SLO; !s.Rate.Known() || !(s.Low.Value() < s.Rate.Value() && s.Rate.Value() < s.High.Value()) ||
		!(s.Goodput.Value() > 0) || s.KeptStage == "" {
		t.Errorf("nothing was found: %+v", s)
	}
	for _, st := range now.Stages {
		if g := st.Goodput; g.Rate.Value() > st.Rates.Completed.Value()*1.0000001 {
			t.Errorf("%s: goodput %v of %v completed", st.Name, g.Rate.Value(), st.Rates.Completed.Value())
		}
	}
}

// A stage that was killed has the metrics that it would have had, where each request counts: one accountant makes them,
// from what it saw or from the records.
func TestARecoveredStageHasTheSameMetrics(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run")
	run := runStages(t, simtest.Preset(t, "demo"), demoWork, func(c *Config) { intoDir(t, c, path) },
		experiment.NewStage(arrival.Closed{Concurrency: 4}, 60, 0),
		experiment.NewStage(arrival.Constant{Rate: 40, MaxConcurrency: 2}, 80, 0),
		experiment.NewStage(arrival.Ramp{From: 5, To: 60, Over: 5 * time.Second}, 0, 0))
	again := reopenKilled(t, run, path, func(*rundir.Stage) bool { return true })
	// These are not recorded, or rest on ticks of another length. The peak counts requests that begin and end at one
	// instant together.
	ignored := []cmp.Option{
		cmpopts.IgnoreFields(rundir.Stage{}, "State", "Warnings", "ClientCPU", "ClientGC", "Elapsed", "Ended", "Verdict",
			"Drift"),
		cmpopts.IgnoreFields(rundir.Concurrency{}, "Peak"),
		cmp.Comparer(func(a, b rundir.Number) bool {
			return a == b || a.Known() == b.Known() && math.Abs(a.Value()-b.Value()) < 1e-6*(1e-3+math.Abs(b.Value()))
		}), cmpopts.EquateApprox(1e-6, 1e-9), cmpopts.EquateEmpty(),
	}
	for i := range again.Stages {
		want, got := &run.Stages[i], &again.Stages[i]
		if n := codes(got.Warnings); len(n) != 1 || n[0] != "stage.killed" || got.State != rundir.Interrupted {
			t.Errorf("%s: %s, warnings %v", got.Name, got.State, n)
		}
		if diff := cmp.Diff(want, got, ignored...); diff != "" {
			t.Errorf("%s (-measured +recovered):\n%s", want.Name, diff)
		}
	}
}
