package published

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

// seeds are the published documents and what is worst in documents.
func seeds(f *testing.F) {
	for _, name := range []string{tables, stress, blocks, scaled} {
		b := testkit.Must(os.ReadFile(filepath.Join("testdata", name)))
		lines := strings.SplitAfter(string(b), "\n")
		f.Add(strings.Join(lines[:min(len(lines), 42)], "")) // small, so that the fuzzer gets somewhere
	}
	for _, s := range []string{
		strings.Repeat("|", 5000), strings.Repeat("| a ", 5000), strings.Repeat("│", 5000), strings.Repeat("=", 5000),
		strings.Repeat("- **", 2000) + "prompt_tokens=",
		"==== Serving Benchmark Result ====\nSuccessful requests: 1e308\nMax request concurrency: -9e99",
		"┃ Metric ┃ Value ┃\n│ Total Requests │ 99999999999999999999999 │\n│ Max Tokens │ 1e300 │\n│ P99 Response Time │ -1 seconds │",
		"| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n| concurrent@1e14 | > n/a | \\> 1 | &gt; 2 | - | 0x1p-2 |",
		"\\|\\", "|\\", "# \n## \n#Input tokens: 999999999999999999999\n'completion_tokens': 1234567890123",
		"LLM Stress Test Results - 0000-00-00 99:99:99",
		"## 13.99-98\n| NVIDIA-SMI 1 |\n|   0  NVIDIA A10   On  |\n|  9MiB / 99999999MiB |\n//warm up 9999 GPUs\nvllm serve /m/x-awq --tp 99999 --dp=99999 \\\n--pp 9 \\",
		"/**** 2 GPUs ****/\npython3 -m sglang.launch_server --model-path /m/ --tp 2\nvLLM Stress Test Results - 2025-04-29 14:16:47\n┃ Metric ┃ Value ┃\n│ Concurrent Requests │ 30 │\n\nvLLM Stress Test Results\n┃ Metric ┃ Value ┃\n│ Concurrent Requests │ 30 │",
	} {
		f.Add(s)
	}
}

// FuzzParse: no document makes the reader panic, hang, lose count of its lines, or store what JSON can't hold.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string) {
		doc, err := ParseText("doc", strings.NewReader(text))
		if err != nil {
			return
		}
		checkDocument(t, doc)
		checkJoined(t, doc)
	}))
}

// checkDocument checks what holds for every document: remarks and results stand in its lines, and JSON can hold them.
func checkDocument(t *testing.T, doc *Document) {
	t.Helper()
	for _, r := range doc.Remarks {
		if r.Line < 1 || r.Line > len(doc.lineKinds) {
			t.Errorf("a remark on line %d of %d", r.Line, len(doc.lineKinds))
		}
	}
	for _, run := range doc.Runs {
		if len(run.Stages) == 0 || run.Source.Line < 1 || run.Source.Line > len(doc.lineKinds) {
			t.Errorf("a result of %d rows in line %d of %d", len(run.Stages), run.Source.Line, len(doc.lineKinds))
		}
		b := testkit.Must(json.Marshal(run))
		if err := json.Unmarshal(b, &rundir.Run{}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkJoined checks that joining keeps each stage, gives each a name of its own in its run, and numbers repeats from
// 1.
func checkJoined(t *testing.T, doc *Document) {
	t.Helper()
	joined := Join(doc)
	count := func(d *Document) (n int) {
		for _, r := range d.Runs {
			n += len(r.Stages)
		}
		return n
	}
	if count(doc) != count(joined) {
		t.Errorf("%d stages, and %d joined", count(doc), count(joined))
	}
	for _, r := range joined.Runs {
		names := map[string]bool{}
		for _, s := range r.Stages {
			if names[s.Name] && r.Source.Format != SixColumn {
				t.Errorf("two stages are called %q", s.Name)
			}
			names[s.Name] = true
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}

// fuzzJSON fuzzes one format with one of its files.
func fuzzJSON(f *testing.F, files ...string) {
	for _, name := range files {
		b := testkit.Must(os.ReadFile(filepath.Join("testdata/results", name)))
		text := string(b)
		// small, so that the fuzzer gets somewhere
		if v := gjson.Parse(text); len(text) > 20000 && v.Get("benchmarks").IsArray() {
			text = fmt.Sprintf(`{"metadata":%s,"benchmarks":[%s]}`, v.Get("metadata").Raw, v.Get("benchmarks.1").Raw)
		}
		f.Add(text)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string) {
		doc, err := ParseText("doc", strings.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		checkDocument(t, doc)
		for _, run := range doc.Runs {
			for _, s := range run.Stages {
				for key, p := range s.Source.Printed {
					if p.Line < 1 || p.Line > len(doc.lineKinds) {
						t.Errorf("%s in line %d of %d", key, p.Line, len(doc.lineKinds))
					}
				}
				if v := s.TTFT.Mean; v.Known() && (math.IsNaN(v.Value()) || math.Abs(v.Value()) > 1e15) {
					t.Errorf("a mean of %v", v.Value())
				}
			}
		}
	}))
}

func FuzzGuideLLM(f *testing.F) {
	fuzzJSON(f, "guidellm-0.5.4-sweep.json", "guidellm-0.8.1-sweep.json")
}
func FuzzVLLMBench(f *testing.F) { fuzzJSON(f, "vllm-bench-0.32.0-rate.json") }
