package published

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"llmsweep/client/testkit"
)

// TestMalformedJSON tests that what cannot be read gives one line that says where and why.
func TestMalformedJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"benchmarks": [`, "doc: line 1: the JSON ends in the middle; was the file cut off?"},
		{"\ufeff{\n \"a\": 1,\n b\n}", "doc: line 3: not JSON: invalid character 'b' looking for beginning of object key string"},
		{"{\"a\": 1}\n{\"b\" 2}", "doc: line 2: not JSON: invalid character '2' after object key"},
		{strings.Repeat("[{\"a\":", 20000), "doc: line 1: not JSON: invalid character '[' exceeded max depth"},
	} {
		_, err := ParseText("doc", strings.NewReader(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
	// Python's notation, and what is not JSON at all
	for _, text := range []string{"{'choices': []}\n", "[1, 2]\n", "{ {\n"} {
		if doc, err := ParseText("doc", strings.NewReader(text)); err != nil || len(doc.Remarks) > 0 || len(doc.Lines) != 1 {
			t.Errorf("%q: %v, %+v", text, err, doc)
		}
	}
	for _, c := range []struct{ text, want string }{
		{`{"a": {"b": 1}}`, "is a JSON object of no known tool (its keys: a); known are GuideLLM, vllm bench serve, llm-d"},
		{`{"benchmarks": [], "metadata": {"guidellm_version": "0.8.1"}}`, "holds no benchmark"},
		{`{"request_throughput": "fast", "completed": -1, "total_input_tokens": 1e300, "model_id": "m", "duration": NaN}`,
			"completed: -1 is no count"},
	} {
		doc, err := ParseText("doc", strings.NewReader(c.text))
		if err != nil || len(doc.Remarks) == 0 || len(doc.Runs) > 0 || doc.Remarks[0].Text != c.want {
			t.Errorf("%s: %v, %+v", c.text, err, doc)
		}
	}
}

const jsonFiles = "testdata/results"

// fuzzJSON fuzzes one format with one of its files.
func fuzzJSON(f *testing.F, files ...string) {
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(jsonFiles, name))
		if err != nil {
			f.Fatal(err)
		}
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
					if p.Line < 1 || p.Line > len(doc.Lines) {
						t.Errorf("%s in line %d of %d", key, p.Line, len(doc.Lines))
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
func FuzzLLMD(f *testing.F) {
	fuzzJSON(f, "llm-d-guidellm-0.yaml", "llm-d-inference-perf.yaml", "llm-d-llmsweep.json", "llm-d-vllm.json")
}
func FuzzVLLMBench(f *testing.F) { fuzzJSON(f, "vllm-bench-0.32.0-rate.json") }
