package published

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// ownRuns are the runs of real servers among the examples.
func ownRuns(t *testing.T) []rundir.Run {
	t.Helper()
	found, err := filepath.Glob("../../examples/real/*/" + rundir.RunFile)
	if err != nil || len(found) == 0 {
		t.Fatal(err, found)
	}
	var runs []rundir.Run
	for _, file := range found {
		run, err := store.Open(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, *run)
	}
	return runs
}

// TestLLMDReadBack: what llmsweep writes for llm-d, as a list or as a file for each row, is read as the run that it
// was, also where another tool had measured it.
func TestLLMDReadBack(t *testing.T) {
	runs := ownRuns(t)
	for _, file := range []string{"guidellm-0.8.1-sweep.json", "vllm-bench-0.32.0-rate.json", "llm-d-guidellm-0.yaml"} {
		runs = append(runs, parseResult(t, file).Runs...)
	}
	for _, run := range runs {
		var list bytes.Buffer
		if err := WriteLLMD(&list, []rundir.Run{run}); err != nil {
			t.Fatal(err)
		}
		doc := parseResults(t, list.String())
		Gather(doc)
		files, err := LLMDFiles(filepath.Join(t.TempDir(), "benchmark_report_v0.2.yaml"), []rundir.Run{run})
		if err != nil || len(files) != len(run.Stages) {
			t.Fatal(err, len(files))
		}
		var docs []*Document
		for name, b := range files {
			if err := os.WriteFile(name, b, 0o644); err != nil {
				t.Fatal(err)
			}
			doc, err := ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		Gather(docs...)
		apart := &Document{}
		for _, d := range docs {
			apart.Runs, apart.Remarks = append(apart.Runs, d.Runs...), append(apart.Remarks, d.Remarks...)
		}
		for _, doc := range []*Document{doc, apart} {
			if len(doc.Runs) != 1 || len(doc.Remarks) > 0 {
				t.Fatalf("%s: %d runs, %v", run.Command.Args, len(doc.Runs), doc.Remarks)
			}
			sameRun(t, &run, &doc.Runs[0])
		}
	}
}

// sameRun compares a run with what was read back.
func sameRun(t *testing.T, want, got *rundir.Run) {
	t.Helper()
	for name, pair := range map[string][2]any{
		"target": {want.Target, got.Target}, "labels": {want.Labels, got.Labels},
		"workload": {want.Workload, got.Workload}, "plan": {want.Plan.Kind, got.Plan.Kind},
		"stages": {len(want.Stages), len(got.Stages)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Fatalf("%s: %+v, want %+v", name, pair[1], pair[0])
		}
	}
	for i := range want.Stages {
		w, g := &want.Stages[i], &got.Stages[i]
		began := func(run *rundir.Run, s *rundir.Stage) time.Time { return run.Started.Add(rundir.Duration(s.Started)) }
		if late := began(got, g).Sub(began(want, w)).Abs(); late > time.Millisecond {
			t.Errorf("%s began %s off", w.Name, late)
		}
		for name, pair := range map[string][2]any{
			"name": {w.Name, g.Name}, "kind": {w.Kind, g.Kind}, "role": {w.Role, g.Role},
			"verdict": {w.Verdict, g.Verdict}, "invalid": {w.Invalid, g.Invalid},
			"rate": {w.Rate, g.Rate}, "repeat": {w.Repeat, g.Repeat}, "elapsed": {w.Elapsed, g.Elapsed},
			"inter-token": {w.InterToken, g.InterToken}, "asked": {w.AskedTokens, g.AskedTokens},
			"ok": {w.Requests.OK, g.Requests.OK}, "error": {w.Requests.Error, g.Requests.Error},
			"incomplete": {w.Requests.Incomplete, g.Requests.Incomplete},
			"completed":  {w.Rates.Completed, g.Rates.Completed}, "tokens/s": {w.TokensPerS, g.TokensPerS},
			"prompt": {w.PromptTokens.Mean, g.PromptTokens.Mean},
			"output": {w.OutputTokens.Mean, g.OutputTokens.Mean},
		} {
			if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
				t.Errorf("%s: %s is %v, want %v", w.Name, name, pair[1], pair[0])
			}
		}
		for j, d := range timeDists(w) {
			read := timeDists(g)[j].dist
			for k, n := range d.dist.Numbers() {
				if m := *read.Numbers()[k].Number; *n.Number != m && !(n.Number.Bound() && m.IsZero()) {
					t.Errorf("%s: %s.%s is %v, want %v", w.Name, d.key, n.Name, m, *n.Number)
				}
			}
			if !slices.Equal(d.dist.Unsupported, read.Unsupported) {
				t.Errorf("%s: %s: unsupported %v, want %v", w.Name, d.key, read.Unsupported, d.dist.Unsupported)
			}
		}
	}
}

