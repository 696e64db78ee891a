package main

import (
	"encoding/json"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// brisk are the flags that make a comparison of two servers short enough for a test.
var brisk = []string{"--no-selftest", "--stage-time", "100ms", "--budget", "1s", "--warmup", "1", "--prompt-tokens", "64", "--output-tokens", "4", "--plain"}

func TestCompareLive(t *testing.T) {
	a, b := server(t, sim.ServerOptions{APIKey: "key-of-a"}), server(t, sim.ServerOptions{APIKey: "key-of-b"})
	t.Chdir(t.TempDir())
	args := append([]string{"compare", "--live", a, b, "--api-key", "key-of-a", "--api-key-b", "key-of-b", "--rate", "20", "--concurrency", "4",
		"--label", "gpu=L20,engine=old", "--label-b", "engine=new", "--out", "pair"}, brisk...)
	code, out, errs := llmsweep(append(args, "--fail-if", "latency@20rps>900%", "--fail-if", "errors>50%")...)
	if code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, want := range []string{"A = " + a, "B = " + b, "20.00 req/s", "4 in flight", "output tok/s*", "latency*", "Conclusion", "smallest detectable"} {
		if !strings.Contains(out, want) {
			t.Errorf("does not print %q:\n%s", want, out)
		}
	}
	if !strings.Contains(errs, "pilot: 2 blocks") || !strings.Contains(errs, "B poisson@20.00 #1") {
		t.Errorf("does not tell how it goes:\n%s", errs)
	}
	for _, paths := range [][]string{{"pair"}, {"pair/a", "pair/b"}} {
		code, again, errs := llmsweep(append([]string{"compare", "--plain"}, paths...)...)
		if code != exitDone || again != out {
			t.Errorf("compare %v: exit %d, not the same\n%s%s", paths, code, again, errs)
		}
	}
	code, _, errs = llmsweep("compare", "pair", "--fail-if", "itl@20rps>-99%")
	if code == exitUsage || code == exitFailed && !strings.Contains(errs, "itl@20rps of B") {
		t.Errorf("exit %d: %s", code, errs)
	}
	_, text, _ := llmsweep("compare", "pair", "--format", "json")
	var v struct {
		Blocks int
		Rows   []struct{ Key string }
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil || v.Blocks != 2 || len(v.Rows) != 6 {
		t.Errorf("%v: %d blocks, %d rows", err, v.Blocks, len(v.Rows))
	}
	if code, out, errs := llmsweep("audit", "pair/a", "pair/b"); code != exitDone {
		t.Errorf("audit: exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := llmsweep("report", "pair/b"); code != exitDone || !strings.Contains(out, "poisson@20.00 #4") || !strings.Contains(out, "new") {
		t.Errorf("report: exit %d\n%s%s", code, out, errs)
	}
	noKeys(t, "pair")
	if code, _, errs := llmsweep(args...); code != exitUsage || !strings.Contains(errs, "already holds a comparison") {
		t.Errorf("a second one into the same directory: exit %d, %s", code, errs)
	}
}

// noKeys reports whether no file holds a key.
func noKeys(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "key-of-") {
			t.Errorf("%s holds a key", path)
		}
		return err
	})
	if err != nil || files != 8 { // pair.json and a report; each side's three
		t.Errorf("%d files, %v", files, err)
	}
}

// One URL twice is a test of the comparison itself.
func TestCompareLiveWithItself(t *testing.T) {
	url := server(t, sim.ServerOptions{})
	t.Chdir(t.TempDir())
	code, out, errs := llmsweep(append([]string{"compare", "--live", url, url, "--concurrency", "4", "--lang", "zh"}, brisk...)...)
	if code != exitDone || !strings.Contains(out, "结论") || !strings.Contains(errs, "同一服务") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if _, err := os.Stat("llmsweep-pair/b/records.jsonl"); err != nil {
		t.Error(err)
	}
}

// whenPaired does something once both servers are being measured in turns.
func whenPaired(dir string, do func()) {
	for range 3000 {
		if p, ok, err := rundir.OpenPair(dir); ok && err == nil && len(p.Loads) > 0 {
			do()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestCompareLiveIsInterrupted(t *testing.T) {
	url := server(t, sim.ServerOptions{})
	t.Chdir(t.TempDir())
	go whenPaired("pair", func() { syscall.Kill(os.Getpid(), syscall.SIGINT) })
	code, _, errs := llmsweep(append([]string{"compare", "--live", url, "sim:", "--rate", "20", "--out", "pair"}, append(brisk, "--budget", "10m")...)...)
	if code != exitInterrupted || !strings.Contains(errs, "interrupted; what was measured is in ") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if code, out, errs := llmsweep("compare", "pair"); code != exitDone || !strings.Contains(out, "interrupted") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

func TestCompareLiveLosesAServer(t *testing.T) {
	dying := httptest.NewServer(simulated(t, sim.ServerOptions{}))
	t.Chdir(t.TempDir())
	go whenPaired("pair", func() { dying.CloseClientConnections(); dying.Close() })
	code, _, errs := llmsweep(append([]string{"compare", "--live", "sim:", dying.URL, "--rate", "20", "--out", "pair"}, append(brisk, "--budget", "10m")...)...)
	if code != exitFailed || !strings.Contains(errs, "the comparison failed: B: ") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	p, _, err := rundir.OpenPair("pair")
	if err != nil || p == nil || p.State != rundir.Failed {
		t.Errorf("%v, %+v", err, p)
	}
}

func TestCompareLiveRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, says string }{
		{"compare sim: sim:", "--live"},
		{"compare --live sim:", "two servers"},
		{"compare --live sim: sim: --difference 3", "3%"},
		{"compare --live sim: sim: --difference 0%", "above 0"},
		{"compare --live sim: sim: --budget -3s", "--budget"},
		{"compare --live sim: sim: --rate 0", "--rate 0"},
		{"compare --live sim: sim: --concurrency 0", "--concurrency"},
		{"compare --live sim: sim: --stage-time 1ms", "--stage-time"},
		{"compare --live sim: sim: --fail-if ttft@sync>5% --rate 4", "ttft@4rps"},
		{"compare --live sim: sim:Llama/Abacus", "B: "},
		{"compare --live sim: sim: --label color=red", "--label"},
	} {
		code, out, errs := llmsweep(strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, not one line with %q\n%s%s", c.args, code, c.says, out, errs)
		}
	}
}
