package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client/sim"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
)

// sweepInto sweeps a server without random numbers, of which a stage depends on nothing that came before it, into a run
// directory, and continues the run that is there.
func sweepInto(t *testing.T, dir *store.Dir, before *rundir.Run, budget time.Duration) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	live, err := sim.Start(simtest.Preset(t, "plain8"))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	c := experimentWith(simtest.VirtualDoer{Live: live}, demoWork)
	c.Log, c.Points, c.StageTime, c.StageMax, c.MaxConcurrency, c.Drain = dir, 3, 5*time.Second, 10*time.Second, 32,
		10*time.Second
	c.Before, c.Budget = before, budget
	if err := Sweep(t.Context(), c, run); err != nil {
		t.Fatal(err)
	}
	return run
}

// resumeSweep continues the run in a directory to its end, later than the first part.
func resumeSweep(t *testing.T, path string, budget time.Duration) (run *rundir.Run) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		before, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := store.ContinueOn(store.OS{}, path, experiment.Keeps(before))
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		run = sweepInto(t, dir, before, budget)
		if err := dir.Sync(); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// wholeSweep sweeps without an interruption, and keeps all operations on the disk.
func wholeSweep(t *testing.T, budget time.Duration) (run *rundir.Run, disk *simtest.RecordingDisk, began time.Time) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole")
	disk = simtest.RecordDisk(path)
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.CreateOn(disk, path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		began = time.Now()
		run = sweepInto(t, dir, nil, budget)
	})
	return run, disk, began
}

// differs compares what tables show of the stages that were kept: all of it, and of a run that goes on the kind of its
// answer, an interval that overlaps, and as many rows. The stage that was cut begins on an idle server when it is
// measured again. Processor time is real, and sums of records of one instant may come in any order.
func differs(want, got *rundir.Run, kept int) string {
	if a, b := want.Answer, got.Answer; a.Kind != b.Kind || a.High.Or(0) < b.Low.Or(0) || b.High.Or(0) < a.Low.Or(0) ||
		want.State != got.State || countGrid(want) != countGrid(got) {
		return fmt.Sprintf("%s %v-%v, %d rows, resumed %s %v-%v, %d rows", a.Kind, a.Low, a.High, countGrid(want),
			b.Kind, b.Low, b.High, countGrid(got))
	}
	sameNumber := func(a, b rundir.Number) bool {
		const roundOff = 1e-12
		alike := a.Known() == b.Known() && a.Bound() == b.Bound()
		return a == b || alike && math.Abs(a.Value()-b.Value()) <= roundOff*math.Abs(a.Value())
	}
	return cmp.Diff(want.Stages[:kept], got.Stages[:kept], cmp.Comparer(sameNumber), cmpopts.EquateEmpty())
}

func countGrid(run *rundir.Run) (n int) {
	for i := range run.Stages {
		if run.Stages[i].Role == rundir.Grid {
			n++
		}
	}
	return n
}

// A sweep that is killed at any instant, and continued, keeps the stages that it had, and ends with as many and such an
// answer; no two of its records have the same number. SIGKILL leaves what was written; a power cut at any instant leaves a directory that
// opens, with all whole stages.
func TestAKilledSweepGoesOn(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]time.Duration{"plain": 0, "budget": 2 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, disk, began := wholeSweep(t, budget)
			took, rng := want.Ended.Sub(want.Started), rand.New(rand.NewPCG(1, 1))
			n := simtest.SampleSize(1, 50)
			for range n {
				at := time.Duration(rng.Int64N(int64(took)))
				path := t.TempDir()
				disk.Killed(t, disk.Until(began.Add(at)), path)
				saved, err := saturation.Reopen(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := differs(want, resumeSweep(t, path, budget), len(experiment.Kept(saved))); diff != "" {
					t.Fatalf("killed at %v of %v (-whole +resumed):\n%s", at, took, diff)
				}
				seen := map[string]bool{}
				for r, err := range store.Records(path) {
					name := fmt.Sprint(r.Stage, " ", r.Seq)
					if err != nil || seen[name] {
						t.Errorf("killed at %v of %v: two records of %s, %v", at, took, name, err)
					}
					seen[name] = true
				}
			}
			simtest.Claim(t, "SIGKILL at a random instant of a sweep ("+name+"): resume keeps all stages, and ends alike", "all",
				"%d of %d", n, n)
			if budget == 0 {
				cutPower(t, want, disk)
			}
		})
	}
}

