//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// process starts llmsweep as a process of its own, in a directory. The program's name, which testscript.Main looks at,
// makes the test binary be llmsweep.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("llmsweep")
	if err != nil {
		t.Fatal(err)
	}
	p := exec.Command(program, args...)
	p.Dir = dir
	p.Env = append(os.Environ(), "LLMSWEEP_API_KEY=", "OPENAI_API_KEY=")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	return p
}

// manyStages is a run of short stages, of which there are so many that a slow signal finds it.
var manyStages = func() []string {
	widths := "1"
	for n := 2; n <= 60; n++ {
		widths += fmt.Sprintf(",%d", n)
	}
	return brief("run", "sim:", "--out", "run", "--duration", "200ms", "--concurrency", widths)
}()

// TestSignals ends a run by Ctrl-C, SIGTERM, SIGHUP and SIGKILL, in real time. What was measured can be printed.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		code   int
	}{"ctrl-c": {syscall.SIGINT, console.Interrupted}, "term": {syscall.SIGTERM, console.Interrupted},
		"hangup": {syscall.SIGHUP, console.Interrupted}, "kill": {syscall.SIGKILL, -1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(c.signal) {
				t.Skipf("%v is ignored where these tests run, as under nohup, and so in the program", c.signal)
			}
			dir := t.TempDir()
			p := process(t, dir, manyStages...)
			eventually(t, "one whole stage", func() bool {
				run, err := store.Open(filepath.Join(dir, "run"))
				return err == nil && len(run.Stages) > 1
			})
			if err := p.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.code {
				t.Fatalf("it ended with %v", err)
			}
			var out, errs strings.Builder
			if code := executeAgain([]string{"report", filepath.Join(dir, "run"), "--format", "markdown"},
				console.NewConsole(t.Context(), &out, &errs)); code != console.Done {
				t.Errorf("exit %d\n%s\n%s", code, out.String(), errs.String())
			}
			if !strings.Contains(out.String(), "| concurrent@1 |") {
				t.Error(out.String())
			}
		})
	}
}

// TestAReaderOfThePageGoes: SIGPIPE comes for a socket whose reader has gone, such as one of the live page. The run
// goes on.
func TestAReaderOfThePageGoes(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGPIPE) {
		t.Skip("SIGPIPE is ignored where these tests run")
	}
	dir := t.TempDir()
	p := process(t, dir, manyStages...)
	stages := func(n int) func() bool {
		return func() bool {
			run, err := store.Open(filepath.Join(dir, "run"))
			return err == nil && len(run.Stages) > n
		}
	}
	eventually(t, "one whole stage", stages(1))
	if err := p.Process.Signal(syscall.SIGPIPE); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three more", stages(4))
}

// TestABrokenPipe closes the pipe that a run prints to, as head does: the run ends as by Ctrl-C, with its report in the
// directory.
func TestABrokenPipe(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGPIPE) {
		t.Skip("SIGPIPE is ignored where these tests run")
	}
	dir := t.TempDir()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("llmsweep")
	if err != nil {
		t.Fatal(err)
	}
	p := exec.Command(program, manyStages...)
	p.Dir, p.Stdout, p.Stderr = dir, writer, writer
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	writer.Close()
	go io.Copy(io.Discard, reader) // until it is closed
	eventually(t, "one whole stage", func() bool {
		run, err := store.Open(filepath.Join(dir, "run"))
		return err == nil && len(run.Stages) > 1
	})
	reader.Close()
	var exit *exec.ExitError
	if err := p.Wait(); !errors.As(err, &exit) || exit.ExitCode() != console.Failed {
		t.Errorf("it ended with %v", err)
	}
	if run := open(t, filepath.Join(dir, "run")); run.State != rundir.Interrupted {
		t.Errorf("the run is %s", run.State)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "run", rundir.ReportFile)); err != nil ||
		!strings.Contains(string(b), "| concurrent@1 |") {
		t.Errorf("the report: %v\n%s", err, b)
	}
}

// TestSelftest runs the self-test, alone and before a measurement.
func TestSelftest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	var out, errs strings.Builder
	code := executeAgain([]string{"selftest", "--quick", "--streams", "20,10,20", "--format", "json"},
		console.NewConsole(t.Context(), &out, &errs))
	var r selftest.Result
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || code != console.Done {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, out.String(), errs.String())
	}
	if len(r.Levels) != 4 || r.Levels[0].Streams != 10 || r.Levels[3].Streams != 20 || r.Decode.Events == 0 ||
		len(r.Arrivals) != 1 {
		t.Errorf("%+v", r)
	}
	dir := filepath.Join(t.TempDir(), "run")
	args := []string{"run", "sim:", "--concurrency", "2", "--requests", "4", "--warmup", "1", "--output-tokens", "4",
		"--plain", "--out", dir}
	if code := executeAgain(args, console.NewConsole(t.Context(), &out, &errs)); code != console.Done {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	if s := open(t, dir).Client.Selftest; s == nil || s.Streams > 0 && !s.TokensPerS.Known() {
		t.Errorf("%+v", s)
	}
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

// TestNoHelperIsLeft interrupts and kills a self-test: its helper processes end too.
func TestNoHelperIsLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("processes are counted in /proc")
	}
	if testing.Short() {
		t.Skip("takes seconds of real time")
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		victim := process(t, t.TempDir(), "selftest", "--streams", "10") // few streams: it begins soon
		var helpers []string
		eventually(t, "a server", func() bool {
			helpers = helpersOf(t, victim.Process.Pid)
			return len(helpers) == 1
		})
		if err := victim.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		victim.Wait()
		if code := victim.ProcessState.ExitCode(); sig == syscall.SIGINT && code != console.Interrupted {
			t.Errorf("exit %d", code)
		}
		eventually(t, "all helpers are gone", func() bool { return !slices.ContainsFunc(helpers, isHelper) })
	}
}

// TestConnections runs a closed loop over real connections. They are open before the first request is due, and the
// kernel stamps what arrives on them.
func TestConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := process(t, dir, "run", "sim:", "--concurrency", "8", "--requests", "16", "--warmup", "0", "--prompt-tokens", "64",
		"--output-tokens", "4", "--no-selftest", "--plain", "--out", "run")
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	run := open(t, filepath.Join(dir, "run"))
	if runtime.GOOS == "linux" && run.Client.Timestamps != "kernel" {
		t.Errorf("timestamps of %q", run.Client.Timestamps)
	}
	n := 0
	for r, err := range store.Records(filepath.Join(dir, "run")) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if r.Dial.Known() {
			t.Errorf("request %d waited %v s for its connection", r.Seq, r.Dial.Value())
		}
	}
	if n != 16 {
		t.Errorf("%d records", n)
	}
}
