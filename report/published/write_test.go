package published

import (
	"fmt"
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

// TestStressTitles: each table has the end of its own stage, and the engine is named where its own API was used.
func TestStressTitles(t *testing.T) {
	started := time.Date(2025, 4, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range [][4]string{
		{"vLLM", "chat", "http://h:8000", "LLM Stress|[API Base http://h:8000/v1]"},
		{"vLLM", "completions", "http://h:8000/v1", "vLLM Stress|[URL http://h:8000/v1/completions]"},
		{"SGLang", "sglang", "http://h:8000/v1", "SGLang Stress|[URL http://h:8000/generate]"},
		{"", "completions", "sim:", "LLM Stress|[API Base sim:]"},
	} {
		run := &rundir.Run{Started: started, Target: rundir.Target{Engine: c[0], API: c[1], URL: c[2]}}
		r := findings.StageRow{Run: run, Stage: &rundir.Stage{Started: 60, Ended: 90, Window: 25}}
		got := fmt.Sprintf("%s|%v", stressHeading(r), stressRows(r)[0])
		if got = strings.Replace(got, " Test Results - 2025-04-29 12:01:30", "", 1); got != c[3] {
			t.Errorf("%s, want %s", got, c[3])
		}
	}
}
