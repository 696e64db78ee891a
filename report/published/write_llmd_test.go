package published

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// llmdReports writes runs as Benchmark Reports, each of which must follow the format.
func llmdReports(t *testing.T, runs ...rundir.Run) []llmdReport {
	t.Helper()
	b, err := os.ReadFile("testdata/llm-d-0.2.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("llm-d", tree); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("llm-d")
	var out bytes.Buffer
	if err := WriteLLMD(&out, runs); err != nil {
		t.Fatal(err)
	}
	text := out.Bytes()
	if text[0] == '{' {
		text = append(append([]byte("["), text...), ']')
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		t.Fatal(err)
	}
	reports := make([]llmdReport, len(parts))
	for i, part := range parts {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(part))
		if err == nil {
			err = schema.Validate(v)
		}
		if err == nil {
			err = json.Unmarshal(part, &reports[i])
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, part)
		}
	}
	return reports
}

// TestLLMDReports writes the runs of real servers: a report for each stage, with its numbers.
func TestLLMDReports(t *testing.T) {
	dirs, err := filepath.Glob("../../examples/real/*/" + rundir.RunFile)
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, dirs)
	}
	for _, file := range dirs {
		run, err := store.Open(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		reports := llmdReports(t, *run)
		if len(reports) != len(run.Stages) {
			t.Fatalf("%d reports of %d stages", len(reports), len(run.Stages))
		}
		seen := map[string]bool{}
		for i, r := range reports {
			s, a := &run.Stages[i], &r.Results.Performance.Aggregate
			if seen[r.Run.UID] || r.Run.EID != reports[0].Run.EID {
				t.Errorf("%s: identifiers %s, %s", s.Name, r.Run.UID, r.Run.EID)
			}
			seen[r.Run.UID] = true
			for name, pair := range map[string][2]float64{
				"TTFT": {a.Latency.TTFT.Mean, s.TTFT.Mean.Value()}, "ITL": {a.Latency.ITL.Mean, s.ITL.Mean.Value()},
				"TPOT":    {a.Latency.TPOT.Mean, s.TPOT.Mean.Value()},
				"latency": {a.Latency.Request.Mean, s.Latency.Mean.Value()}, "requests": {a.Throughput.Requests.Mean,
					s.Rates.Completed.Value()},
				"output": {a.Throughput.Output.Mean, s.TokensPerS.Output.Value()}, "failures": {float64(a.Requests.Failures),
					float64(s.Requests.Error)},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12 {
					t.Errorf("%s of %s: %v, want %v", name, s.Name, pair[0], pair[1])
				}
			}
		}
	}
}

// TestLLMDOfLittle writes a stage of which almost nothing is known, and one with bounds: values that are not known are
// left out.
func TestLLMDOfLittle(t *testing.T) {
	s := rundir.Stage{Name: "concurrent@4", MaxConcurrency: 4, TTFT: rundir.Dist{Mean: rundir.Exactly(0.2),
		P99: rundir.Over(3)}, Latency: rundir.Dist{Mean: rundir.Over(9)}}
	run := rundir.Run{
		Source: &rundir.Source{Format: Stress}, Stages: []rundir.Stage{s},
		Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 100, Std: 40, Min: 1, Max: 900,
			Shape: rundir.ShapeLognormal}, Forced: true},
	}
	r := llmdReports(t, run)[0]
	a, load := &r.Results.Performance.Aggregate, &r.Scenario.Load.Standardized
	if a.Latency.TTFT.P99 != nil || a.Latency.Request != nil || a.Throughput.Requests != nil || r.Run.Time != nil {
		t.Errorf("%+v", a)
	}
	if load.Concurrency != 4 || load.Rate != nil || load.Tool != string(Stress) || load.Source != "unknown" ||
		load.Input.Distribution != "other" || load.Output.Distribution != "other" {
		t.Errorf("%+v", load)
	}
}
