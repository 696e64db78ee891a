package published

import (
	"strings"
	"testing"
	"time"

	"llmsweep/report/findings"
	"llmsweep/sweep/rundir"
)

func TestTrafficRate(t *testing.T) {
	for rate, want := range map[rundir.Number]string{
		rundir.Exactly(20): "20.0", rundir.Exactly(0.5): "0.5", rundir.Exactly(1.57): "1.57",
		rundir.Exactly(182.8406): "182.84",
		rundir.Exactly(0.0213):   "0.0213", {}: "inf",
	} {
		if got := trafficRate(rate); got != want {
			t.Errorf("%v: %s, want %s", rate.Value(), got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for url, base := range map[string]bool{
		"http://localhost:8000": true, "http://localhost:8000/": true, "http://localhost:8000/v1": true,
		"http://h/openai/v1/":                  true,
		"http://localhost:8000/v1/completions": false, "http://localhost:8000/generate": false, "sim:demo": true, "": true,
	} {
		if isBase(url) != base {
			t.Errorf("%s: %v", url, !base)
		}
	}
}

// TestSixColumnNames checks that repetitions have one name in the six-column table: readers of that format know no
// others.
func TestSixColumnNames(t *testing.T) {
	for kind, want := range map[string]string{
		"poisson": "asynchronous@2.00 req/sec", "constant": "constant@2.00 req/sec", "concurrent": "concurrent@2.00",
	} {
		s := rundir.Stage{Name: kind + "@2.00#3", Kind: kind, Repeat: 3}
		if kind != "concurrent" {
			s.Rate = rundir.Exactly(2)
		}
		if got := sixColumnName(&s); got != want {
			t.Errorf("%s is published as %s, want %s", s.Name, got, want)
		}
	}
}

// TestStressTitles tests that each table has the end of its own stage, and that the engine is named where its own API
// was used.
func TestStressTitles(t *testing.T) {
	run := &rundir.Run{Started: time.Date(2025, 4, 29, 14, 0, 0, 0, time.UTC), Ended: time.Date(2025, 4, 29, 15, 0, 0, 0,
		time.UTC)}
	stage := &rundir.Stage{Started: 60, Ended: 90, Window: 25}
	for _, c := range []struct{ api, engine, title, label, address string }{
		{"chat", "vLLM", "LLM Stress Test Results - 2025-04-29 14:01:30", "API Base", "http://h:8000/v1"},
		{"completions", "vLLM", "vLLM Stress Test Results - 2025-04-29 14:01:30", "URL", "http://h:8000/v1/completions"},
		{"sglang", "SGLang", "SGLang Stress Test Results - 2025-04-29 14:01:30", "URL", "http://h:8000/generate"},
	} {
		for _, url := range []string{"http://h:8000", "http://h:8000/v1"} {
			run.Target = rundir.Target{URL: url, API: c.api, Engine: c.engine, Model: "m"}
			r := findings.StageRow{Run: run, Stage: stage}
			if got := stressHeading(r); got != c.title {
				t.Errorf("%s: title %q, want %q", c.api, got, c.title)
			}
			rows := stressRows(r)
			if rows[0][0] != c.label || rows[0][1] != c.address {
				t.Errorf("%s: %q, want %s %s", c.api, rows[0], c.label, c.address)
			}
			if named := rows[1][0] == "Model"; named != (c.api != "sglang") {
				t.Errorf("%s: names the model: %v", c.api, named)
			}
		}
	}
	run.Target = rundir.Target{URL: "sim:", API: "completions"}
	if got := address(run); got != "sim:" {
		t.Errorf("a simulated server: %q", got)
	}
}

// TestBackends tests names of engines with their APIs, which SGLang's benchmark has of its own.
func TestBackends(t *testing.T) {
	for target, want := range map[string]string{
		"SGLang chat": "sglang-oai-chat", "SGLang completions": "sglang-oai", "SGLang sglang": "sglang",
		"vLLM chat": "vllm-chat", "vLLM completions": "vllm", " chat": "chat",
	} {
		engine, api, _ := strings.Cut(target, " ")
		if got := backend(&rundir.Run{Target: rundir.Target{Engine: engine, API: api}}); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

// TestWholeRuns tests that formats which define throughput over the duration of a benchmark print that of the whole
// run, and none the latencies of a part beside it.
func TestWholeRuns(t *testing.T) {
	seconds := func(v float64) rundir.Dist {
		return rundir.Dist{N: 9, Mean: rundir.Exactly(v), P50: rundir.Exactly(v), Max: rundir.Exactly(v)}
	}
	run := rundir.Run{Stages: []rundir.Stage{{
		Name: "concurrent@8", Kind: "concurrent", MaxConcurrency: 8, Window: 6, Requests: rundir.Requests{Due: 64, OK: 64},
		Rates: rundir.Rates{Completed: rundir.Exactly(10.5)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(1050)},
		Latency: seconds(1.5),
		WholeRun: &rundir.WholeRun{
			Window: 10, Requests: rundir.Requests{Due: 80, OK: 80}, Rates: rundir.Rates{Completed: rundir.Exactly(8)},
			TokensPerS: rundir.TokenRates{Output: rundir.Exactly(800)}, Latency: seconds(2.5),
		},
	}}}
	for _, c := range []struct {
		write func(*strings.Builder) error
		want  []string
	}{
		{func(b *strings.Builder) error { return WriteStress(b, []rundir.Run{run}, false, "en") },
			[]string{"80 (100.0%)", "10.00 seconds", "8.00 requests/second", "800.00", "2.50 seconds"}},
		{func(b *strings.Builder) error { return WriteServing(b, []rundir.Run{run}, "en") },
			[]string{" 80\n", " 10.00\n", " 8.00\n", " 800.00\n", " 2500.00\n"}},
	} {
		var b strings.Builder
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
		for _, part := range []string{"64", "10.5", "1050", "1.50", "1500.00", "window"} {
			if strings.Contains(b.String(), part) {
				t.Errorf("%q in\n%s", part, b.String())
			}
		}
	}
}
