//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/selftest"
)

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 30_000 { // five minutes: a loaded machine is slow, and the test has a time limit of its own
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

// helpersOf returns the helper processes of a process, by number.
func helpersOf(t *testing.T, parent int) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, dir := range all {
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", parent)) && isHelper(dir) {
			pids = append(pids, dir)
		}
	}
	return pids
}

// isHelper reports whether the process with that directory in /proc runs and is a helper of a self-test.
func isHelper(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	return err == nil && strings.Contains(string(b), "\x00"+flags.SelftestHelper+"\x00")
}

// manyStages is a run of short stages, of which there are so many that a slow signal finds it.
func manyStages() []string {
	widths := "1"
	for n := 2; n <= 60; n++ {
		widths += fmt.Sprintf(",%d", n)
	}
	return brief("run", "sim:", "--out", "run", "--duration", "200ms", "--concurrency", widths)
}

// wholeStages waits until the run in a directory has more than n stages.
func wholeStages(t *testing.T, dir string, n int) {
	t.Helper()
	eventually(t, "stages", func() bool {
		run, err := store.Open(filepath.Join(dir, "run"))
		return err == nil && len(run.Stages) > n
	})
}

// TestSignals ends a run by Ctrl-C, SIGTERM, SIGHUP and SIGKILL, in real time. What was measured can be printed.
// SIGPIPE, which comes for a socket such as one of the live page, ends nothing; that the pipe it prints to is closed,
// as head does, ends it as by Ctrl-C.
func TestSignals(t *testing.T) {
	t.Parallel()
	const pipe = syscall.Signal(0)
	for s, code := range map[syscall.Signal]int{syscall.SIGINT: console.Interrupted, syscall.SIGTERM: console.Interrupted,
		syscall.SIGHUP: console.Interrupted, syscall.SIGKILL: -1, syscall.SIGPIPE: -1, pipe: console.Failed} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(s) || s == pipe && signal.Ignored(syscall.SIGPIPE) {
				t.Skipf("%v is ignored where these tests run, as under nohup, and so in the program", s)
			}
			dir := t.TempDir()
			reader, writer, err := os.Pipe()
			noError(t, err)
			p := exec.Command("llmsweep", manyStages()...)
			p.Stdout, p.Stderr = writer, writer
			started(t, p, dir)
			writer.Close()
			go io.Copy(io.Discard, reader) // until it is closed
			wholeStages(t, dir, 1)
			if s == pipe {
				reader.Close()
			} else {
				noError(t, p.Process.Signal(s))
			}
			if s == syscall.SIGPIPE {
				wholeStages(t, dir, len(open(t, filepath.Join(dir, "run")).Stages)+2)
				return
			}
			p.Wait()
			if run := open(t, filepath.Join(dir, "run")); p.ProcessState.ExitCode() != code ||
				code >= 0 && run.State != rundir.Interrupted {
				t.Fatalf("it ended with %v, and the run is %s", p.ProcessState, run.State)
			}
			if code, text := command(t, "report", filepath.Join(dir, "run"), "--format", "markdown"); code != console.Done ||
				!strings.Contains(text, "| concurrent@1 |") {
				t.Errorf("exit %d\n%s", code, text)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "run", rundir.ReportFile)); code >= 0 &&
				!strings.Contains(string(text), "| concurrent@1 |") {
				t.Errorf("%v, %s", err, text)
			}
		})
	}
}

// TestSelftest runs the self-test, alone and before a measurement. Where it is killed, its helper process ends too.
func TestSelftest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	dir := filepath.Join(t.TempDir(), "run")
	code, text := command(t, "selftest", "--quick", "--streams", "20,10,20", "--format", "json")
	var r selftest.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil || code != console.Done || len(r.Levels) != 4 ||
		r.Levels[0].Streams != 10 || r.Levels[3].Streams != 20 || r.Decode.Events == 0 || len(r.Arrivals) != 1 {
		t.Fatalf("exit %d, %v, %+v\n%s", code, err, r, text)
	}
	if code, text := command(t, "run", "sim:", "--concurrency", "2", "--requests", "4", "--warmup", "1", "--output-tokens",
		"4", "--plain", "--out", dir); code != console.Done {
		t.Fatalf("exit %d, %s", code, text)
	}
	if s := open(t, dir).Client.Selftest; s == nil || s.Streams > 0 && !s.TokensPerS.Known() {
		t.Errorf("%+v", s)
	}
	if runtime.GOOS != "linux" {
		return // processes are counted in /proc
	}
	victim := process(t, t.TempDir(), "selftest", "--streams", "10") // few streams: it begins soon
	var helpers []string
	eventually(t, "a helper", func() bool {
		helpers = helpersOf(t, victim.Process.Pid)
		return len(helpers) == 1
	})
	victim.Process.Kill()
	eventually(t, "all helpers are gone", func() bool { return !slices.ContainsFunc(helpers, isHelper) })
}

// TestARankIsKilled kills one of two ranks in the middle of a stage. Rank 0 names it and keeps what was measured, and
// two new ranks continue the run.
func TestARankIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	coordinator := free.Addr().String()
	free.Close()
	rank := func(n string, args ...string) (p *exec.Cmd, out *bytes.Buffer) {
		out = &bytes.Buffer{}
		p = exec.Command("llmsweep", append(args, "--rank", n, "--ranks", "2", "--coordinator", coordinator)...)
		p.Env = append(os.Environ(), "LLMSWEEP_CLUSTER_TOKEN=0123456789abcdef")
		p.Stdout, p.Stderr = out, out
		return started(t, p, dir), out
	}
	args := brief("run", "sim:", "--out", "run", "--duration", "2s", "--concurrency", "2,3")
	zero, out := rank("0", args...)
	one, _ := rank("1", args...)
	wholeStages(t, dir, 1)
	noError(t, one.Process.Kill())
	one.Wait()
	zero.Wait()
	if code := zero.ProcessState.ExitCode(); code != console.Failed || !strings.Contains(out.String(), "rank 1 (") ||
		!strings.Contains(out.String(), "concurrent@2") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	cut := open(t, filepath.Join(dir, "run"))
	if cut.State != rundir.Failed || len(cut.Stages) != 2 || cut.Stages[1].State != rundir.Interrupted {
		t.Fatalf("the run is %s, with %d stages", cut.State, len(cut.Stages))
	}
	if code, text := command(t, "report", filepath.Join(dir, "run")); code != console.Done ||
		!strings.Contains(text, "concurrent@2") {
		t.Errorf("exit %d\n%s", code, text)
	}
	zero, _ = rank("0", "resume", "none")
	one, _ = rank("1", "resume", "none")
	zero.Wait()
	one.Wait()
	if zero.ProcessState.ExitCode() != console.WrongUsage || one.ProcessState.ExitCode() != console.Failed {
		t.Errorf("without a run: %v, %v", zero.ProcessState, one.ProcessState)
	}
	zero, out = rank("0", "resume", "run", "--plain")
	one, _ = rank("1", "resume", "run", "--plain")
	zero.Wait()
	one.Wait()
	whole := open(t, filepath.Join(dir, "run"))
	if zero.ProcessState.ExitCode() != console.Done || one.ProcessState.ExitCode() != console.Done ||
		whole.State != rundir.Complete || whole.Stages[0].Requests != cut.Stages[0].Requests {
		t.Errorf("%v, %v, the run is %s\n%s", zero.ProcessState, one.ProcessState, whole.State, out)
	}
}