// TestLLMDHarnesses: times of all harnesses are in seconds, and what they define otherwise is heeded.
func TestLLMDHarnesses(t *testing.T) {
	for _, c := range []struct {
		file  string
		want  map[string]float64
		notes []note.Kind
	}{
		// The ITL of GuideLLM, in ms, is one mean for each request, and its TPOT counts the first token.
		{"llm-d-guidellm-0.yaml", map[string]float64{
			"rate": 2, "ok": 2, "window_s": 5.01964807510376, "rates.completed": 0.39843430656414264,
			"ttft_s.mean": 0.011481165885925293, "tpot_s.mean": 0.0011508464813232422, "itl_s.mean": 0,
			"inter_token_s": 0.0011508464813232422, "latency_s.p999": 0.020308971405029297, "asked_tokens": 8,
			"tokens_per_s.output": 3.1950675815128577, "output_tokens.mean": 8, "prompt_tokens.max": 92,
		}, []note.Kind{noteITLWeighted, noteTTFTZero}},
		{"llm-d-inference-perf.yaml", map[string]float64{
			"rate": 1, "ok": 3, "window_s": 0, "rates.completed": 1.2096774193548387, "latency_s.mean": 0.49,
			"ttft_s.mean": 0.033333333333333354, "itl_s.p90": 0.19999999999999996, "asked_tokens": 0,
			"tpot_s.mean": 0.009279705855977042, "inter_token_s": 0.1522222222222222,
			"output_tokens.mean": 53.333333333333336,
		}, []note.Kind{noteRatesWhole}},
		{"llm-d-vllm.json", map[string]float64{
			"rate": 5, "ok": 40, "ttft_s.mean": 0.028039968549990135, "ttft_s.std": 0.03812811346352674,
			"tpot_s.mean": 0.006208703242742234, "itl_s.p95": 0.01806359319999728, "inter_token_s": 0,
			"latency_s.p90": 0.2677949042999444, "tokens_per_s.total": 879.4140027930556,
		}, []note.Kind{noteITLPerChunk, noteRatesWhole}},
	} {
		run := &parseResult(t, c.file).Runs[0]
		for key, want := range c.want {
			if got := metric(&run.Stages[0], key); math.Abs(got.Value()-want) > 1e-15*math.Abs(want) {
				t.Errorf("%s: %s is %v, want %v", c.file, key, got, want)
			}
		}
		for _, k := range c.notes {
			if !slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(k) }) {
				t.Errorf("%s: no note %s", c.file, k.Code)
			}
		}
	}
	// A bound on the requests in flight is the load of inference-perf; its rate tells how fast it queues them. Others
	// hold arrivals back.
	for tool, want := range map[string]string{
		"inference-perf": "concurrent@16", "other": "asynchronous@1000.00", "vllm-benchmark": "poisson@1000.00",
	} {
		s := parseResults(t, llmdText(tool, "rate_qps: 1000\n      concurrency: 16", "")).Runs[0].Stages[0]
		if s.Name != want || s.MaxConcurrency != 16 {
			t.Errorf("%s: %+v", tool, s)
		}
	}
	for load, want := range map[string]string{"rate_qps: .inf": "throughput", "concurrency: 1": "synchronous",
		"stage: 3": "stage-3"} {
		if s := parseResults(t, llmdText("x", load, "")).Runs[0].Stages[0]; s.Name != want || s.Rate.Known() {
			t.Errorf("%s: %+v", load, s)
		}
	}
}

// llmdText is a report of a harness, in YAML. Instead replaces the latencies.
func llmdText(tool, load, instead string) string {
	latency := "time_to_first_token: {units: ms, mean: 120, p99: 300}\n        request_latency: {units: s, mean: 2.5}"
	if instead != "" {
		latency = instead
	}
	return `version: '0.2'
run: {uid: a, eid: e1}
scenario:
  stack:
  # The first component of llm-d-benchmark's br_v0_2_example.yaml (Apache License 2.0), shortened.
  - metadata: {schema_version: 0.0.1, label: vllm-svc-0, cfg_id: cc73fc6b51a1d3b8128f312d70476d7c}
    standardized:
      kind: inference_engine
      tool: llm-d
      tool_version: ghcr.io/llm-d/llm-d-cuda:0.3.1
      role: decode
      replicas: 2
      model:
        name: Qwen/Qwen3-0.6B
      accelerator:
        model: NVIDIA-H100-80GB-HBM3
        count: 8
        parallelism: {dp: 1, dp_local: 1, workers: 1, ep: 1, pp: 1, tp: 8}
    native: {args: {--tensor-parallel-size: 8}}
  load:
    metadata: {}
    standardized:
      tool: ` + tool + `
      tool_version: 0.3.0
      source: random
      input_seq_len: {distribution: fixed, value: 2148}
      output_seq_len: {distribution: gaussian, value: 1000, std_dev: 100}
      ` + load + `
    native: {}
results:
  request_performance:
    aggregate:
      requests: {total: 500, failures: 20}
      latency:
        ` + latency + `
      throughput:
        request_rate: {units: queries/s, mean: 4}
`
}

