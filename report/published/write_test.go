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
	rate := func(v float64) string { return trafficRate(rundir.Exactly(v)) }
	base := func(url string) string { return map[bool]string{true: "base", false: "path"}[isBase(url)] }
	api := func(engine, api string) string {
		return backend(&rundir.Run{Target: rundir.Target{Engine: engine, API: api}})
	}
	repeat := func(kind string, rate rundir.Number) string { // readers of six columns know no names of repetitions
		return sixColumnName(&rundir.Stage{Name: kind + "@2.00#3", Kind: kind, Repeat: 3, Rate: rate})
	}
	for _, c := range [][2]string{
		{rate(20), "20.0"}, {rate(0.5), "0.5"}, {rate(1.57), "1.57"}, {rate(182.8406), "182.84"}, {rate(0.0213), "0.0213"},
		{trafficRate(rundir.Number{}), "inf"},
		{repeat("poisson", rundir.Exactly(2)), "asynchronous@2.00 req/sec"},
		{repeat("concurrent", rundir.Number{}), "concurrent@2.00"},
		{repeat("constant", rundir.Exactly(2)), "constant@2.00 req/sec"},
		{api("SGLang", "chat"), "sglang-oai-chat"}, {api("SGLang", "completions"), "sglang-oai"},
		{api("SGLang", "sglang"), "sglang"},
		{api("vLLM", "chat"), "vllm-chat"}, {api("vLLM", "completions"), "vllm"}, {api("", "chat"), "chat"},
		{base("http://localhost:8000"), "base"}, {base("http://localhost:8000/"), "base"},
		{base("http://localhost:8000/v1"), "base"}, {base("http://h/openai/v1/"), "base"}, {base(""), "base"},
		{base("http://localhost:8000/v1/completions"), "path"}, {base("http://localhost:8000/generate"), "path"},
		{base("sim:demo"), "base"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
}

// TestStressTitles tests that each table has the end of its own stage, and that the engine is named where its own API
// was used.
func TestStressTitles(t *testing.T) {
	noon := time.Date(2025, 4, 29, 12, 0, 0, 0, time.UTC)
	run := &rundir.Run{Started: noon, Ended: noon.Add(time.Hour)}
	for server, want := range map[string]string{
		"vLLM chat":        "LLM Stress Test Results - 2025-04-29 12:01:30|API Base|http://h:8000/v1|Model",
		"vLLM completions": "vLLM Stress Test Results - 2025-04-29 12:01:30|URL|http://h:8000/v1/completions|Model",
		"SGLang sglang":    "SGLang Stress Test Results - 2025-04-29 12:01:30|URL|http://h:8000/generate|",
	} {
		for _, url := range []string{"http://h:8000", "http://h:8000/v1"} {
			engine, api, _ := strings.Cut(server, " ")
			run.Target = rundir.Target{URL: url, API: api, Engine: engine, Model: "m"}
			r := findings.StageRow{Run: run, Stage: &rundir.Stage{Started: 60, Ended: 90, Window: 25}}
			rows := stressRows(r)
			got := stressHeading(r) + "|" + rows[0][0] + "|" + rows[0][1] + "|"
			if rows[1][0] == "Model" {
				got += "Model"
			}
			if got != want {
				t.Errorf("%s at %s: %s, want %s", server, url, got, want)
			}
		}
	}
	run.Target = rundir.Target{URL: "sim:", API: "completions"}
	if got := address(run); got != "sim:" {
		t.Errorf("a simulated server: %q", got)
	}
}
