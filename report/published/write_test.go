package published

import (
	"strings"
	"testing"
	"time"

	"llmsweep/report/findings"
	"llmsweep/sweep/rundir"
)

// TestNames: what numbers, addresses, stages and engines are called in the formats of others.
func TestNames(t *testing.T) {
	rate, base := func(v float64) string { return trafficRate(rundir.Exactly(v)) }, map[bool]string{true: "base", false: "path"}
	api := func(engine, api string) string {
		return backend(&rundir.Run{Target: rundir.Target{Engine: engine, API: api}})
	}
	repeat := func(kind string, rate rundir.Number) string { // readers of six columns know no names of repetitions
		return sixColumnName(&rundir.Stage{Name: kind + "@2.00#3", Kind: kind, Repeat: 3, Rate: rate})
	}
	for _, c := range [][2]string{
		{rate(20), "20.0"}, {rate(0.5), "0.5"}, {rate(1.57), "1.57"}, {rate(182.8406), "182.84"}, {rate(0.0213), "0.0213"},
		{trafficRate(rundir.Number{}), "inf"},
		{repeat("poisson", rundir.Exactly(2)), "asynchronous@2.00 req/sec"}, {repeat("concurrent", rundir.Number{}), "concurrent@2.00"},
		{repeat("constant", rundir.Exactly(2)), "constant@2.00 req/sec"},
		{api("SGLang", "chat"), "sglang-oai-chat"}, {api("SGLang", "completions"), "sglang-oai"}, {api("SGLang", "sglang"), "sglang"},
		{api("vLLM", "chat"), "vllm-chat"}, {api("vLLM", "completions"), "vllm"}, {api("", "chat"), "chat"},
		{base[isBase("http://localhost:8000")], "base"}, {base[isBase("http://localhost:8000/")], "base"},
		{base[isBase("http://localhost:8000/v1")], "base"}, {base[isBase("http://h/openai/v1/")], "base"}, {base[isBase("")], "base"},
		{base[isBase("http://localhost:8000/v1/completions")], "path"}, {base[isBase("http://localhost:8000/generate")], "path"},
		{base[isBase("sim:demo")], "base"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
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
