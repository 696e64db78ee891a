package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

func TestSelftest(t *testing.T) {
	code, out, errs := llmsweep("selftest", "--quick", "--streams", "20,10,20", "--format", "json")
	var r selftest.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v\n%s\n%s", code, err, out, errs)
	}
	if len(r.Levels) != 4 || r.Levels[0].Streams != 10 || r.Levels[3].Streams != 20 || r.Decode == nil || len(r.Arrivals) != 1 {
		t.Errorf("%+v", r)
	}
	for lang, want := range map[string]string{"en": "On this machine trust", "zh": "在本机上"} {
		if code, out, errs := llmsweep("selftest", "--quick", "--streams", "10", "--lang", lang); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("exit %d\n%s\n%s", code, out, errs)
		}
	}
	if code, _, errs := llmsweep("selftest", "--streams", "0"); code != exitUsage || !strings.Contains(errs, "--streams") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A measurement begins with a self-test, and keeps what it found.
func TestAMeasurementBeginsWithASelftest(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, errs := llmsweep("run", "sim:", "--concurrency", "2", "--requests", "4", "--warmup", "1", "--output-tokens", "4", "--plain", "--out", "run")
	if code != exitDone || !strings.Contains(errs, "On this machine trust") {
		t.Fatalf("exit %d, %s", code, errs)
	}
	run, err := rundir.Open("run")
	if err != nil {
		t.Fatal(err)
	}
	if s := run.Client.Selftest; s == nil || s.Streams > 0 && !s.TokensPerS.Known() || s.Streams == 0 && s.Limit == "" {
		t.Errorf("%+v", s)
	}
}

// helpersOf counts the helper processes of a program.
func helpersOf(t *testing.T, program string) int {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	n := 0
	for _, file := range all {
		b, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(b), program+"\x00"+selftestHelper+"\x00") {
			n++
		}
	}
	return n
}

// No helper outlives llmsweep, however that ends.
func TestNoHelperIsLeftBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are counted in /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eventually := func(what string, f func() bool) {
		t.Helper()
		for range 3000 {
			if f() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("never: " + what)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		victim := exec.Command(self, "selftest")
		victim.Env = append(os.Environ(), "LLMSWEEP_BE_MAIN=1")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		eventually("a helper and a hog", func() bool { return helpersOf(t, self) == 2 })
		if err := victim.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		victim.Wait()
		if code := victim.ProcessState.ExitCode(); sig == syscall.SIGINT && code != exitInterrupted {
			t.Errorf("exit %d", code)
		}
		eventually("all gone", func() bool { return helpersOf(t, self) == 0 })
	}
}
