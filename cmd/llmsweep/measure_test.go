package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// quick are the flags of a short sweep.
func quick(args ...string) []string {
	return append(args, "--stage-time", "2s", "--points", "2", "--warmup", "1", "--prompt-tokens", "64",
		"--output-tokens", "8", "--max-concurrency", "32", "--no-selftest", "--plain")
}

// brief are the flags of a short run.
func brief(args ...string) []string {
	return append(args, "--warmup", "1", "--prompt-tokens", "64", "--output-tokens", "8", "--no-selftest", "--plain")
}

// open opens a run directory.
func open(t *testing.T, dir string) *rundir.Run {
	t.Helper()
	run, err := store.Open(dir)
	noError(t, err)
	return run
}

// inJSON returns a value as JSON.
func inJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	noError(t, err)
	return string(b)
}

// TestInterruptedPreflight interrupts before anything was measured: exit code 130, and no directory.
func TestInterruptedPreflight(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		w.interruptAfter(time.Second)
		w.exits(console.Interrupted, "interrupted before anything was measured", quick("sweep", url)...)
		if _, err := os.Stat(w.path("llmsweep-run")); err == nil {
			t.Error("a run directory is left behind")
		}
	})
}

// recordsOf reads the records of a run directory.
func recordsOf(t *testing.T, dir string) (all []rundir.Record) {
	t.Helper()
	for r, err := range store.Records(dir) {
		noError(t, err)
		all = append(all, *r)
	}
	return all
}

// TestSweep sweeps the simulated server, prints the result in each format, and audits it.
func TestSweep(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, _ := w.must(quick("sweep", "sim:", "--label", "gpu=L20 48GB,gpus=2")...)
		dir := w.path("llmsweep-run")
		run := open(t, dir)
		if run.State != rundir.Complete || run.Saturation == nil || len(run.Stages) < 4 || run.Labels.GPUs != 2 {
			t.Fatalf("state %s, saturation %v, %d stages, labels %+v", run.State, run.Saturation, len(run.Stages), run.Labels)
		}
		if off := run.Saturation.Rate.Value()/run.Target.Capacity.Value() - 1; math.Abs(off) > 0.1 {
			t.Errorf("saturates at %v of %v", run.Saturation.Rate.Value(), run.Target.Capacity.Value())
		}
		if args := strings.Join(run.Command.Args, " "); !strings.HasPrefix(args, "llmsweep sweep sim: --label gpu=L20") ||
			run.Command.Timeout != 600 || strings.Contains(out, "\x1b") {
			t.Errorf("the command is %+v\n%s", run.Command, out)
		}
		for flags, want := range map[string]string{
			"console": "synchronous", "markdown": "| synchronous |", "csv": "latency_s_mean",
			"json": `"schema": "llmsweep.run/v1"`, "markdown --lang zh": "**2**张**L20 48GB**",
		} {
			w.exits(console.Done, want, append([]string{"report", dir, "--format"}, strings.Fields(flags)...)...)
		}
		if out, errs := w.must("audit", dir); errs != "" {
			t.Errorf("audit: %s\n%s", out, errs)
		}
		// A record that cannot be right is found.
		records := "llmsweep-run/" + rundir.RecordsFile
		w.write(records, contentOf(t, w.path(records))+`{"stage":"synchronous","seq":9,"turn":0,"due":1,"sent":1,`+
			`"first_token":0.5,"last_token":2,"end":2,"status":"ok"}`+"\n")
		w.exits(console.Failed, "500.00 ms", "audit", dir)
	})
}

// TestFailingServer measures a server that fails each request after the preflight: rows without numbers, exit code 1.
func TestFailingServer(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		good := w.simulated(simserver.Options{})
		url, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if _, err := os.Stat(w.path("llmsweep-run")); err == nil && r.Method == http.MethodPost {
				http.Error(rw, `{"error":{"message":"CUDA out of memory"}}`, http.StatusInternalServerError)
				return
			}
			good.ServeHTTP(rw, r)
		}))
		text := w.exits(console.Failed, "CUDA out of memory", quick("sweep", url)...)
		if state := open(t, w.path("llmsweep-run")).State; state != rundir.Failed || !containsAll(text, "n/a", "http_5xx") {
			t.Errorf("state %s\n%s", state, text)
		}
	})
}

// containsAll reports whether a text has all parts.
func containsAll(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
}

// TestConfigFile takes flags, labels, headers, a body and the URL from a file, hidden flags too; the command line wins.
func TestConfigFile(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		config := w.write("c.yaml", "url: '"+w.slow()+"'\nduration: 2s\nno-selftest: true\nconcurrency: 1\nwarmup: 1\n"+
			"prompt-tokens: 64\noutput-tokens: 8\nlabel: {gpu: H100, gpus: 4}\nbody: {top_p: 0.9, stop: [a, b]}\n"+
			"header: {X-One: a, X-Two: b}\nslo: ['errors<50%']\ndrain: 3s\n")
		w.must("run", "--config", config, "--out", w.path("run"), "--concurrency", "2")
		run := open(t, w.path("run"))
		if run.Labels.GPU != "H100" || run.Labels.GPUs != 4 || run.Stages[0].MaxConcurrency != 2 || len(run.Plan.SLO) != 1 ||
			run.Plan.Drain != 3 || !slices.Equal(run.Command.Headers, []string{"X-One", "X-Two"}) ||
			!strings.Contains(string(run.Command.Body), "0.9") {
			t.Errorf("labels %+v, plan %+v, command %+v", run.Labels, run.Plan, run.Command)
		}
	})
}

// TestRepeats measures a run of two loads, and a sweep, several times, with prompts and orders of their own, and
// reports the spread.
func TestRepeats(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		dir := w.path("runs")
		args := brief("run", "sim:", "--concurrency", "4,8", "--requests", "20", "--repeats", "3", "--out", dir)
		w.exits(console.Done, "between runs", args...)
		var orders []string
		for i := range 3 {
			run := open(t, filepath.Join(dir, strconv.Itoa(i+1)))
			orders = append(orders, run.Stages[0].Name)
			if len(run.Stages) != 2 || run.State != rundir.Complete || run.Workload.Seed != uint64(42+i) ||
				!slices.Contains(run.Command.Args, fmt.Sprint("--seed=", 42+i)) {
				t.Errorf("%d: %s, %d stages, seed %d, %q", i, run.State, len(run.Stages), run.Workload.Seed, run.Command.Args)
			}
		}
		if slices.Sort(orders); len(slices.Compact(orders)) != 2 {
			t.Errorf("every run began with %v", orders)
		}
		w.exits(console.WrongUsage, "already holds a run", args...)
		w.must("compare", dir, "--", filepath.Join(dir, "2"))
		w.exits(console.Done, "from 4 runs", brief("sweep", w.slow(), "--points", "1", "--stage-time", "500ms", "--budget",
			"30s", "--repeats", "2", "--out", w.path("sweeps"))...)
		if second := open(t, w.path("sweeps/2")); second.Workload.Seed != 43 || second.Plan.Repeats != 0 {
			t.Errorf("seed %d, %d repeats", second.Workload.Seed, second.Plan.Repeats)
		}
	})
}
