package published

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// The published documents that the formats were taken from.
const (
	tables = "guidellm-tables.md"
	stress = "stress-tables.txt"
	blocks = "serving-blocks.txt"
	scaled = "scaling-a10.txt"
)

func parseFile(t testing.TB, name string) *Document {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := ParseText(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func parseText(t testing.TB, text string) *Document {
	t.Helper()
	doc, err := ParseText("doc", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestDocumentsAreReadWhole: each line is a number, what belongs to one, or prose that is listed here.
func TestDocumentsAreReadWhole(t *testing.T) {
	for _, c := range []struct {
		name                 string
		runs, rows, figures  int
		context, frame, held int // lines
		prose                []int
		remarks              []Remark
	}{
		{tables, 13, 143, 858, 16, 26, 143, []int{4, 5, 6, 7}, []Remark{
			{Line: 90, Text: "Inter Token Latency 45.38 has no unit: read as ms"},
			{Line: 112, Text: `"Time to First Taken" is read as "Time to First Token"`},
		}},
		{stress, 16, 16, 380, 49, 64, 364,
			[]int{5, 130, 134, 258, 266, 390, 400, 460, 466, 468, 469, 470, 471, 472, 475, 476, 477, 478, 479, 540}, nil},
		{blocks, 3, 3, 88, 9, 18, 84, []int{5, 42, 86}, nil},
		{scaled, 25, 25, 576, 107, 102, 551, []int{
			3, 4, 29, 167, 175, 405, 411, 808, 816, 818, 820, 822, 823, 825, 827, 829, 830, 832, 834, 836, 837, 839, 841, 842,
			843, 845, 847, 849, 850, 852,
		}, nil},
	} {
		doc := parseFile(t, c.name)
		rows, figures, kinds := 0, 0, map[Kind]int{}
		for _, run := range doc.Runs {
			rows += len(run.Stages)
			figures += len(run.Source.Printed)
			for _, s := range run.Stages {
				figures += len(s.Source.Printed)
			}
		}
		var prose []int
		for i, k := range doc.Lines {
			kinds[k]++
			if k == Prose {
				prose = append(prose, i+1)
			}
		}
		got := []int{len(doc.Runs), rows, figures, kinds[Context], kinds[Frame], kinds[Numbers], kinds[Unread]}
		if diff := cmp.Diff([]int{c.runs, c.rows, c.figures, c.context, c.frame, c.held, 0}, got); diff != "" {
			t.Errorf("%s: runs, rows, figures, lines of context, frame, figures, unread (-want +got):\n%s", c.name, diff)
		}
		if diff := cmp.Diff(c.prose, prose); diff != "" {
			t.Errorf("%s: lines of prose (-want +got):\n%s", c.name, diff)
		}
		for i := range doc.Remarks {
			doc.Remarks[i].Note = note.Note{} // which has the same words as Text
		}
		if diff := cmp.Diff(c.remarks, doc.Remarks); diff != "" {
			t.Errorf("%s: remarks (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestNoFigureIsLost: every number on a line of numbers stands in a number of that line, as it was printed.
func TestNoFigureIsLost(t *testing.T) {
	number := regexp.MustCompile(`\d[\d,.]*`)
	labels := regexp.MustCompile(`P9[059]|1st token|E2E`)
	for _, name := range []string{tables, stress, blocks, scaled} {
		doc := parseFile(t, name)
		printed := map[int]string{}
		for _, run := range doc.Runs {
			for _, s := range run.Stages {
				for _, p := range s.Source.Printed {
					printed[p.Line] += p.Text + " "
				}
			}
		}
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		numbers := 0
		for i, line := range strings.Split(string(text), "\n") {
			if i >= len(doc.Lines) || doc.Lines[i] != Numbers {
				continue
			}
			for _, n := range number.FindAllString(labels.ReplaceAllString(line, ""), -1) {
				numbers++
				if !strings.Contains(printed[i+1], n) {
					t.Errorf("%s:%d: %s is in no figure: %s", name, i+1, n, line)
				}
			}
		}
		t.Logf("%s: %d numbers", name, numbers)
	}
}

func stageAt(t *testing.T, doc *Document, line int) *rundir.Stage {
	t.Helper()
	for i := range doc.Runs {
		for j := range doc.Runs[i].Stages {
			if s := &doc.Runs[i].Stages[j]; s.Source.Line == line {
				return s
			}
		}
	}
	t.Fatalf("no row in line %d", line)
	return nil
}

func TestFigures(t *testing.T) {
	sweeps, ladders, served := parseFile(t, tables), parseFile(t, stress), parseFile(t, blocks)
	exactly := rundir.Exactly
	for _, c := range []struct {
		what      string
		got, want rundir.Number
	}{
		{"first row", stageAt(t, sweeps, 14).Rates.Completed, exactly(0.51)},
		{"milliseconds", stageAt(t, sweeps, 14).TTFT.Mean, exactly(0.09557)},
		{"seconds where others are milliseconds", stageAt(t, sweeps, 21).TTFT.Mean, exactly(1090.02)},
		{"thousands", stageAt(t, sweeps, 41).TokensPerS.Output, exactly(1187.02)},
		{"no space before", stageAt(t, sweeps, 74).TokensPerS.Output, exactly(3509.59)},
		{"no unit", stageAt(t, sweeps, 90).InterToken, exactly(0.04538)},
		{"misspelt heading", stageAt(t, sweeps, 114).TTFT.Mean, exactly(0.13705)},
		{"rate asked", stageAt(t, sweeps, 156).Rate, exactly(16.33)},
		{"asked tokens", stageAt(t, sweeps, 156).AskedTokens, exactly(128)},
		{"a rate of zero", stageAt(t, sweeps, 212).Rates.Completed, exactly(0)},
		{"no time at all", stageAt(t, sweeps, 212).Latency.Mean, rundir.Number{}},
		{"last row", stageAt(t, sweeps, 222).InterToken, exactly(0.05012)},
		{"temperature", ladders.Runs[0].Workload.Temperature, exactly(0.7)},
		{"p95", stageAt(t, ladders, 9).Latency.P95, exactly(27.17)},
		{"spread", stageAt(t, ladders, 513).Latency.Std, exactly(0.01)},
		{"theoretical", stageAt(t, ladders, 485).Rates.TheoreticalMax, exactly(41.18)},
		{"total", stageAt(t, ladders, 432).OutputTokens.Total, exactly(78276)},
		{"log above", exactly(stageAt(t, ladders, 39).Elapsed), exactly(259.25)},
		{"duration", exactly(stageAt(t, ladders, 39).Window), exactly(259.24)},
		{"retokenized", stageAt(t, served, 7).OutputTokens.Retokenized, exactly(129591)},
		{"vision", stageAt(t, served, 46).PromptTokens.Vision, exactly(0)},
		{"tpot p99", stageAt(t, served, 7).TPOT.P99, exactly(1.3372)},
		{"itl max", stageAt(t, served, 88).ITL.Max, exactly(0.19455)},
		{"asked of the data set", stageAt(t, served, 88).AskedTokens, exactly(258.83)},
		{"asked of the same requests in the block above", stageAt(t, served, 46).AskedTokens, exactly(258.83)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
	if p := stageAt(t, ladders, 513).Source.Printed["tokens_per_s.output"]; p != (rundir.Printed{Line: 535,
		Text: "423.26"}) {
		t.Errorf("provenance %v", p)
	}
	if diff := cmp.Diff([]string{"p99"}, stageAt(t, ladders, 9).Latency.Unsupported); diff != "" {
		t.Errorf("unsupported by 100 requests (-want +got):\n%s", diff)
	}
}

func TestLabels(t *testing.T) {
	on, off := true, false
	for _, c := range []struct {
		doc    string
		line   int
		labels rundir.Labels
		think  *bool
		dir    string // the heading
	}{
		{tables, 27, rundir.Labels{Model: "Qwen2-7B-Instruct", Quant: "GPTQ-Int4", GPU: "L20 48GB", GPUs: 1, Engine: "vLLM"},
			nil, "细节"},
		{tables, 60, rundir.Labels{Model: "Qwen2-7B-Instruct", GPU: "L20 48GB", GPUs: 2, Engine: "SGLang"}, nil, "细节"},
		{tables, 110, rundir.Labels{Model: "Qwen2-7B-Instruct", Quant: "AWQ", GPU: "L20 48GB", GPUs: 1, Engine: "vLLM"}, nil,
			"细节"},
		{tables, 208, rundir.Labels{Model: "Qwen2-MoE-57B-A14B-Instruct", GPU: "A100 80GB", GPUs: 2, Engine: "vLLM"}, nil,
			"细节"},
		{stress, 9, rundir.Labels{Model: "Qwen3-4B", Engine: "vLLM"}, &on, "openai api / vLLM / think"},
		{stress, 168, rundir.Labels{Model: "Qwen3-4B", Engine: "SGLang"}, &off, "openai api / SGLang / no think"},
		{stress, 332, rundir.Labels{Model: "Qwen3-4B", Engine: "vLLM"}, &off,
			"openai api / max_token 512 with no think mode / vllm"},
		{stress, 402, rundir.Labels{Model: "Qwen3-4B", Engine: "vLLM"}, nil, "native api / vLLM"},
		{stress, 485, rundir.Labels{Model: "Qwen3-4B", Engine: "SGLang"}, nil, "native api / SGLang"},
		{blocks, 46, rundir.Labels{Engine: "SGLang"}, nil, "Rust"},
	} {
		doc := parseFile(t, c.doc)
		i := slices.IndexFunc(doc.Runs, func(r rundir.Run) bool { return r.Source.Line == c.line })
		if i < 0 {
			t.Fatalf("%s: no result in line %d", c.doc, c.line)
		}
		run := doc.Runs[i]
		if diff := cmp.Diff(c.labels, run.Labels); diff != "" {
			t.Errorf("%s:%d (-want +got):\n%s", c.doc, c.line, diff)
		}
		if diff := cmp.Diff(c.think, run.Workload.Think); diff != "" {
			t.Errorf("%s:%d: thinking (-want +got):\n%s", c.doc, c.line, diff)
		}
		if run.Source.Heading != c.dir {
			t.Errorf("%s:%d: under %q, want %q", c.doc, c.line, run.Source.Heading, c.dir)
		}
	}
}

func TestResponses(t *testing.T) {
	doc := parseFile(t, stress)
	want := []rundir.Response{
		{Line: 473, CompletionTokens: 128, PromptTokens: 13, Finish: "length", Latency: rundir.Exactly(2.365816116333008)},
		{Line: 480, CompletionTokens: 128, PromptTokens: 9, Finish: "length", Latency: rundir.Exactly(2.365438461303711)},
	}
	for i, run := range doc.Runs {
		var expect []rundir.Response
		if i >= 14 {
			expect = want
		}
		if diff := cmp.Diff(expect, run.Source.Responses,
			cmp.Comparer(func(a, b rundir.Number) bool { return a == b })); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", run.Source.Line, diff)
		}
	}
}