// TestLLMDStack: labels are those of the inference engines, with their lines. An engine's count is that of one replica.
func TestLLMDStack(t *testing.T) {
	text := llmdText("inference-perf", "rate_qps: 4", "")
	run := parseResults(t, text).Runs[0]
	want := rundir.Labels{Model: "Qwen/Qwen3-0.6B", GPU: "H100 80GB HBM3", GPUs: 16, Engine: "llm-d 0.3.1"}
	if !reflect.DeepEqual(run.Labels, want) {
		t.Errorf("%+v, want %+v", run.Labels, want)
	}
	lines := strings.Split(text, "\n")
	for key, with := range map[string]string{
		"model": "Qwen3", "gpu": "NVIDIA", "gpus": "count: 8", "engine": "0.3.1", "experiment": "e1",
	} {
		if l := run.Source.Labels[key]; !strings.Contains(lines[l.Line-1], with) {
			t.Errorf("%s: line %d", key, l.Line)
		}
	}
	if w := run.Workload; w.PromptTokens.Mean != 2148 || w.OutputTokens.Std != 100 {
		t.Errorf("%+v", w)
	}
	p := run.Stages[0].Source.Printed["ttft_s.mean"]
	if p.Text != "120 ms" || !strings.Contains(lines[p.Line-1], "mean: 120") {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct {
		old, new string
		want     rundir.Labels
	}{
		{"count: 8", "count: 16", want},           // of both replicas, as the schema says
		{"count: 8", "count: 0", rundir.Labels{}}, // llm-d writes 0 where it does not know
		{"count: 8\n", "count: 4\n", want},        // of one of two nodes of a replica
		{"replicas: 2", "replicas: 1", rundir.Labels{GPUs: 8}},
		{"tool_version: ghcr.io/llm-d/llm-d-cuda:0.3.1", "tool_version: docker.io/vllm/vllm-openai:v0.11.0",
			rundir.Labels{GPUs: 16, Engine: "vLLM 0.11.0"}},
		{"tool: llm-d\n      tool_version: ghcr.io/llm-d/llm-d-cuda:0.3.1", "tool: ''\n      tool_version: '//:'",
			rundir.Labels{GPUs: 16, Engine: "-"}},
	} {
		got := parseResults(t, strings.Replace(text, c.old, c.new, 1)).Runs[0].Labels
		if got.GPUs != c.want.GPUs || c.want.Engine != "" && got.Engine != strings.Trim(c.want.Engine, "-") {
			t.Errorf("%s: %+v", c.new, got)
		}
	}
}

// TestLLMDUnknown: a unit is never assumed, zeros of what was not measured are no numbers, and other versions are not
// read.
func TestLLMDUnknown(t *testing.T) {
	const ttft = "line 35: results.request_performance.aggregate.latency.time_to_first_token: "
	for _, c := range []struct{ latency, remark string }{
		{"time_to_first_token: {units: minutes, mean: 120, p99: 300}",
			ttft + "the unit \"minutes\" is not that of such a metric (s): not read"},
		{"time_to_first_token: {mean: 120}",
			ttft + "the unit \"?\" is not that of such a metric (s): not read"},
		{"time_to_first_token: {units: s/token, mean: 120}",
			ttft + "the unit \"s/token\" is not that of such a metric (s): not read"},
		{"time_to_first_token: {units: s, mean: fast}", ""},
		{"time_to_first_token: {units: s, mean: 0.0, p99: 0.0}", ""},
	} {
		doc := parseResults(t, llmdText("x", "rate_qps: 4", c.latency))
		s := &doc.Runs[0].Stages[0]
		if !s.TTFT.Mean.IsZero() || !s.TTFT.P99.IsZero() || !s.Rates.Completed.Known() || s.Requests.OK != 480 ||
			s.TPOT.N+s.TTFT.N > 0 {
			t.Errorf("%s: %+v", c.latency, s)
		}
		got := ""
		for _, r := range doc.Remarks {
			got = fmt.Sprintf("line %d: %s", r.Line, r.Text)
		}
		if got != c.remark {
			t.Errorf("%s: %s, want %s", c.latency, got, c.remark)
		}
	}
	for version, want := range map[string]string{
		"'0.1'": "is a Benchmark Report of version 0.1; versions 0.2 and 0.2.1 are read",
		"'0.3'": "is a Benchmark Report of version 0.3; versions 0.2 and 0.2.1 are read",
		"0.2":   "", "'0.2.1'": "",
	} {
		doc := parseResults(t, strings.Replace(llmdText("x", "rate_qps: 4", ""), "'0.2'", version, 1))
		got := fmt.Sprint(doc.Remarks)
		if (want == "") != (len(doc.Runs) == 1) || !strings.Contains(got, want) {
			t.Errorf("%s: %d runs, %s", version, len(doc.Runs), got)
		}
	}
	// Failures that are not told, and AIPerf's, which are kinds of errors, leave it open how many failed.
	s := parseResults(t, strings.Replace(llmdText("x", "rate_qps: 4", ""), ", failures: 20", "", 1)).Runs[0].Stages[0]
	if q := s.Requests; q.Due != 500 || q.OK != 0 || q.Error != 0 {
		t.Errorf("%+v", q)
	}
	text := llmdText("aiperf", "rate_qps: 4", "inter_token_latency: {units: s/token, mean: 0.02}")
	s = parseResults(t, text).Runs[0].Stages[0]
	if q := s.Requests; q.OK != 500 || q.Error != 0 || s.TPOT.Mean != rundir.Exactly(0.02) || !s.ITL.Mean.IsZero() {
		t.Errorf("%+v", s)
	}
}

// TestGather: which reports are one run.
func TestGather(t *testing.T) {
	report := func(load string, changes ...string) string {
		return strings.NewReplacer(changes...).Replace(llmdText("inference-perf", load, ""))
	}
	const anonymous, stack = "{uid: a, eid: e1}", "tool_version: ghcr.io"
	for _, c := range []struct {
		name    string
		reports []string
		files   []string // names of the files; else stage_N.yaml
		want    string   // the names of the stages of each run
	}{
		{"an experiment", []string{report("rate_qps: 8"), report("rate_qps: 2"), report("concurrency: 1")}, nil,
			"[synchronous asynchronous@2.00 asynchronous@8.00]"},
		{"repeats", []string{report("rate_qps: 2"), report("rate_qps: 2")}, nil,
			"[asynchronous@2.00 asynchronous@2.00#2]"},
		{"another engine", []string{report("rate_qps: 2"), report("rate_qps: 4", stack, "tool_version: other")}, nil,
			"[asynchronous@2.00] [asynchronous@4.00]"},
		{"another experiment of several loads", []string{
			report("rate_qps: 2"), report("rate_qps: 4"), report("rate_qps: 8", "e1", "e2"), report("rate_qps: 9", "e1", "e2"),
		}, nil, "[asynchronous@2.00 asynchronous@4.00] [asynchronous@8.00 asynchronous@9.00]"},
		{"experiments of one load", []string{
			report("concurrency: 8"), report("concurrency: 1", "e1", "e2"), report("concurrency: 8", "e1", "e3"),
		}, nil, "[synchronous concurrent@8] [concurrent@8]"},
		{"no experiment", []string{
			report("rate_qps: 2", anonymous, "{uid: a}"), report("rate_qps: 4", anonymous, "{uid: b}"),
			report("rate_qps: 2", anonymous, "{uid: c}"),
		}, nil, "[asynchronous@2.00 asynchronous@4.00] [asynchronous@2.00]"},
		{"no experiment, other files", []string{
			report("rate_qps: 2", anonymous, "{uid: a}"), report("rate_qps: 4", anonymous, "{uid: b}"),
		}, []string{"before.yaml", "after.yaml"}, "[asynchronous@2.00] [asynchronous@4.00]"},
	} {
		var docs []*Document
		for i, text := range c.reports {
			name := fmt.Sprintf("stage_%d.yaml", i)
			if c.files != nil {
				name = c.files[i]
			}
			doc, err := ParseResults(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		Gather(docs...)
		var got []string
		for _, doc := range docs {
			if len(doc.Runs) == 0 && doc.MergedInto == "" {
				t.Errorf("%s: %s has no run", c.name, doc.Name)
			}
			for _, run := range doc.Runs {
				var names []string
				for _, s := range run.Stages {
					names = append(names, s.Name)
				}
				got = append(got, fmt.Sprint(names))
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
