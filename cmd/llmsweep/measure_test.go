package main

import (
	"encoding/json"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestSweep sweeps the simulated server and renders the result in each format.
func TestSweep(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, _ := w.must(quick("sweep", "sim:", "--label", "gpu=L20 48GB,gpus=2")...)
		dir := w.path("llmsweep-run")
		for _, name := range []string{rundir.RunFile, rundir.RecordsFile, rundir.ReportFile} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Contains(out, "\x1b") {
			t.Error("escape sequences without a terminal")
		}
		run := open(t, dir)
		if run.State != rundir.Complete || run.Saturation == nil || len(run.Stages) < 4 || run.Labels.GPUs != 2 {
			t.Errorf("state %s, saturation %v, %d stages, labels %+v", run.State, run.Saturation, len(run.Stages), run.Labels)
		}
		if off := run.Saturation.Rate.Value()/run.Target.Capacity.Value() - 1; math.Abs(off) > 0.1 {
			t.Errorf("saturates at %v of %v", run.Saturation.Rate.Value(), run.Target.Capacity.Value())
		}
		if args := strings.Join(run.Command.Args, " "); !strings.HasPrefix(args, "llmsweep sweep sim: --label gpu=L20") ||
			run.Command.Timeout != 600 {
			t.Errorf("the command is %+v", run.Command)
		}
		for format, want := range map[string]string{
			"console": "synchronous", "markdown": "| synchronous |", "csv": "latency_s_mean",
			"json": `"schema": "llmsweep.run/v1"`,
		} {
			if out, _ := w.must("report", dir, "--format", format); !strings.Contains(out, want) {
				t.Errorf("--format %s: no %q\n%s", format, want, out)
			}
		}
		if out, _ := w.must("report", dir, "--format", "markdown", "--lang", "zh"); !strings.Contains(out,
			"**2**张**L20 48GB**") {
			t.Errorf("the Chinese report:\n%s", out)
		}
		if out, errs := w.must("audit", dir); errs != "" {
			t.Errorf("audit: %s\n%s", out, errs)
		}
		// A record that cannot be right is found.
		records, err := os.OpenFile(filepath.Join(dir, rundir.RecordsFile), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		records.WriteString(`{"stage":"synchronous","seq":9,"turn":0,"due":1,"sent":1,"first_token":0.5,"last_token":2,"end":2,"status":"ok"}` + "\n")
		records.Close()
		if code, out, errs := w.llmsweep("audit", dir); code != console.Failed || !strings.Contains(out, "500.00 ms") {
			t.Errorf("audit: exit %d\n%s%s", code, out, errs)
		}
	})
}

// TestFailingServer measures a server that fails each request after the preflight: rows without numbers, and exit code
// 1.
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
		code, out, errs := w.llmsweep(quick("sweep", url)...)
		if code != console.Failed || !strings.Contains(out, "n/a") || !strings.Contains(out, "http_5xx") ||
			!strings.Contains(out, "CUDA out of memory") {
			t.Errorf("exit %d\n%s\n%s", code, out, errs)
		}
		run := open(t, w.path("llmsweep-run"))
		if run.State != rundir.Failed || run.Stages[0].Latency.Mean.Known() || run.Stages[0].Errors["http_5xx"] == 0 {
			t.Errorf("state %s, %+v", run.State, run.Stages[0])
		}
	})
}

// TestInterrupt interrupts a sweep: it ends at once with exit code 130, and keeps what was measured.
func TestInterrupt(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.interruptAfter(6 * time.Second)
		began := time.Now()
		code, _, errs := w.llmsweep(quick("sweep", "sim:")...)
		if code != console.Interrupted || !strings.Contains(errs, "interrupted") || time.Since(began) > 20*time.Second {
			t.Fatalf("exit %d after %v\n%s", code, time.Since(began), errs)
		}
		run := open(t, w.path("llmsweep-run"))
		if run.State != rundir.Interrupted || len(run.Stages) < 2 || run.Stages[0].State != rundir.Complete {
			t.Errorf("state %s, %d stages", run.State, len(run.Stages))
		}
		w.must("report", w.path("llmsweep-run"))
	})
}

// TestInterruptedPreflight interrupts before anything was measured: exit code 130, and no directory.
func TestInterruptedPreflight(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		w.interruptAfter(time.Second)
		code, _, errs := w.llmsweep(quick("sweep", url)...)
		if code != console.Interrupted || !strings.Contains(errs, "interrupted before anything was measured") {
			t.Errorf("exit %d, %s", code, errs)
		}
		if _, err := os.Stat(w.path("llmsweep-run")); err == nil {
			t.Error("a run directory is left behind")
		}
	})
}

