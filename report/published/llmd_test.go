package published

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// llmdReports writes runs as Benchmark Reports, each of which must follow the format and have an identifier of its own.
func llmdReports(t *testing.T, runs ...rundir.Run) (text string, reports []llmdReport) {
	t.Helper()
	b := testkit.Must(os.ReadFile("testdata/llm-d-0.2.schema.json"))
	tree := testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(b)))
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	var out bytes.Buffer
	if err := errors.Join(c.AddResource("llm-d", tree), WriteLLMD(&out, runs)); err != nil {
		t.Fatal(err)
	}
	schema, seen := c.MustCompile("llm-d"), map[string]bool{}
	parts := gjson.ParseBytes(out.Bytes())
	for _, part := range parts.Array() {
		r := llmdReport{}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(part.Raw))
		if err == nil {
			err = schema.Validate(v)
		}
		if err == nil {
			err = json.Unmarshal([]byte(part.Raw), &r)
		}
		if reports = append(reports, r); err != nil || seen[r.Run.UID] || r.Run.EID != reports[0].Run.EID {
			t.Fatalf("identifiers %s, %s; %v\n%s", r.Run.UID, r.Run.EID, err, part.Raw)
		}
		seen[r.Run.UID] = true
	}
	return out.String(), reports
}

// TestLLMDReadBack: what llmsweep writes for llm-d, as a list or as a file for each row, is read as the run that it
// was, also where another tool had measured it.
func TestLLMDReadBack(t *testing.T) {
	var runs []rundir.Run
	dirs, err := filepath.Glob("../../examples/real/*/" + rundir.RunFile)
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, dirs)
	}
	for _, file := range dirs {
		run := testkit.Must(store.Open(filepath.Dir(file)))
		runs = append(runs, *run)
	}
	for _, name := range []string{"guidellm-0.8.1-sweep.json", "vllm-bench-0.32.0-rate.json", "llm-d-guidellm-0.yaml"} {
		runs = append(runs, parseFile("results/"+name).Runs...)
	}
	for i := range runs {
		run := &runs[i]
		text, reports := llmdReports(t, *run)
		files, err := LLMDFiles(filepath.Join(t.TempDir(), "benchmark_report_v0.2.yaml"), []rundir.Run{*run})
		if err != nil || len(files) != len(run.Stages) || len(reports) != len(run.Stages) {
			t.Fatal(err, len(files), len(reports))
		}
		var docs []*Document
		for name, b := range files {
			doc := testkit.Must(ParseText(name, bytes.NewReader(b)))
			docs = append(docs, doc)
		}
		Gather(docs...)
		apart, list := &Document{}, parseText(text)
		for _, d := range docs {
			apart.Runs, apart.Remarks = append(apart.Runs, d.Runs...), append(apart.Remarks, d.Remarks...)
		}
		Gather(list)
		for _, doc := range []*Document{list, apart} {
			if len(doc.Runs) != 1 || len(doc.Remarks) > 0 {
				t.Fatalf("%s: %d runs, %v", run.Command.Args, len(doc.Runs), doc.Remarks)
			}
			checkSameRun(t, run, &doc.Runs[0])
		}
	}
}

// checkSameRun compares a run with what was read back.
func checkSameRun(t *testing.T, want, got *rundir.Run) {
	t.Helper()
	check := func(name string, want, got any, keys ...string) {
		w, err1 := json.Marshal(want)
		g, err2 := json.Marshal(got)
		for _, key := range keys {
			if a, b := gjson.GetBytes(w, key), gjson.GetBytes(g, key); err1 != nil || err2 != nil || a.Raw != b.Raw {
				t.Fatalf("%s: %s is %v, want %v", name, key, b, a)
			}
		}
	}
	check("the run", want, got, "target", "labels", "workload", "plan.kind", "stages.#")
	for i := range want.Stages {
		w, g := &want.Stages[i], &got.Stages[i]
		began := func(run *rundir.Run, s *rundir.Stage) time.Time { return run.Started.Add(rundir.Duration(s.Started)) }
		if late := began(got, g).Sub(began(want, w)).Abs(); late > time.Millisecond {
			t.Errorf("%s began %s off", w.Name, late)
		}
		check(w.Name, w, g, "name", "kind", "role", "verdict", "invalid", "rate", "repeat", "elapsed_s", "inter_token_s",
			"asked_tokens", "requests.ok", "requests.error", "requests.incomplete", "rates.completed", "tokens_per_s",
			"prompt_tokens.mean", "output_tokens.mean")
		for j, d := range timesOf(w) {
			read := timesOf(g)[j]
			for k, n := range d.Numbers() {
				if m := *read.Numbers()[k].Number; *n.Number != m && !(n.Number.Bound() && m.IsZero()) {
					t.Errorf("%s: %s.%s is %v, want %v", w.Name, d.Key, n.Name, m, *n.Number)
				}
			}
			if !slices.Equal(d.Unsupported, read.Unsupported) {
				t.Errorf("%s: %s: unsupported %v, want %v", w.Name, d.Key, read.Unsupported, d.Unsupported)
			}
		}
	}
}

