package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// plainRun are the flags of a short run of a server without random numbers.
func plainRun(out string) []string {
	return []string{"run", "sim:plain8", "--concurrency", "1,2,4", "--duration", "4s", "--warmup", "1", "--prompt-tokens",
		"64", "--output-tokens", "16", "--no-selftest", "--out", out}
}

// A disk that is full at any byte ends a run at once, with one line. What was written can be read, and the run can be
// continued when there is room again.
func TestAFullDisk(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		const plenty = 1 << 40 // bytes
		roomy := simtest.FullDisk(plenty)
		w.disk = roomy
		w.must(plainRun(w.path("whole"))...)
		all := plenty - roomy.Room()
		rng := stats.Rand(1, "full disks", "")
		unopened, resumed, whole := 0, 0, 0
		for i := range fullDisks {
			room := rng.Int64N(all)
			full := simtest.FullDisk(room)
			w.disk = full
			dir := w.path("run")
			code, _, errs := w.llmsweep(plainRun(dir)...)
			if code != console.Failed || strings.Count(errs, syscall.ENOSPC.Error()) != 1 || !full.Failed() {
				t.Errorf("%d: room for %d of %d bytes: exit %d\n%s", i, room, all, code, errs)
			}
			w.disk = store.OS{}
			run, err := store.Open(dir)
			switch {
			case err != nil:
				unopened++
				if _, there := os.Stat(filepath.Join(dir, rundir.RunFile)); !errors.Is(there, fs.ErrNotExist) {
					t.Errorf("%d: room for %d of %d bytes: %v", i, room, all, err)
				}
			default:
				w.must("report", dir)
				for _, err := range store.Records(dir) {
					if err != nil {
						t.Errorf("%d: room for %d of %d bytes: %v", i, room, all, err)
					}
				}
				if run.State == rundir.Complete {
					whole++
					break
				}
				resumed++
				w.must("resume", dir)
				if again := open(t, dir); again.State != rundir.Complete || len(again.Stages) != 3 {
					t.Errorf("%d: resumed: %s, %d stages", i, again.State, len(again.Stages))
				}
			}
			noError(t, os.RemoveAll(dir))
		}
		t.Logf("%d full disks, %d bytes in all: %d before there was a run, %d resumed, %d whole without their report",
			fullDisks, all, unopened, resumed, whole)
	})
}

// A disk that fails in the middle ends a run at once, with one line and exit code 1. What was measured can be
// printed, and the run can be continued; where the directory is gone, nothing offers that.
func TestAFailingDisk(t *testing.T) {
	type disk = *simtest.FailingDisk
	for name, c := range map[string]struct {
		fail   func(w *world, d disk)
		error  string
		within time.Duration
	}{
		"read-only":      {func(_ *world, d disk) { d.Fail(syscall.EROFS) }, syscall.EROFS.Error(), time.Second},
		"sync fails":     {func(_ *world, d disk) { d.FailSync(syscall.EIO) }, syscall.EIO.Error(), 3 * time.Second},
		"directory goes": {func(w *world, _ disk) { os.RemoveAll(w.path("run")) }, "nowhere else", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				failing := simtest.SoundDisk()
				w.disk = failing
				const at = 6 * time.Second
				time.AfterFunc(at, func() { c.fail(w, failing) })
				began := time.Now()
				code, out, errs := w.llmsweep(plainRun(w.path("run"))...)
				took, stays := time.Since(began), name != "directory goes"
				if code != console.Failed || took > at+c.within || strings.Count(errs, c.error) != 1 ||
					!strings.Contains(out, "concurrent@1") || strings.Contains(errs, "llmsweep resume") != stays {
					t.Errorf("exit %d after %v\n%s\n%s", code, took, out, errs)
				}
				w.disk = store.OS{}
				if !stays {
					return
				}
				if out, _ := w.must("report", w.path("run")); !strings.Contains(out, "concurrent@1") {
					t.Errorf("report:\n%s", out)
				}
				w.must("resume", w.path("run"))
			})
		})
	}
}