// cutPower cuts the power at random instants of a sweep, which then goes on.
func cutPower(t *testing.T, want *rundir.Run, disk *simtest.RecordingDisk) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	cuts, resumes := simtest.SampleSize(10, 1000), simtest.SampleSize(1, 50)
	before, opened := 0, 0
	for i := range cuts {
		path, at := t.TempDir(), 1+rng.IntN(disk.Len())
		disk.Cut(t, at, path, rng)
		run, err := saturation.Reopen(path)
		durable := disk.Durable(rundir.RunFile, at)
		if durable == nil {
			before++ // there was no run yet
			continue
		}
		saved := &rundir.Run{}
		if err == nil {
			err = json.Unmarshal(durable, saved)
		}
		if err != nil {
			t.Fatalf("cut %d, after %d of %d operations: %v", i, at, disk.Len(), err)
		}
		opened++
		kept, records := experiment.Kept(run), map[string]int{}
		if least := len(experiment.Kept(saved)); len(kept) < least {
			t.Fatalf("cut %d, after %d of %d operations: %d whole stages of %d", i, at, disk.Len(), len(kept), least)
		}
		for r, err := range store.Records(path) {
			if err != nil {
				t.Fatal(err)
			}
			records[r.Stage]++
		}
		for _, st := range kept {
			if n := records[st.Name]; n < st.Requests.Due {
				t.Fatalf("cut %d: %s has %d records of %d requests", i, st.Name, n, st.Requests.Due)
			}
		}
		if i%(cuts/resumes) == cuts/resumes-1 {
			if diff := differs(want, resumeSweep(t, path, 0), len(kept)); diff != "" {
				t.Fatalf("cut %d (-whole +resumed):\n%s", i, diff)
			}
		}
	}
	simtest.Claim(t, "power cuts, unsynced writes dropped, torn or reordered: the directory opens, no whole stage is lost",
		"all", "%d of %d; %d before the run began", opened, cuts-before, before)
}

// A run with a budget that was interrupted, or whose process was killed, does not say that the budget was over.
func TestAnInterruptIsNotTheBudgetsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run")
	blamed := func(run *rundir.Run) bool {
		b, err := json.Marshal(run)
		return err != nil || bytes.Contains(b, []byte(`"budget"`))
	}
	// It is still saved as running, and has another reason to have no answer.
	reopens := func(state rundir.State, why string) {
		run, err := saturation.Reopen(path)
		if err != nil {
			t.Fatal(err)
		}
		if run.State != state || run.Failure.Code != why || len(run.Stages) == 0 || blamed(run) {
			t.Errorf("want %s: state %s, failure %s, %d stages, warnings %v", why, run.State, run.Failure.Code,
				len(run.Stages), run.Warnings)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		run, a := &rundir.Run{}, simtest.NewAttacker(1) // it does 22.86 req/s
		a.Start()
		c := experimentWith(a, simtest.SameInAll(32, 16))
		c.Budget, c.Log = time.Minute, dir
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(9*time.Second, func() { cancel(experiment.ErrInterrupted) })
		if err := Sweep(ctx, c, run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Interrupted || blamed(run) {
			t.Fatalf("state %s, warnings %v", run.State, run.Warnings)
		}
		// The file as the last save before a kill leaves it: no answer, and the last stage unfinished.
		killed := rundir.Run{Schema: run.Schema, Started: run.Started, Plan: run.Plan, Workload: run.Workload,
			State: rundir.Running, Stages: slices.Clone(run.Stages)}
		killed.Stages[len(killed.Stages)-1].State = rundir.Running
		if err := dir.Save(&killed); err != nil {
			t.Fatal(err)
		}
		reopens(rundir.Running, "run.in-progress")
		if err := dir.Close(); err != nil { // the process is gone
			t.Fatal(err)
		}
		reopens(rundir.Interrupted, "run.killed")
	})
}

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
	limits := simtest.Terms("ttft:p90<200ms", "itl:p50<45ms")
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
