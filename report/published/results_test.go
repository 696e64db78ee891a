package published

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

const files = "testdata/results"

func parseResults(t testing.TB, text string) *Document {
	t.Helper()
	doc, err := ParseResults("doc", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func parseResult(t testing.TB, name string) *Document {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(files, name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := ParseResults(filepath.Join(files, name), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range doc.Remarks {
		t.Errorf("%s:%d: %s", name, r.Line, r.Text)
	}
	return doc
}

// resultFiles are the files in testdata/results, by what is in them.
func resultFiles(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.json*", "*.yaml"} {
		found, err := filepath.Glob(filepath.Join(files, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(err, found)
		}
		for _, f := range found {
			names = append(names, filepath.Base(f))
		}
	}
	return names
}

// TestJSONResults tests what each tool's file is read as.
func TestJSONResults(t *testing.T) {
	for name, w := range wantResults() {
		t.Run(name, func(t *testing.T) {
			doc := parseResult(t, name)
			if len(doc.Runs) != len(w) {
				t.Fatalf("%d runs, want %d", len(doc.Runs), len(w))
			}
			for i, run := range doc.Runs {
				got := resultOf(&run)
				if diff := cmp.Diff(w[i], got, cmp.AllowUnexported(result{})); diff != "" {
					t.Errorf("run %d (-want +got):\n%s", i, diff)
				}
				if run.Started.IsZero() != w[i].undated {
					t.Errorf("started %v", run.Started)
				}
			}
		})
	}
}

// result is the outline of a run that was read.
type result struct {
	Format, Tool, Plan, Model, GPU, Quant, Engine, API string
	GPUs                                               int
	Prompt, Output                                     float64 // asked lengths
	Stages                                             []string
	undated                                            bool
}

func resultOf(run *rundir.Run) result {
	r := result{
		Format: run.Source.Format, Tool: run.Source.Tool, Plan: run.Plan.Kind, Model: run.Labels.Model, GPU: run.Labels.GPU,
		Quant: run.Labels.Quant, Engine: run.Labels.Engine, API: run.Target.API, GPUs: run.Labels.GPUs,
		Prompt: run.Workload.PromptTokens.Mean, Output: run.Workload.OutputTokens.Mean, undated: run.Started.IsZero(),
	}
	for _, s := range run.Stages {
		r.Stages = append(r.Stages, fmt.Sprintf("%s %s %d/%d", s.Name, s.Role, s.Requests.OK, s.Requests.Due))
	}
	return r
}

// wantResults returns what testdata/results/README.md says each file is of.
func wantResults() map[string][]result {
	const model = "Qwen2-7B"
	return map[string][]result{
		"guidellm-0.5.4-sweep.json": {{Format: guideLLM, Tool: "GuideLLM 0.5.4", Plan: "sweep", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"synchronous floor 45/46", "throughput ceiling 620/820",
				"constant@38.94 grid 304/312", "constant@72.25 grid 555/579"}}},
		"guidellm-0.6.1-poisson.json": {{Format: guideLLM, Tool: "GuideLLM 0.6.1", Plan: "run", Model: model,
			Prompt: 128, Output: 32, Stages: []string{"poisson@4.00 run 73/73", "poisson@8.00 run 156/160"}}},
		"guidellm-0.7.4-concurrent.json": {{Format: guideLLM, Tool: "GuideLLM 0.7.4", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@1 run 43/44", "concurrent@4 run 158/162"}}},
		"guidellm-0.8.1-sweep.json": {{Format: guideLLM, Tool: "GuideLLM 0.8.1", Plan: "sweep", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"synchronous floor 44/44", "throughput ceiling 650/1146",
				"constant@80.50 grid 557/613"}}},
		"llm-d-guidellm-0.yaml": {{Format: LLMD, Tool: "guidellm", Plan: "run", Model: "e2e-mock-model", API: "chat",
			Prompt: 32, Output: 8, Stages: []string{"constant@2.00 run 2/2"}}},
		"llm-d-inference-perf.yaml": {{Format: LLMD, Tool: "inference-perf", Plan: "run",
			Stages: []string{"asynchronous@1.00 run 3/3"}, undated: true}},
		"llm-d-vllm.json": {{Format: LLMD, Tool: "vllm-benchmark", Plan: "run",
			Stages: []string{"poisson@5.00 run 40/40"}, undated: true}},
		"vllm-bench-0.32.0-concurrency.json": {{Format: VLLMBench, Tool: "vllm bench serve", Plan: "run", Model: model,
			API:    "chat",
			Stages: []string{"concurrent@4 run 40/40"}}},
		"vllm-bench-0.32.0-rate.json": {{Format: VLLMBench, Tool: "vllm bench serve", Plan: "run", Model: model, API: "chat",
			Stages: []string{"poisson@5.00 run 40/40"}}},
	}
}

// TestJSONMetrics tests that the metrics of each tool are where they belong, in SI.
func TestJSONMetrics(t *testing.T) {
	for _, c := range []struct {
		file  string
		run   int
		stage int
		want  map[string]float64
	}{
		{"guidellm-0.5.4-sweep.json", 0, 3, map[string]float64{
			"rate": 72.25, "rates.completed": 69.125, "window_s": 8, "requests.incomplete": 24, "ok": 555,
			"latency_s.mean": 0.32597869666847024,
			"ttft_s.p99":     0.08018994331359863, "ttft_s.mean": 0.03151676160795194, "inter_token_s": 0.009414172719918307,
			"tpot_s.p999": 0.011938456566103045,
			"tpot_s.n":    555, "tokens_per_s.output": 2261.722926074644, "concurrency.mean": 23.091542094945908,
			"concurrency.peak": 32, "output_tokens.total": 17760,
			"prompt_tokens.max": 113,
		}},
		{"guidellm-0.8.1-sweep.json", 0, 2, map[string]float64{
			"rate": 80.5, "rates.completed": 67.375, "window_s": 8, "requests.incomplete": 56, "ok": 557, "max_concurrency": 512,
		}},
		{"vllm-bench-0.32.0-rate.json", 0, 0, map[string]float64{
			"rate": 5, "ok": 40, "requests.error": 0, "window_s": 8.221383758999991, "prompt_tokens.total": 5950,
			"output_tokens.total": 1280,
			"output_tokens.mean":  32, "rates.completed": 4.865361011303212, "tokens_per_s.output": 155.69155236170278,
			"tokens_per_s.total": 879.4140027930556, "ttft_s.mean": 0.028039968549990135, "ttft_s.p50": 0.012400657000057436,
			"ttft_s.std": 0.03812811346352674, "ttft_s.p99": 0.1603731044999085, "tpot_s.mean": 0.006208703242742234,
			"itl_s.p95": 0.01806359319999728, "latency_s.p90": 0.2677949042999444, "goodput.rate": 4.865361011303212,
			"concurrency.peak": 9,
		}},
	} {
		s := &parseResult(t, c.file).Runs[c.run].Stages[c.stage]
		for key, want := range c.want {
			if got := metric(s, key); got != rundir.Exactly(want) {
				t.Errorf("%s: %s is %v, want %v", c.file, key, got, want)
			}
		}
	}
}

// metric returns a number of a stage by its key in run.json.
func metric(s *rundir.Stage, key string) rundir.Number {
	b, err := json.Marshal(s)
	if err != nil {
		return rundir.Number{}
	}
	if key == "ok" {
		key = "requests.ok"
	}
	return rundir.Exactly(gjson.GetBytes(b, key).Num)
}

// TestEveryJSONNumberIsKept tests that each number of each file is a metric of the run that was read, or stands among
// its other numbers. What is left out is listed here.
func TestEveryJSONNumberIsKept(t *testing.T) {
	leftOut := []string{ // by the beginning of a path
		"run.", "scenario.", "config", "args", "input_config", "run_info", "metadata", // what was asked: tested elsewhere
		"scheduler_metrics.start_time", "scheduler_metrics.end_time", "scheduler_metrics.request_",
		"scheduler_metrics.measure_",
		"start_time", "end_time", "cooldown_duration", "telemetry_data", "warnings", "burstiness",
		"benchmark_start_time_unix", "benchmark_end_time_unix", "min_request_timestamp", "max_response_timestamp",
	}
	for _, name := range resultFiles(t) {
		doc := parseResult(t, name)
		text, err := os.ReadFile(filepath.Join(files, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".yaml") {
			converted, err := yamlToJSON(text)
			if err != nil {
				t.Fatal(err)
			}
			text = []byte(converted)
		}
		values, err := topLevel(withoutNaN(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		numbers, kept := 0, map[string]bool{}
		for _, run := range doc.Runs {
			for _, s := range run.Stages {
				for _, p := range s.Source.Printed {
					first, _, _ := strings.Cut(p.Text, " ")
					kept[fmt.Sprint(p.Line, " ", first)] = true
				}
				for _, p := range s.Source.Other {
					kept[fmt.Sprint(p.Line, " ", p.Text)] = true
				}
			}
		}
		f := &jsonFile{lines: lineStarts(withoutNaN(string(text)))}
		var walk func(v gjson.Result, path string)
		walk = func(v gjson.Result, path string) {
			v.ForEach(func(k, child gjson.Result) bool {
				at := strings.TrimPrefix(path+"."+k.String(), ".")
				switch {
				case slices.ContainsFunc(leftOut, func(p string) bool { return strings.HasPrefix(at, p) }):
				case strings.HasSuffix(path, ".total"), strings.HasSuffix(path, "_ci"), strings.Contains(path, "percentile_cis"):
				case child.Type == gjson.Number:
					numbers++
					if !kept[fmt.Sprint(f.line(child), " ", short(child.Raw))] {
						t.Errorf("%s:%d: %s = %s is lost", name, f.line(child), at, child.Raw)
					}
				case child.IsObject():
					walk(child, at)
				}
				return true
			})
		}
		for _, v := range values {
			if b := v.Get("benchmarks"); b.IsArray() {
				b.ForEach(func(_, benchmark gjson.Result) bool { walk(benchmark, ""); return true })
				continue
			}
			walk(v, "")
		}
		t.Logf("%s: %d numbers", name, numbers)
		if numbers < 14 {
			t.Errorf("%s: only %d numbers", name, numbers)
		}
	}
}

// TestJSONDefinitions tests that each run says whose definitions its metrics have.
func TestJSONDefinitions(t *testing.T) {
	for format, kinds := range map[string][]note.Kind{
		"guidellm-0.8.1-sweep.json":   {noteITLWeighted, noteTTFTZero, noteCancelled},
		"vllm-bench-0.32.0-rate.json": {noteTTFTEmptyChunk, noteITLPerChunk, noteRatesWhole},
	} {
		for _, run := range parseResult(t, format).Runs {
			for _, k := range kinds {
				if !slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(k) }) {
					t.Errorf("%s: no note %s", format, k.Code)
				}
			}
		}
	}
}

// TestNumbersOfPython tests NaN and infinities, which Python writes.
func TestNumbersOfPython(t *testing.T) {
	doc := parseResults(t, `{"text": "NaN \" Infinity", "request_throughput": 2.5, "completed": 10, "total_input_tokens": NaN, "model_id": "m", "request_rate": Infinity, "mean_ttft_ms": -Infinity, "median_ttft_ms": 3}`)
	if len(doc.Runs) != 1 || len(doc.Remarks) > 0 {
		t.Fatalf("%+v", doc)
	}
	s := doc.Runs[0].Stages[0]
	if !s.TTFT.Mean.IsZero() || s.TTFT.P50 != rundir.Exactly(0.003) || !s.Rate.IsZero() || s.Kind != "throughput" {
		t.Errorf("%+v", s)
	}
}
