package sweep

import (
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// A run directory that is judged afterwards says what it would have said.
func TestAssessAgreesWithTheRun(t *testing.T) {
	t.Parallel()
	terms, err := slo.ParseAll([]string{"ttft:p90<30ms", "itl:p50<9ms"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := experimentWith(d, simtest.SameInAll(64, 16))
		c.Log, c.SLO, c.Points, c.StageTime, c.StageMax = dir, terms, 3, rundir.Duration(5), rundir.Duration(15)
		if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
			t.Fatal(err)
		}
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
	if err := saturation.Assess(path, now, terms); err != nil {
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
	run := &rundir.Run{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := experimentWith(d, simtest.SameInAll(64, 16))
		c.Log, c.Warmup = dir, experiment.Warmup{}
		stages := []experiment.Stage{
			experiment.NewStage(arrival.Closed{Concurrency: 4}, 60, 0),
			experiment.NewStage(arrival.Constant{Rate: 40, MaxConcurrency: 2}, 80, 0),
			experiment.NewStage(arrival.Ramp{From: 5, To: 60, Over: 5 * time.Second}, 0, 0),
		}
		if err := Run(t.Context(), c, stages, run); err != nil {
			t.Fatal(err)
		}
	})
	killed := *run
	killed.State, killed.Stages = rundir.Running, nil
	for _, st := range run.Stages {
		killed.Stages = append(killed.Stages, rundir.Stage{
			Name: st.Name, Kind: st.Kind, Role: st.Role, State: rundir.Running, Rate: st.Rate, MaxConcurrency: st.MaxConcurrency,
			Started: st.Started, Whole: true,
		})
	}
	if err := (&store.Dir{Path: path}).Save(&killed); err != nil {
		t.Fatal(err)
	}
	again, err := saturation.Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Stages {
		want, got := run.Stages[i], again.Stages[i]
		if n := got.Warnings; len(n) != 1 || n[0].Code != "stage.killed" || got.State != rundir.Interrupted {
			t.Errorf("%s: %s, warnings %v", got.Name, got.State, n)
		}
		// These are not recorded, or rest on ticks of another length. The peak counts requests that begin and end at
		// one instant together.
		for _, st := range []*rundir.Stage{&want, &got} {
			st.State, st.Warnings, st.ClientCPU, st.ClientGC, st.Elapsed, st.Verdict, st.Drift = "", nil, rundir.Number{},
				rundir.Number{}, 0, "", rundir.Drift{}
			st.Ended = 0
			st.Concurrency.Peak = 0
			if st.WholeRun != nil {
				st.WholeRun.Concurrency.Peak = 0
			}
		}
		approximately := cmp.Comparer(func(a, b rundir.Number) bool {
			return a == b || a.Known() == b.Known() && math.Abs(a.Value()-b.Value()) < 1e-6*(1e-3+math.Abs(b.Value()))
		})
		if diff := cmp.Diff(want, got, approximately, cmpopts.EquateApprox(1e-6, 1e-9), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-measured +recovered):\n%s", want.Name, diff)
		}
	}
}