// TestSecrets measures a server that repeats the API key in its errors: key, header values and credentials in the URL
// appear in no file and no output, and the rest of the command line does.
func TestSecrets(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		const secret = "very-secret-0123456789"
		good := w.simulated(simserver.Options{APIKey: secret + "-key"})
		var n atomic.Int64
		url, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if n := n.Add(1); n > 20 && n%3 == 0 && r.Method == http.MethodPost {
				http.Error(rw, `{"error":{"message":"no quota for `+r.Header.Get("Authorization")+r.Header.Get("Cookie")+`"}}`,
					http.StatusTooManyRequests)
				return
			}
			good.ServeHTTP(rw, r)
		}))
		_, at, _ := strings.Cut(url, "://")
		out, errs := w.must(quick("sweep", "http://"+at+"/v1?token="+secret+"-query", "--max-error-rate", "1", "--api-key",
			secret+"-key",
			"--header", "Cookie: "+secret+"-cookie", "--body", `{"top_p":0.9,"user":"`+secret+`-key"}`, "--timeout", "90s")...)
		if !strings.Contains(out, "http_429") || strings.Contains(out+errs, secret) {
			t.Errorf("%s\n%s", out, errs)
		}
		files := 0
		err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files++
			b, err := os.ReadFile(path)
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds a secret", path)
			}
			return err
		})
		if err != nil || files != 7 { // run.json, records.jsonl, server.jsonl, report.md with two drawings, and report.html
			t.Errorf("%d files, %v", files, err)
		}
		c := open(t, w.path("llmsweep-run")).Command
		var body map[string]any
		if err := json.Unmarshal(c.Body, &body); err != nil || body["top_p"] != 0.9 ||
			!slices.Equal(c.Headers, []string{"Cookie"}) || c.Timeout != 90 {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// TestConfigFile sweeps with flags, labels, headers, a body and the URL from a file; the command line wins.
func TestConfigFile(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		config := w.write("c.yaml", "url: '"+w.slow()+
			"'\nstage-time: 2s\nno-selftest: true\npoints: 1\nwarmup: 1\nprompt-tokens: 64\noutput-tokens: 8\nmax-concurrency: 16\n"+
			"label: {gpu: H100, gpus: 4}\nbody: {top_p: 0.9, stop: [a, b]}\nheader: {X-One: a, X-Two: b}\nslo: ['errors<50%']\n")
		w.must("sweep", "--config", config, "--out", w.path("run"), "--points", "2")
		run := open(t, w.path("run"))
		if run.Labels.GPU != "H100" || run.Labels.GPUs != 4 || run.Plan.Points != 2 || run.Plan.StageTime != 2 ||
			!slices.Equal(run.Command.Headers, []string{"X-One", "X-Two"}) {
			t.Errorf("labels %+v, plan %+v, command %+v", run.Labels, run.Plan, run.Command)
		}
		var body map[string]any
		if err := json.Unmarshal(run.Command.Body, &body); err != nil || body["top_p"] != 0.9 {
			t.Errorf("body %s, %v", run.Command.Body, err)
		}
	})
}

// TestRepeats measures a run of two loads three times, in one order and the other, with prompts of their own, and
// reports the spread.
func TestRepeats(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		dir := w.path("runs")
		out, _ := w.must(brief("run", "sim:", "--concurrency", "4,8", "--requests", "20", "--repeats", "3", "--out", dir)...)
		if !strings.Contains(out, "between runs") {
			t.Error(out)
		}
		var orders []string
		for _, part := range []string{"1", "2", "3"} {
			run := open(t, filepath.Join(dir, part))
			orders = append(orders, run.Stages[0].Name)
			if len(run.Stages) != 2 || run.State != rundir.Complete {
				t.Errorf("%s: %s, %d stages", part, run.State, len(run.Stages))
			}
		}
		if slices.Sort(orders); len(slices.Compact(orders)) != 2 {
			t.Errorf("every run began with %v", orders)
		}
	})
}

