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
		roomy, dir := simtest.FullDisk(plenty), w.path("run")
		w.disk = roomy
		w.must(plainRun(w.path("whole"))...)
		all := plenty - roomy.Room()
		ends, fullDisks := map[string]int{}, int64(max(4, simtest.SampleSize(4, 100)))
		for i := range fullDisks {
			room := all * i / (fullDisks - 1) * 99 / 100
			full := simtest.FullDisk(room)
			w.disk = full
			text := w.exits(console.Failed, "", plainRun(dir)...)
			if strings.Count(text, "llmsweep: ") != 1 || !strings.Contains(text, syscall.ENOSPC.Error()) || !full.Failed() {
				t.Errorf("room for %d of %d bytes:\n%s", room, all, text)
			}
			w.disk = store.OS{}
			if run, err := store.Open(dir); err != nil {
				ends["before there was a run"]++
				if _, there := os.Stat(filepath.Join(dir, rundir.RunFile)); !errors.Is(there, fs.ErrNotExist) {
					t.Errorf("room for %d of %d bytes: %v", room, all, err)
				}
			} else if w.must("report", dir); recordsOf(t, dir) != nil && run.State == rundir.Complete {
				ends["whole without its report"]++
			} else {
				ends["resumed"]++
				w.must("resume", dir)
				if again := open(t, dir); again.State != rundir.Complete || len(again.Stages) != 3 {
					t.Errorf("room for %d of %d bytes: resumed: %s, %d stages", room, all, again.State, len(again.Stages))
				}
			}
			noError(t, os.RemoveAll(dir))
		}
		if len(ends) != 3 {
			t.Errorf("of %d bytes: %v", all, ends)
		}
	})
}

// A disk that fails in the middle ends a run at once, with one line and exit code 1. What was measured can be
// printed, and the run can be continued; where the directory is gone, nothing offers that.
func TestAFailingDisk(t *testing.T) {
	type disk = *simtest.FailingDisk
	type test struct {
		fail   func(w *world, d disk)
		error  string
		within time.Duration
	}
	each(t, map[string]test{
		"read-only":      {func(_ *world, d disk) { d.Fail(syscall.EROFS) }, syscall.EROFS.Error(), time.Second},
		"sync fails":     {func(_ *world, d disk) { d.FailSync(syscall.EIO) }, syscall.EIO.Error(), 3 * time.Second},
		"directory goes": {func(w *world, _ disk) { os.RemoveAll(w.path("run")) }, "nowhere else", time.Second},
	}, func(t *testing.T, w *world, c test) {
		failing := simtest.SoundDisk()
		w.disk = failing
		const at = 6 * time.Second
		time.AfterFunc(at, func() { c.fail(w, failing) })
		began := time.Now()
		code, out, errs := w.llmsweep(plainRun(w.path("run"))...)
		took, stays := time.Since(began), c.error != "nowhere else"
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
}