// TestLLMDOfLittle: of a stage of which almost nothing is known, or only bounds, what is not known is left out.
func TestLLMDOfLittle(t *testing.T) {
	s := rundir.Stage{Name: "concurrent@4", MaxConcurrency: 4, TTFT: rundir.Dist{Mean: rundir.Exactly(0.2),
		P99: rundir.Over(3)}, Latency: rundir.Dist{Mean: rundir.Over(9)}}
	_, reports := llmdReports(t, rundir.Run{
		Source: &rundir.Source{Format: Stress}, Stages: []rundir.Stage{s},
		Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 100, Std: 40, Min: 1, Max: 900,
			Shape: rundir.ShapeLognormal}, Forced: true},
	})
	a, load := &reports[0].Results.Performance.Aggregate, &reports[0].Scenario.Load.Standardized
	if a.Latency.TTFT.P99 != nil || a.Latency.Request != nil || a.Throughput.Requests != nil ||
		reports[0].Run.Time != nil {
		t.Errorf("%+v", a)
	}
	if load.Concurrency != 4 || load.Rate != nil || load.Tool != string(Stress) || load.Source != "unknown" ||
		load.Input.Distribution != "other" || load.Output.Distribution != "other" {
		t.Errorf("%+v", load)
	}
}

// TestGather: which reports are one run. A report is written as its experiment, its engine and its load.
func TestGather(t *testing.T) {
	for _, c := range []struct{ name, reports, files, want string }{
		{"an experiment", "e1 v1 rate_qps: 8|e1 v1 rate_qps: 2|e1 v1 concurrency: 1", "",
			"[synchronous asynchronous@2.00 asynchronous@8.00]"},
		{"repeats", "e1 v1 rate_qps: 2|e1 v1 rate_qps: 2", "", "[asynchronous@2.00 asynchronous@2.00#2]"},
		{"another engine", "e1 v1 rate_qps: 2|e1 v2 rate_qps: 4", "", "[asynchronous@2.00] [asynchronous@4.00]"},
		{"another experiment of several loads",
			"e1 v1 rate_qps: 2|e1 v1 rate_qps: 4|e2 v1 rate_qps: 8|e2 v1 rate_qps: 9", "",
			"[asynchronous@2.00 asynchronous@4.00] [asynchronous@8.00 asynchronous@9.00]"},
		{"experiments of one load", "e1 v1 concurrency: 8|e2 v1 concurrency: 1|e3 v1 concurrency: 8", "",
			"[synchronous concurrent@8] [concurrent@8]"},
		{"no experiment", "- v1 rate_qps: 2|- v1 rate_qps: 4|- v1 rate_qps: 2", "",
			"[asynchronous@2.00 asynchronous@4.00] [asynchronous@2.00]"},
		{"no experiment, other files", "- v1 rate_qps: 2|- v1 rate_qps: 4", "before.yaml after.yaml",
			"[asynchronous@2.00] [asynchronous@4.00]"},
	} {
		var docs []*Document
		var got []string
		for i, report := range strings.Split(c.reports, "|") {
			f, name := strings.SplitN(report, " ", 3), fmt.Sprintf("stage_%d.yaml", i)
			if c.files != "" {
				name = strings.Fields(c.files)[i]
			}
			doc, err := parseResults(name, fmt.Appendf(nil, `version: '0.2'
run: {uid: u%d, eid: %s}
scenario:
  stack:
  - metadata: {cfg_id: c}
    standardized: {kind: inference_engine, tool: llm-d, tool_version: %s, model: {name: M}, accelerator: {count: 8}}
  load: {standardized: {tool: inference-perf, %s}}
results:
  request_performance:
    aggregate: {requests: {total: 5}, throughput: {request_rate: {units: queries/s, mean: 4}}}
`, i, strings.Trim(f[0], "-"), f[1], f[2]))
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, doc)
		}
		Gather(docs...)
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
