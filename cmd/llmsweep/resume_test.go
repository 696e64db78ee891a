package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// again lets commands run after an interruption.
func (w *world) again() { w.ctx, w.cancel = context.WithCancelCause(w.t.Context()) }

// plainSweep are the flags of a short sweep of a server without random numbers.
func plainSweep(out string) []string {
	return []string{"sweep", "sim:plain8", "--points", "2", "--stage-time", "3s", "--max-concurrency", "16",
		"--prompt-tokens", "64", "--output-tokens", "16",
		"--no-selftest", "--out", out}
}

// An interrupted sweep that is resumed prints the table of one that was not. The directory is refused to other commands
// meanwhile.
func TestResume(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must(plainSweep(w.path("whole"))...)
		table, _ := w.must("report", w.path("whole"), "--format", "markdown")
		w.interruptAfter(25 * time.Second)
		if code, _, errs := w.llmsweep(plainSweep(w.path("cut"))...); code != console.Interrupted ||
			!strings.Contains(errs, "llmsweep resume") {
			t.Fatalf("exit %d\n%s", code, errs)
		}
		w.again()
		if code, _, errs := w.llmsweep(plainSweep(w.path("cut"))...); code != console.WrongUsage ||
			!strings.Contains(errs, "resume") || !strings.Contains(errs, "--force") {
			t.Errorf("into an existing directory: exit %d\n%s", code, errs)
		}
		unlock, err := store.OS{}.Lock(w.path("cut"))
		if err != nil {
			t.Fatal(err)
		}
		if code, _, errs := w.llmsweep("resume", w.path("cut")); code != console.WrongUsage ||
			!strings.Contains(errs, "still being measured") {
			t.Errorf("a run in progress: exit %d\n%s", code, errs)
		}
		unlock()
		time.Sleep(time.Hour)
		w.must("resume", w.path("cut"))
		got, _ := w.must("report", w.path("cut"), "--format", "markdown")
		if rows(got) != rows(table) || !strings.Contains(rows(got), "synchronous") {
			t.Errorf("resumed:\n%s\nwhole:\n%s", got, table)
		}
		said, _ := w.must("report", w.path("cut"), "--all")
		if !strings.Contains(said, "was continued") {
			t.Errorf("not said:\n%s", said)
		}
		if code, _, errs := w.llmsweep("resume", w.path("cut")); code != console.WrongUsage ||
			!strings.Contains(errs, "nothing to continue") {
			t.Errorf("a whole run: exit %d\n%s", code, errs)
		}
	})
}

// rows returns the tables of a report, without the gauges, which are read at other instants.
func rows(report string) string {
	var all []string
	report, _, _ = strings.Cut(report, "### Server metrics")
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "|") {
			all = append(all, line)
		}
	}
	return strings.Join(all, "")
}

// A disk that fails in the middle ends a run within a second, with one line and exit code 1. What was measured can be
// printed.
func TestAFailingDisk(t *testing.T) {
	for name, failure := range map[string]error{"full": syscall.ENOSPC, "read-only": syscall.EROFS,
		"broken": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				failing := simtest.SoundDisk()
				w.disk = failing
				const at = 20 * time.Second
				time.AfterFunc(at, func() { failing.Fail(failure) })
				began := time.Now()
				code, out, errs := w.llmsweep(plainSweep(w.path("run"))...)
				if took := time.Since(began); took > at+time.Second {
					t.Errorf("it ended %v after the failure", took-at)
				}
				said := errs[strings.LastIndex(strings.TrimSpace(errs), "\n")+1:]
				if code != console.Failed || strings.Count(errs, failure.Error()) != 1 ||
					!strings.Contains(said, "llmsweep resume") {
					t.Errorf("exit %d\n%s", code, errs)
				}
				if !strings.Contains(out, "synchronous") {
					t.Errorf("no table:\n%s", out)
				}
				w.disk = store.OS{}
				if out, _ := w.must("report", w.path("run")); !strings.Contains(out, "synchronous") {
					t.Errorf("report:\n%s", out)
				}
				if failure == syscall.ENOSPC { // the others would be continued in the same way
					w.must("resume", w.path("run"))
				}
			})
		})
	}
}
