package page

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// publishedSetups are the configurations of a published document, those of one model.
func publishedSetups(t testing.TB) []setup.Setup {
	const file = "../../examples/document/en/report.md"
	doc, err := published.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var inputs []setup.Input
	for i := range doc.Runs {
		inputs = append(inputs, setup.Input{Path: file, Run: &doc.Runs[i]})
	}
	return slices.DeleteFunc(setup.Load(inputs),
		func(s setup.Setup) bool { return setup.Model(s.Run) != "Qwen2-7B-Instruct" })
}

// chooseOptions is what the tests ask for.
func chooseOptions(t testing.TB) choose.Options {
	terms, err := slo.ParseAll([]string{"itl:mean<50ms", "ttft:mean<200ms"})
	if err != nil {
		t.Fatal(err)
	}
	return choose.Options{
		Terms:    terms,
		Demand:   choose.Demand{Amount: 20},
		Prices:   choose.Prices{"L20": 1.2, "A100": 3.6},
		Headroom: 0.2,
	}
}

// Pages of several runs are sound, and name what they show.
func TestPagesOfSeveral(t *testing.T) {
	for name, p := range otherPages(t) {
		t.Run(name, func(t *testing.T) { checkPage(t, parse(t, p)) })
	}
}

// otherPages are a page of each kind but that of a run.
func otherPages(t *testing.T) map[string][]byte {
	t.Helper()
	pages := map[string][]byte{}
	put := func(name string, write func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		pages[name] = b.Bytes()
	}
	var inputs []Input
	for _, dir := range []string{"llamacpp-completions", "vllm-cpu", "vllm-edge"} {
		path := "../../examples/real/" + dir
		run, err := store.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, Input{run, path})
	}
	put("index", func(b *bytes.Buffer) error { return Runs(b, inputs, WriteOptions{}) })
	setups, o := publishedSetups(t), chooseOptions(t)
	choices, err := choose.Of(setups, o)
	if err != nil {
		t.Fatal(err)
	}
	put("choice", func(b *bytes.Buffer) error {
		return Choose(b, choices, setups, o, choices[0].Sections(1), WriteOptions{})
	})
	result, err := compare.Of(setups, false)
	if err != nil {
		t.Fatal(err)
	}
	put("compare", func(b *bytes.Buffer) error {
		return Compare(b, result, setups, result.Report(1), WriteOptions{})
	})
	return pages
}

// Intervals are explained where some are drawn: the published document has none.
func TestIntervalsAreExplained(t *testing.T) {
	explained := func(page string) bool { return strings.Contains(page, pageUncertain.In("en")) }
	if p := otherPages(t); explained(string(p["compare"])) || !explained(string(p["index"])) {
		t.Error("a page explains intervals that it does not draw, or does not explain those that it draws")
	}
}

// An index names runs without the directory that all are in.
func TestNamesOfAnIndex(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{[]string{"/home/a/runs/x", "/home/a/runs/y/z"}, []string{"x", "y/z"}}, {[]string{"../r/x", "../s/x"},
			[]string{"r/x", "s/x"}},
		{[]string{"x", "y"}, []string{"x", "y"}}, {[]string{"/x", "y"}, []string{"/x", "y"}},
		{[]string{"runs/x"}, []string{"x"}},
	} {
		if got := trimCommonDir(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q are called %q, want %q", c.paths, got, c.want)
		}
	}
}

// Rows that the audit calls impossible are in no drawing, and only rows that a choice rests on are on the Pareto front:
// the published document has a TTFT of 1090 s, and bursts beside its arrival rates.
func TestImpossibleRowsNotDrawn(t *testing.T) {
	setups := publishedSetups(t)
	impossible := 0
	for i := range setups {
		for j := range setups[i].Run.Stages {
			if setups[i].Impossible(&setups[i].Run.Stages[j]) {
				impossible++
			}
		}
	}
	if impossible < 1 {
		t.Fatalf("the document has %d impossible rows", impossible)
	}
	all := newOverlay(setups, setupNames(setups), "").figures()
	told := 0
	for _, f := range all {
		if strings.Contains(f.Note.EN, fmt.Sprintf("impossible: %d.", impossible)) {
			told++
		}
		drawn := map[int]bool{}
		for _, s := range f.Variants[0].Drawn.Panels[0].Series {
			for _, p := range s.Points {
				drawn[p.Row] = true
				if f.Name == "all-ttft-mean" && p.Y > 1000 {
					t.Errorf("%s draws %v s", f.Name, p.Y)
				}
			}
		}
		if f.Name == "speed" {
			checkFront(t, f, setups)
		}
		if len(drawn) < 50 {
			t.Errorf("%s has %d points", f.Name, len(drawn))
		}
	}
	if told != len(all) {
		t.Errorf("%d of %d drawings tell how many rows they leave out", told, len(all))
	}
}

// checkFront compares the front of a drawing with that of the tables of a choice.
func checkFront(t *testing.T, f FigureBlock, setups []setup.Setup) {
	var of []*setup.Setup
	for i := range setups {
		of = append(of, &setups[i])
	}
	want, got := choose.FrontSpeed(of), f.Variants[0].Drawn.Panels[0].Series[0]
	if got.Style != draw.Front || len(got.Points) != len(want) {
		t.Fatalf("%d points on the front, and %d in the table", len(got.Points), len(want))
	}
	for i, p := range got.Points {
		if p.X != want[i].PerUser || p.Y != want[i].PerGPU {
			t.Errorf("%v on the front, %v in the table", p, want[i])
		}
	}
	for _, r := range f.Table.Rows {
		if !r[3].Text.IsZero() && strings.HasSuffix(r[0].Text.EN, "throughput") {
			t.Errorf("%s is on the front", r[0].Text.EN)
		}
	}
}
