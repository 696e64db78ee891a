package sweep

import (
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/seconds"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A run directory that is judged afterwards says what it would have said.
func TestAssessAgreesWithTheRun(t *testing.T) {
	terms, err := slo.ParseAll([]string{"ttft:p90<30ms", "itl:p50<9ms"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run")
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		dir, err := rundir.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := experimentWith(d, simtest.Same(64, 16))
		c.Log, c.SLO, c.Points, c.StageTime, c.StageMax = dir, terms, 3, seconds.Duration(5), seconds.Duration(15)
		if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
			t.Fatal(err)
		}
	})
	then, err := rundir.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range now.Stages {
		now.Stages[i].Goodput = nil
	}
	now.SLO, now.Plan.SLO = nil, nil
	if err := Assess(path, now, terms); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(then, now, cmp.AllowUnexported(rundir.Number{})); diff != "" {
		t.Errorf("(-then +now):\n%s", diff)
	}
	if s := now.SLO; !s.Rate.Known() || !(s.Low.Value() < s.Rate.Value() && s.Rate.Value() < s.High.Value()) || !(s.Goodput.Value() > 0) || s.KeptStage == "" {
		t.Errorf("nothing was found: %+v", s)
	}
	for _, st := range now.Stages {
		if g := st.Goodput; g.Rate.Value() > st.Rates.Completed.Value()*1.0000001 {
			t.Errorf("%s: goodput %v of %v completed", st.Name, g.Rate.Value(), st.Rates.Completed.Value())
		}
	}
}
