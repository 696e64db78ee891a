package sweep

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
}
