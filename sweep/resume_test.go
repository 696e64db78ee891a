package sweep

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plain8 is a server without random numbers, so that a stage depends on nothing that came before it.
func plain8(t *testing.T) sim.MachineConfig { return simtest.Preset(t, "plain8") }

// shortSweep is a sweep of plain8 into a run directory.
func shortSweep(d load.Doer, dir *store.Dir) Config {
	c := experimentWith(d, simtest.SameInAll(64, 16))
	c.Log, c.Points, c.StageTime, c.StageMax, c.MaxConcurrency, c.Drain = dir, 3, 5*time.Second, 10*time.Second, 32,
		10*time.Second
	return c
}

// sweepInto sweeps plain8 into a run directory, and continues the run that is there.
func sweepInto(t *testing.T, ctx context.Context, dir *store.Dir, before *rundir.Run,
	change func(*Config)) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	live, err := sim.Start(plain8(t))
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	c := shortSweep(simtest.VirtualDoer{Live: live}, dir)
	c.Before = before
	if change != nil {
		change(&c)
	}
	if err := Sweep(ctx, c, run); err != nil {
		t.Fatal(err)
	}
	return run
}

// resumed continues the run in a directory to its end.
func resumed(t *testing.T, path string, change func(*Config)) *rundir.Run {
	t.Helper()
	before, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := store.ContinueOn(store.OS{}, path, experiment.Keeps(before))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	run := sweepInto(t, t.Context(), dir, before, change)
	if err := dir.Sync(); err != nil {
		t.Fatal(err)
	}
	return run
}

// whole sweeps without an interruption, and keeps all operations on the disk.
func whole(t *testing.T, change func(*Config)) (run *rundir.Run, disk *simtest.RecordingDisk, began time.Time) {
	path := filepath.Join(t.TempDir(), "whole")
	disk = simtest.RecordDisk(path)
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.CreateOn(disk, path)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		began = time.Now()
		run = sweepInto(t, t.Context(), dir, nil, change)
	})
	return run, disk, began
}

// sameTable compares what tables show: the stages and the answer. Processor time is real.
func sameTable(want, got *rundir.Run) string {
	return cmp.Diff([]any{want.Stages, want.Saturation, want.SLO, want.Search, want.State},
		[]any{got.Stages, got.Saturation, got.SLO, got.Search, got.State},
		cmpopts.IgnoreFields(rundir.Stage{}, "ClientCPU", "ClientGC"), cmp.Comparer(sameNumber), cmpopts.EquateEmpty())
}

// sameNumber compares numbers that are sums: records of one instant may come in any order.
func sameNumber(a, b rundir.Number) bool {
	const roundOff = 1e-12
	alike := a.Known() == b.Known() && a.Bound() == b.Bound()
	return a == b || alike && math.Abs(a.Value()-b.Value()) <= roundOff*math.Abs(a.Value())
}

// A sweep that is killed at any instant, and continued, ends with the table that it would have had. SIGKILL leaves what
// was written.
func TestAKilledSweepGoesOn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"plain":  nil,
		"budget": func(c *Config) { c.Budget = 2 * time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			want, disk, began := whole(t, change)
			took, rng := want.Ended.Sub(want.Started), rand.New(rand.NewPCG(1, 1))
			n := simtest.SampleSize(2, 50)
			for range n {
				at := time.Duration(rng.Int64N(int64(took)))
				path := t.TempDir()
				disk.Killed(t, disk.Until(began.Add(at)), path)
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Hour) // later than the first part
					got := resumed(t, path, change)
					if diff := sameTable(want, got); diff != "" {
						t.Fatalf("killed at %v of %v (-whole +resumed):\n%s", at, took, diff)
					}
				})
			}
			simtest.Claim(t, "SIGKILL at a random instant of a sweep ("+name+"): resume ends with the same table", "all",
				"%d of %d", n, n)
		})
	}
}

// A power cut at any instant leaves a directory that opens, with all whole stages, and that can be continued.
func TestAPowerCutLosesNoWholeStage(t *testing.T) {
	t.Parallel()
	want, disk, _ := whole(t, nil)
	rng := rand.New(rand.NewPCG(2, 2))
	cuts, resumes := simtest.SampleSize(60, 1000), simtest.SampleSize(2, 50)
	before, opened := 0, 0
	for i := range cuts {
		path := t.TempDir()
		at := 1 + rng.IntN(disk.Len())
		disk.Cut(t, at, path, rng)
		run, err := saturation.Reopen(path)
		durable := disk.Durable(rundir.RunFile, at)
		if durable == nil {
			before++ // there was no run yet
			continue
		}
		if err != nil {
			t.Fatalf("cut %d, after %d of %d operations: %v", i, at, disk.Len(), err)
		}
		opened++
		if got, least := len(experiment.Kept(run)), wholeStages(t, durable); got < least {
			t.Fatalf("cut %d, after %d of %d operations: %d whole stages of %d", i, at, disk.Len(), got, least)
		}
		for _, st := range experiment.Kept(run) {
			n := 0
			for r, err := range store.Records(path) {
				if err != nil {
					t.Fatal(err)
				}
				if r.Stage == st.Name {
					n++
				}
			}
			if n < st.Requests.Due {
				t.Fatalf("cut %d: %s has %d records of %d requests", i, st.Name, n, st.Requests.Due)
			}
		}
		if i%(cuts/resumes) != 0 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Hour)
			if diff := sameTable(want, resumed(t, path, nil)); diff != "" {
				t.Fatalf("cut %d (-whole +resumed):\n%s", i, diff)
			}
		})
	}
	simtest.Claim(t, "power cuts, unsynced writes dropped, torn or reordered: the directory opens, no whole stage is lost", "all", "%d of %d; %d before the run began", opened, cuts-before, before)
}

// wholeStages returns the number of whole stages in a run.json.
func wholeStages(t *testing.T, b []byte) int {
	t.Helper()
	run := &rundir.Run{}
	if err := json.Unmarshal(b, run); err != nil {
		t.Fatal(err)
	}
	return len(experiment.Kept(run))
}
