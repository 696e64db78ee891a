package published_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

func readFile(t *testing.T, name string) *published.Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := published.ParseText(name, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// describe lists runs with their labels, the lines of these, their notes and their stages.
func describe(doc *published.Document) string {
	var b strings.Builder
	for i := range doc.Runs {
		run := &doc.Runs[i]
		fmt.Fprintf(&b, "%s:%d %s, model %q quant %q gpu %q gpus %d engine %q\n", run.Source.File, run.Source.Line,
			run.Source.Heading,
			run.Labels.Model, run.Labels.Quant, run.Labels.GPU, run.Labels.GPUs, run.Labels.Engine)
		for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
			l := run.Source.Labels[key]
			fmt.Fprintf(&b, "  %-13s line %3d  %-8s  %s\n", key, l.Line, map[bool]string{true: "inferred",
				false: "read"}[l.Inferred], l.Text)
		}
		for _, n := range published.ImportNotes(run) {
			fmt.Fprintf(&b, "  note: %s\n", published.Words().Say(n, "en"))
		}
		for _, s := range run.Stages {
			fmt.Fprintf(&b, "  line %3d  %-20s %s repeat %d  %.2f req/s\n", s.Source.Line, s.Name, s.Role, s.Repeat,
				s.Rates.Completed.Value())
			for _, n := range s.Warnings {
				fmt.Fprintf(&b, "            %s\n", published.Words().Say(n, "en"))
			}
		}
	}
	return b.String()
}

// TestLadders: the 25 tables of a document are five runs, with the GPUs, the command and the model that stand around
// them.
func TestLadders(t *testing.T) {
	testkit.CheckGolden(t, "runs/scaling-a10.txt", []byte(describe(published.Join(readFile(t, "scaling-a10.txt")))))
}

// TestJoinedFiguresRoundTrip: the numbers of every reference document, joined into runs and printed in the format that
// they came in, are read again.
func TestJoinedFiguresRoundTrip(t *testing.T) {
	for name, format := range map[string]string{
		"scaling-a10.txt": "stress", "stress-tables.txt": "stress", "serving-blocks.txt": "serving",
		"guidellm-tables.md": "markdown",
	} {
		numbers := 0
		for _, run := range published.Join(readFile(t, name)).Runs {
			var b bytes.Buffer
			if err := report.Render(&b, format, []rundir.Run{run}, report.Options{}); err != nil {
				t.Fatal(err)
			}
			again, err := published.ParseText("printed", strings.NewReader(b.String()))
			if err != nil {
				t.Fatal(err)
			}
			want, got := numbersOf([]rundir.Run{run}, format), numbersOf(again.Runs, format)
			numbers += len(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s:%d (-read +printed and read again):\n%s", name, run.Source.Line, diff)
			}
		}
		t.Logf("%s: %d numbers", name, numbers)
	}
}