// TestGate judges runs by their SLO: exit code 0 where it is met, 3 where it is missed, 4 where it is not decided.
func TestGate(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			name    string
			slo     []string
			code    int
			verdict rundir.SLOVerdict
		}{
			{"met", []string{"latency:mean<1m", "ttft_due:mean<1m", "errors<50%"}, console.Done, "kept"},
			{"missed", []string{"latency:mean<1ms", "ttft:p99<1m"}, console.Missed, "broken"},
			{"undecided", []string{"ttft:p99<1m"}, console.Undecided, "unsure"},
		} {
			args := brief("run", "sim:", "--concurrency", "4", "--requests", "40", "--out", w.path(c.name))
			for _, term := range c.slo {
				args = append(args, "--slo", term)
			}
			code, out, errs := w.llmsweep(args...)
			g := open(t, w.path(c.name)).Stages[0].Goodput
			if code != c.code || g == nil || c.verdict != "" && g.Verdict != c.verdict || c.verdict == "" &&
				(g.Verdict == "kept" || g.Verdict == "broken") {
				t.Errorf("%s: exit %d, %+v\n%s\n%s", c.name, code, g, out, errs)
			}
			if (code == console.Done) != (errs == "" || !strings.Contains(errs, "llmsweep: ")) {
				t.Errorf("%s: exit %d, and the error is %q", c.name, code, errs)
			}
		}
	})
}

// TestSweepForSLO sweeps for the highest rate within an SLO, and judges the result again with other terms.
func TestSweepForSLO(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must(quick("sweep", w.slow(), "--slo", "latency:mean<1m", "--out", w.path("met"))...)
		if s := open(t, w.path("met")).SLO; s == nil || s.Rate.IsZero() {
			t.Errorf("%+v", s)
		}
		code, out, errs := w.llmsweep(quick("sweep", w.slow(), "--slo", "latency:mean<1ms", "--out", w.path("missed"))...)
		run := open(t, w.path("missed"))
		if s := run.SLO; code != console.Missed || s == nil || s.Verdict != "broken" || !s.Rate.IsZero() ||
			s.Limiting != "latency:mean<1ms" || run.Plan.SLO[0] != s.Limiting || run.Stages[0].Goodput.Rate.Value() != 0 {
			t.Errorf("exit %d, %+v of %v\n%s\n%s", code, s, run.Plan.SLO, out, errs)
		}
		if out, _ := w.must("report", w.path("missed"), "--slo", "latency:mean<1m", "--slo",
			"tpot:mean<1m"); !strings.Contains(out, "latency:mean<60s, tpot:mean<60s") {
			t.Error(out)
		}
		if code, _, errs := w.llmsweep("report", w.path("missed"), "--slo", "latency<1m"); code != console.WrongUsage {
			t.Errorf("exit %d\n%s", code, errs)
		}
	})
}

// TestFormatsAgree prints one run in the three published formats and reads them back: the numbers agree.
func TestFormatsAgree(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		block, _ := w.must("run", "sim:", "--concurrency", "4", "--requests", "24", "--prompt-tokens", "64",
			"--output-tokens", "12", "--warmup", "1",
			"--no-selftest", "--plain", "--format", "serving", "--out", w.path("run"))
		if !strings.Contains(block, "Total generated tokens (retokenized):    288\n") { // the simulator counts tokens
			t.Errorf("no retokenized total:\n%s", block)
		}
		want := &open(t, w.path("run")).Stages[0]
		for _, format := range []string{"stress", "serving", "markdown"} {
			text, _ := w.must("report", w.path("run"), "--format", format)
			w.must("import", w.write(format+".txt", text), "--out", w.path(format))
			dirs, err := filepath.Glob(filepath.Join(w.path(format), "*", rundir.RunFile))
			if err != nil || len(dirs) != 1 {
				t.Fatalf("%s: run directories %v, %v", format, dirs, err)
			}
			got := &open(t, filepath.Dir(dirs[0])).Stages[0]
			for name, f := range map[string][2]rundir.Number{
				"requests per second": {got.Rates.Completed, want.Rates.Completed},
				"tokens per second":   {got.TokensPerS.Output, want.TokensPerS.Output},
				"latency":             {got.Latency.Mean, want.Latency.Mean},
				"median latency":      {got.Latency.P50, want.Latency.P50},
				"TTFT":                {got.TTFT.Mean, want.TTFT.Mean},
			} {
				if f[0].IsZero() { // not in this format
					continue
				}
				if off := math.Abs(f[0].Value() - f[1].Value()); off > 0.006+0.01*f[1].Value() { // printed to two decimals
					t.Errorf("%s: %s is %v, and was measured as %v", format, name, f[0].Value(), f[1].Value())
				}
			}
			if got.Rates.Completed.IsZero() || got.Latency.Mean.IsZero() {
				t.Errorf("%s: nothing was read back", format)
			}
		}
	})
}
