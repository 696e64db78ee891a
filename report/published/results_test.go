package published

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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
	if doc.Runs[0].Source.Format == evalScope {
		if err := besideEvalScope(doc); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range doc.Remarks {
		t.Errorf("%s:%d: %s", name, r.Line, r.Text)
	}
	return doc
}

// resultFiles are the files in testdata/results, by what is in them.
func resultFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(files, "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var names []string
	for _, f := range files {
		names = append(names, filepath.Base(f))
	}
	return append(names, "evalscope-1.14.1/benchmark_summary.json", "evalscope-1.0.2/benchmark_summary.json")
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
		"aiperf-0.13.0-concurrency.json": {{Format: aiPerf, Tool: "AIPerf 0.13.0", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@4 run 40/40"}}},
		"aiperf-0.3.0-concurrency.json": {{Format: aiPerf, Tool: "AIPerf", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@4 run 40/40"}}},
		"evalscope-1.0.2/benchmark_summary.json": {{Format: evalScope, Tool: "evalscope perf", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@8 run 40/40"}, undated: true}},
		"aiperf-0.13.0-rate.json": {{Format: aiPerf, Tool: "AIPerf 0.13.0", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"poisson@5.00 run 40/40"}}},
		"guidellm-0.5.4-sweep.json": {{Format: ReadGuideLLM, Tool: "GuideLLM 0.5.4", Plan: "sweep", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"synchronous floor 45/46", "throughput ceiling 620/820",
				"constant@38.94 grid 304/312", "constant@72.25 grid 555/579"}}},
		"guidellm-0.6.1-poisson.json": {{Format: ReadGuideLLM, Tool: "GuideLLM 0.6.1", Plan: "run", Model: model,
			Prompt: 128, Output: 32, Stages: []string{"poisson@4.00 run 73/73", "poisson@8.00 run 156/160"}}},
		"guidellm-0.7.4-concurrent.json": {{Format: ReadGuideLLM, Tool: "GuideLLM 0.7.4", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@1 run 43/44", "concurrent@4 run 158/162"}}},
		"guidellm-0.8.1-sweep.json": {{Format: ReadGuideLLM, Tool: "GuideLLM 0.8.1", Plan: "sweep", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"synchronous floor 44/44", "throughput ceiling 650/1146", "constant@80.50 grid 557/613"}}},
		"inferencex-agg.json": {{Format: inferenceX, Tool: "InferenceX", Plan: "run", Model: model, GPU: "h200", GPUs: 2, Quant: "fp8",
			Engine: "vLLM", Prompt: 128, Output: 32, Stages: []string{"concurrent@4 run 0/0"}, undated: true}},
		"inferencex-bench.json": {{Format: VLLMBench, Tool: "vllm bench serve", Plan: "run", Model: model, API: "chat",
			Stages: []string{"concurrent@4 run 40/40"}}},
		"sglang-0.5.23.jsonl": {
			{Format: sgLangBench, Tool: "SGLang bench_serving", Plan: "run", Engine: "SGLang", API: "chat",
				Prompt: 128, Output: 32, Stages: []string{"poisson@5.00 run 40/40"}, undated: true},
			{Format: sgLangBench, Tool: "SGLang bench_serving", Plan: "run", Engine: "SGLang", API: "chat",
				Prompt: 128, Output: 32, Stages: []string{"concurrent@4 run 40/40"}, undated: true},
		},
		"vllm-bench-0.32.0-concurrency.json": {{Format: VLLMBench, Tool: "vllm bench serve", Plan: "run", Model: model, API: "chat",
			Stages: []string{"concurrent@4 run 40/40"}}},
		"vllm-bench-0.32.0-rate.json": {{Format: VLLMBench, Tool: "vllm bench serve", Plan: "run", Model: model, API: "chat",
			Stages: []string{"poisson@5.00 run 40/40"}}},
		"evalscope-1.14.1/benchmark_summary.json": {{Format: evalScope, Tool: "evalscope perf", Plan: "run", Model: model, API: "chat",
			Prompt: 128, Output: 32, Stages: []string{"concurrent@8 run 40/40"}, undated: true}},
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
			"rate": 72.25, "rates.completed": 69.125, "window_s": 8, "requests.incomplete": 24, "ok": 555, "latency_s.mean": 0.32597869666847024,
			"ttft_s.p99": 0.08018994331359863, "ttft_s.mean": 0.03151676160795194, "inter_token_s": 0.009414172719918307, "tpot_s.p999": 0.011938456566103045,
			"tpot_s.n": 555, "tokens_per_s.output": 2261.722926074644, "concurrency.mean": 23.091542094945908, "concurrency.peak": 32, "output_tokens.total": 17760,
			"prompt_tokens.max": 113,
		}},
		{"guidellm-0.8.1-sweep.json", 0, 2, map[string]float64{
			"rate": 80.5, "rates.completed": 67.375, "window_s": 8, "requests.incomplete": 56, "ok": 557, "max_concurrency": 512,
		}},
		{"aiperf-0.13.0-concurrency.json", 0, 0, map[string]float64{
			"rates.completed": 20.586271188257502, "window_s": 1.936422912, "ttft_s.mean": 0.01869697505, "ttft_s.p99": 0.03902861121,
			"itl_s.max": 0.014408545, "itl_s.n": 1240, "output_tokens.total": 2104, "concurrency.mean": 3.9022443975699637, "concurrency.peak": 4,
			"tokens_per_s.total": 3717.8805765993047, "max_concurrency": 4,
		}},
		{"aiperf-0.13.0-rate.json", 0, 0, map[string]float64{
			"rate": 5, "rates.completed": 4.201951764806342, "goodput.rate": 4.201951764806342, "ttft_s.min": 0.010180228999999999, "itl_s.p90": 0.00737736440000001,
		}},
		{"vllm-bench-0.32.0-rate.json", 0, 0, map[string]float64{
			"rate": 5, "ok": 40, "requests.error": 0, "window_s": 8.221383758999991, "prompt_tokens.total": 5950, "output_tokens.total": 1280,
			"output_tokens.mean": 32, "rates.completed": 4.865361011303212, "tokens_per_s.output": 155.69155236170278,
			"tokens_per_s.total": 879.4140027930556, "ttft_s.mean": 0.028039968549990135, "ttft_s.p50": 0.012400657000057436,
			"ttft_s.std": 0.03812811346352674, "ttft_s.p99": 0.1603731044999085, "tpot_s.mean": 0.006208703242742234,
			"itl_s.p95": 0.01806359319999728, "latency_s.p90": 0.2677949042999444, "goodput.rate": 4.865361011303212, "concurrency.peak": 9,
		}},
		{"sglang-0.5.23.jsonl", 1, 0, map[string]float64{
			"ok": 40, "max_concurrency": 4, "window_s": 2.230572230999769, "output_tokens.retokenized": 2211, "prompt_tokens.text": 5120,
			"prompt_tokens.vision": 0, "tokens_per_s.input": 2295.3751189241493, "tokens_per_s.total": 2869.2188986551864,
			"concurrency.mean": 3.948043691036441, "concurrency.peak": 22, "latency_s.p95": 0.23792755110011965, "ttft_s.mean": 0.03426623582498678,
			"tpot_s.p99": 0.006357219092259173, "itl_s.p50": 0.005283383500000127,
		}},
		{"evalscope-1.14.1/benchmark_summary.json", 0, 0, map[string]float64{
			"ok": 40, "max_concurrency": 8, "window_s": 1.6041, "rates.completed": 24.9368, "latency_s.mean": 0.3121, "latency_s.p99": 0.406,
			"ttft_s.mean": 0.07537, "ttft_s.p95": 0.1340852, "tpot_s.max": 0.0104089, "itl_s.p50": 0.0056379, "tokens_per_s.output": 797.977,
			"prompt_tokens.mean": 145.225,
		}},
		{"evalscope-1.0.2/benchmark_summary.json", 0, 0, map[string]float64{
			"ok": 40, "window_s": 1.2465, "rates.completed": 32.0908, "ttft_s.mean": 0.0015, "tpot_s.mean": 0.0078, "itl_s.mean": 0.0071, "ttft_s.p90": 0.0035,
		}},
		{"inferencex-agg.json", 0, 0, map[string]float64{
			"max_concurrency": 4, "tokens_per_s.total": 2 * 1425.8822833330462, "tokens_per_s.output": 2 * 285.1764566666092,
			"ttft_s.mean": 0.0038744329250107513, "tpot_s.p50": 0.007015742419349819, "itl_s.p999": 0.059607626841071834, "latency_s.p90": 0.23279534829985096,
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

// TestEveryJSONNumberIsKept tests that each number of each file is a metric of the run that was read, or stands among its other
// numbers. What is left out is listed here.
func TestEveryJSONNumberIsKept(t *testing.T) {
	leftOut := []string{ // by the beginning of a path
		"config", "args", "input_config", "run_info", "metadata", // what was asked; its parts that a run has room for are tested elsewhere
		"scheduler_metrics.start_time", "scheduler_metrics.end_time", "scheduler_metrics.request_", "scheduler_metrics.measure_",
		"start_time", "end_time", "cooldown_duration", "telemetry_data", "warnings", "burstiness", "benchmark_start_time_unix", "benchmark_end_time_unix", "min_request_timestamp", "max_response_timestamp",
	}
	for _, name := range resultFiles(t) {
		doc := parseResult(t, name)
		text, err := os.ReadFile(filepath.Join(files, name))
		if err != nil {
			t.Fatal(err)
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
		"guidellm-0.8.1-sweep.json":               {noteITLWeighted, noteTTFTZero, noteCancelled},
		"aiperf-0.13.0-rate.json":                 {noteITLPerRequest, noteTokensCounted, noteRatesWhole},
		"vllm-bench-0.32.0-rate.json":             {noteTTFTEmptyChunk, noteITLPerChunk, noteRatesWhole},
		"sglang-0.5.23.jsonl":                     {noteITLPerChunk, noteRatesWhole, noteTokensAsked},
		"evalscope-1.14.1/benchmark_summary.json": {noteITLPerChunk, noteRatesWhole},
		"evalscope-1.0.2/benchmark_summary.json":  {noteTTFTEmptyChunk, noteITLPerChunk},
		"inferencex-agg.json":                     {noteTTFTEmptyChunk, noteRatesWhole, notePerGPU},
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

// TestInferenceXOfSeveralNodes tests a list of results, one of a server whose prefill and decoding have GPUs of their own.
func TestInferenceXOfSeveralNodes(t *testing.T) {
	doc := parseResults(t, `[
{"hw": "gb200", "conc": 64, "model": "deepseek-ai/DeepSeek-R1", "framework": "dynamo-sglang", "precision": "fp4", "isl": 8192, "osl": 1024,
 "is_multinode": true, "num_prefill_gpu": 8, "num_decode_gpu": 32, "tput_per_gpu": 10, "output_tput_per_gpu": 2, "input_tput_per_gpu": 40, "median_ttft": 0.5},
{"hw": "mi355x", "conc": 4, "model": "m", "framework": "atom", "precision": "fp8", "tp": 8, "pp": 2, "tput_per_gpu": 5, "output_tput_per_gpu": 1, "mean_tpot": 0.02}]`)
	if len(doc.Runs) != 2 || len(doc.Remarks) > 0 {
		t.Fatalf("%+v", doc)
	}
	first, second := doc.Runs[0], doc.Runs[1]
	if l := first.Labels; l.GPUs != 40 || l.GPU != "gb200" || l.Engine != "SGLang" || l.Quant != "fp4" {
		t.Errorf("%+v", l)
	}
	if r := first.Stages[0].TokensPerS; r.Total.Value() != 400 || r.Output.Value() != 64 || r.Input.Value() != 320 {
		t.Errorf("%+v", r)
	}
	if l := second.Labels; l.GPUs != 16 || l.Engine != "atom" || second.Source.Line != 4 {
		t.Errorf("%+v in line %d", l, second.Source.Line)
	}
}

// TestSGLangServer tests the labels that a real SGLang gives.
func TestSGLangServer(t *testing.T) {
	doc := parseResults(t, `{"backend": "sglang", "request_throughput": 1, "total_throughput": 2, "mean_e2e_latency_ms": 3, "completed": 4,
"server_info": {"model_path": "/models/Qwen/Qwen2-7B-Instruct-AWQ", "tp_size": 2, "dp_size": 4, "version": "0.5.23", "quantization": "awq"}}`)
	if len(doc.Runs) != 1 {
		t.Fatalf("%+v", doc)
	}
	run := doc.Runs[0]
	if want := (rundir.Labels{Model: "Qwen2-7B-Instruct", Quant: "AWQ", Engine: "SGLang", GPUs: 8}); !reflect.DeepEqual(run.Labels, want) || run.Target.Version != "0.5.23" || run.Target.API != "sglang" {
		t.Errorf("%+v %+v", run.Labels, run.Target)
	}
}
