//go:build statistics && unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/stats"
)

// TestKilledProcesses kills the program itself with SIGKILL at random instants of a run. Each directory opens, no stage
// that was whole is lost, and resume ends with the stages of the run that was not killed.
func TestKilledProcesses(t *testing.T) {
	const kills = 20
	dir := t.TempDir()
	flags := func(out string) []string {
		return []string{"run", "sim:demo", "--concurrency", "1,2,4,8", "--duration", "500ms", "--warmup", "1",
			"--prompt-tokens", "16", "--output-tokens", "4",
			"--no-selftest", "--plain", "--out", out}
	}
	began := time.Now()
	whole := process(t, dir, flags("whole")...)
	if err := whole.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	want := stageNames(open(t, filepath.Join(dir, "whole")))
	rng := stats.Rand(1, "kills", "")
	early, complete, continued, stages := 0, 0, 0, 0
	for i := range kills {
		out := filepath.Join(dir, "killed")
		p := process(t, dir, flags("killed")...)
		time.Sleep(time.Duration(rng.Int64N(int64(took))))
		p.Process.Kill()
		p.Wait()
		run, err := store.Open(out)
		if err != nil {
			if _, there := os.Stat(filepath.Join(out, rundir.RunFile)); !errors.Is(there, fs.ErrNotExist) {
				t.Errorf("kill %d: %v", i, err)
			}
			early++
		} else {
			var kept []string
			for _, s := range run.Stages {
				if s.State == rundir.Complete {
					kept = append(kept, s.Name)
				}
			}
			stages += len(kept)
			resume := process(t, dir, "resume", "killed", "--plain")
			err := resume.Wait()
			var exit *exec.ExitError
			switch again := open(t, out); {
			case run.State == rundir.Complete && errors.As(err, &exit) && exit.ExitCode() == 2:
				complete++
			case err != nil || again.State != rundir.Complete || !slices.Equal(stageNames(again), want):
				t.Errorf("kill %d: resumed: %v, %s, %q, want %q", i, err, again.State, stageNames(again), want)
			default:
				continued++
				if now := strings.Join(stageNames(again), " "); !strings.HasPrefix(now, strings.Join(kept[:max(0, len(kept)-1)],
					" ")) {
					t.Errorf("kill %d: %q were whole, and now there are %q", i, kept, now)
				}
			}
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills within %v: %d before there was a run, %d after its end, %d continued with %d stages kept", kills,
		took, early, complete, continued, stages)
}