// numbersOf is all numbers of the stages that a format prints, sorted.
func numbersOf(runs []rundir.Run, format string) []string {
	var all []string
	for i := range runs {
		for j := range runs[i].Stages {
			s := &runs[i].Stages[j]
			for key, v := range figures(s, format) {
				if v.Known() && v.Value() != 0 { // a row of zeros is printed as n/a
					all = append(all, fmt.Sprintf("%s %d %.3g %.6g", key, s.MaxConcurrency, s.Rate.Value(), v.Value()))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

const table30 = "SGLang Stress Test Results - 2025-04-29 14:05:46\n┃ Metric ┃ Value ┃\n│ URL │ http://h/generate │\n│ Concurrent Requests │ 30 │\n" +
	"│ Total Requests │ 300 │\n│ Actual Throughput │ 20 requests/second │\n"

// TestContext: what stands around a table labels it.
func TestContext(t *testing.T) {
	smi := "| NVIDIA-SMI 550 |\n|   0  NVIDIA L20   On  | 0 |\n|  9MiB /  46068MiB |\n|   1  NVIDIA L20   On  | 0 |\n\n"
	for _, c := range []struct {
		name, text string
		want       rundir.Labels
		inferred   string // labels
		notes      []string
	}{
		{"data parallel", "python -m sglang.launch_server --model-path Qwen/Qwen2-7B --dp 2\n",
			rundir.Labels{Model: "Qwen/Qwen2-7B", GPUs: 2, Engine: "SGLang"}, "", nil},
		{"both", "python -m sglang.launch_server --model-path /m/Qwen2-7B-AWQ --tp=2 --dp 2\n",
			rundir.Labels{Model: "Qwen2-7B", Quant: "AWQ", GPUs: 4, Engine: "SGLang"}, "", nil},
		{"several lines", "$ CUDA_VISIBLE_DEVICES=0,1 python3 -m sglang.launch_server \\\n  --model-path /m/Qwen2-7B \\\n  --quantization fp8 --tp 2\n",
			rundir.Labels{Model: "Qwen2-7B", Quant: "fp8", GPUs: 2, Engine: "SGLang"}, "", nil},
		{"no option", "python -m sglang.launch_server --model-path /m/Qwen2-7B\n", rundir.Labels{Model: "Qwen2-7B", GPUs: 1,
			Engine: "SGLang"}, "gpus", nil},
		{"another engine's command", "vllm serve /m/Qwen2-7B -tp 4\n", rundir.Labels{Engine: "SGLang"}, "",
			[]string{"engine is SGLang"}},
		{"machine", smi, rundir.Labels{GPU: "L20", GPUs: 2, Engine: "SGLang"}, "gpus", nil},
		{"part of a machine", smi + "python -m sglang.launch_server --model /m/Qwen2-7B --tp 1\n",
			rundir.Labels{Model: "Qwen2-7B", GPU: "L20", GPUs: 1, Engine: "SGLang"}, "", nil},
		{"more than the machine has", smi + "python -m sglang.launch_server --model /m/Qwen2-7B --tp 4\n",
			rundir.Labels{Model: "Qwen2-7B", GPU: "L20", GPUs: 4, Engine: "SGLang"}, "", []string{"gpus is 4"}},
		{"list", "GPU 0: NVIDIA A10 (UUID: GPU-1)\nGPU 1: NVIDIA A10 (UUID: GPU-2)\n", rundir.Labels{GPU: "A10", GPUs: 2,
			Engine: "SGLang"}, "gpus", nil},
		{"remark", "/**** Now compare with 2 GPUs  ****/\n", rundir.Labels{GPUs: 2, Engine: "SGLang"}, "", nil},
		{"Chinese remark", "// 改用双卡\n", rundir.Labels{GPUs: 2, Engine: "SGLang"}, "", nil},
		{"remark against command", "/**** Now compare with 2 GPUs  ****/\npython -m sglang.launch_server --model /m/Qwen2-7B --tp 4\n",
			rundir.Labels{Model: "Qwen2-7B", GPUs: 4, Engine: "SGLang"}, "", []string{"gpus is 4"}},
		{"request", "curl http://h -d '{\"model\": \"Qwen2-7B-AWQ\", \"n\": 1}'\n", rundir.Labels{Model: "Qwen2-7B",
			Quant: "AWQ", Engine: "SGLang"}, "model quant", nil},
		{"date", "## 4.27-28\n", rundir.Labels{Engine: "SGLang"}, "", []string{"date is 2025-04-29"}},
		{"next section", "## a\npython -m sglang.launch_server --model /m/Qwen2-7B --tp 4\n## b\n",
			rundir.Labels{Engine: "SGLang"}, "", nil},
		{"a sentence", "vllm serve is a command\n", rundir.Labels{Engine: "SGLang"}, "", nil},
	} {
		doc, err := published.ParseText("doc", strings.NewReader(c.text+"\n"+table30))
		if err != nil || len(doc.Runs) != 1 {
			t.Fatalf("%s: %v, %d runs", c.name, err, len(doc.Runs))
		}
		run := doc.Runs[0]
		if diff := cmp.Diff(c.want, run.Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		var inferred []string
		for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
			if run.Source.Labels[key].Inferred && key != "gpu_memory" {
				inferred = append(inferred, key)
			}
		}
		if got := strings.Join(inferred, " "); got != c.inferred {
			t.Errorf("%s: inferred %q, want %q", c.name, got, c.inferred)
		}
		notes := published.ImportNotes(&run)
		if len(notes) != len(c.notes) {
			t.Errorf("%s: %v", c.name, notes)
			continue
		}
		for i, want := range c.notes {
			if got := published.Words().Say(notes[i], "en"); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
	}
}

// TestWarmUp: a remark makes the next table a warm-up, unless it says that none is needed.
func TestWarmUp(t *testing.T) {
	for remark, want := range map[string]rundir.Role{
		"//warm up effect!": rundir.WarmUp, "// 预热": rundir.WarmUp, "/* warm-up */": rundir.WarmUp,
		"//No need to warm-up": rundir.Single, "// 无需预热": rundir.Single, "warm-ups matter": rundir.Single,
	} {
		doc, err := published.ParseText("doc", strings.NewReader(remark+"\n"+table30+"\n"+table30+"\n"+table30))
		if err != nil {
			t.Fatal(err)
		}
		run := published.Join(doc).Runs[0]
		repeats := 3
		if run.Stages[0].Role != want {
			t.Errorf("%s: %s", remark, run.Stages[0].Role)
		}
		if want == rundir.WarmUp {
			repeats = 2
		}
		if run.Plan.Repeats != repeats || run.Stages[2].Repeat != repeats {
			t.Errorf("%s: %d repeats", remark, run.Plan.Repeats)
		}
	}
}

// TestFlagWins: a label that the user gives replaces that of the document, and the difference is noted.
func TestFlagWins(t *testing.T) {
	run := published.Join(readFile(t, "scaling-a10.txt")).Runs[2]
	published.Override(&run, rundir.Labels{GPUs: 8, Engine: "SGLang"})
	l := run.Source.Labels["gpus"]
	if run.Labels.GPUs != 8 || l.Line != 0 || l.Text != "--label gpus=8" {
		t.Errorf("%d, %+v", run.Labels.GPUs, l)
	}
	notes := published.ImportNotes(&run)
	if got := published.Words().Say(notes[len(notes)-1], "en"); got != "gpus is 8, as --label says; line 264 has 2" {
		t.Error(got)
	}
}
