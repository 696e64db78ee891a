package page

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// publishedSetups are the configurations of a published document, those of one model.
var publishedSetups = sync.OnceValue(func() []setup.Setup {
	const file = "../../examples/document/en/report.md"
	doc := testkit.Must(published.ParseFile(file))
	var inputs []setup.Input
	for i := range doc.Runs {
		inputs = append(inputs, setup.Input{Path: file, Run: &doc.Runs[i]})
	}
	return slices.DeleteFunc(setup.Load(inputs),
		func(s setup.Setup) bool { return setup.Model(s.Run) != "Qwen2-7B-Instruct" })
})

func chooseOptions() choose.Options {
	return choose.Options{
		Terms:  testkit.Must(slo.ParseAll([]string{"itl:mean<50ms", "ttft:mean<200ms"})),
		Demand: choose.Demand{Amount: 20}, Prices: choose.Prices{"L20": 1.2, "A100": 3.6}, Headroom: 0.2,
	}
}

// pages write a page of each kind but that of a run.
var pages = map[string]func(io.Writer) error{
	"index": func(w io.Writer) error {
		var inputs []Input
		for _, dir := range []string{"llamacpp-completions", "vllm-cpu", "vllm-edge"} {
			path := "../../examples/real/" + dir
			inputs = append(inputs, Input{testkit.Must(store.Open(path)), path})
		}
		return Runs(w, inputs, WriteOptions{})
	},
	"choice": func(w io.Writer) error {
		choices := testkit.Must(choose.Of(publishedSetups(), chooseOptions()))
		return Choose(w, choices, publishedSetups(), chooseOptions(), choose.Sections(choices[:1], 1), WriteOptions{})
	},
	"compare": func(w io.Writer) error {
		result := testkit.Must(compare.Of(publishedSetups(), false))
		return Compare(w, result, publishedSetups(), result.Report(1), WriteOptions{})
	},
}

// Pages of several runs are sound. Intervals are explained where some are drawn: the published document has none.
func TestPagesOfSeveral(t *testing.T) {
	for name, write := range pages {
		p := checkPage(t, write)
		if strings.Contains(p.text, pageUncertain.In("en")) != (name == "index") {
			t.Errorf("%s explains intervals that it does not draw, or does not explain those that it draws", name)
		}
	}
}

// An index names runs without the directory that all are in, and names are told apart by the parts that differ; a name
// alone, or one without such a part, stays.
func TestShortNames(t *testing.T) {
	for paths, want := range map[string]string{
		"/home/a/runs/x|/home/a/runs/y/z": "x|y/z", "../r/x|../s/x": "r/x|s/x", "x|y": "x|y", "/x|y": "/x|y", "runs/x": "x",
	} {
		if got := strings.Join(trimCommonDir(strings.Split(paths, "|")), "|"); got != want {
			t.Errorf("%q are called %q, want %q", paths, got, want)
		}
	}
	for names, want := range map[string]string{
		"Q-7B, 1 x L20, vLLM|Q-7B-Int4, 1 x L20, vLLM|Q-7B, 2 x L20, vLLM": "1 x L20|Int4, 1 x L20|2 x L20",
		"Q-7B, 1 x L20, vLLM|Q-14B, 1 x L20, vLLM":                         "Q-7B|Q-14B", "Q-7B, vLLM": "Q-7B, vLLM",
		"a|b": "a|b",
	} {
		if got := strings.Join(distinctParts(strings.Split(names, "|")), "|"); got != want {
			t.Errorf("%q are called %q, want %q", names, got, want)
		}
	}
}

// What is drawn of many configurations. The published document has a TTFT of 1090 s, which is impossible and in no
// drawing, and bursts, which are not on the Pareto front. Costs are those of the prices. More runs than can be told
// apart have drawings of their own over the same axes, each with a name of what differs. A configuration of which only
// means are known stands beside one that has percentiles.
func TestDrawingsOfSeveral(t *testing.T) {
	means := openReal()
	for i := range means.Stages {
		means.Stages[i].TTFT = rundir.Dist{N: means.Stages[i].TTFT.N, Mean: means.Stages[i].TTFT.Mean}
	}
	choice := &testkit.Must(choose.Of(publishedSetups(), chooseOptions()))[0]
	ranked := rankSetups(choice, publishedSetups())
	split := newOverlay(ranked, distinctParts(setupNames(ranked)), "")
	split.split = true
	costs, _ := costOfSpeed("costs", ranked, setupNames(ranked), chooseOptions().Prices)
	if _, ok := costOfSpeed("c", ranked, setupNames(ranked), choose.Prices{}); ok {
		t.Error("costs without prices")
	}
	beside := setup.Load([]setup.Input{{Path: "means", Run: means}, {Path: "all", Run: openReal()}})
	var said strings.Builder
	for i, k := range choice.Ranked {
		fmt.Fprintf(&said, "%d. %s, %s\n", i+1, k.Name, ranked[i].Name)
	}
	tick := regexp.MustCompile(`class="tick"[^<]*<`)
	for _, figures := range [][]FigureBlock{newOverlay(publishedSetups(), setupNames(publishedSetups()), "").figures(),
		split.figures(), {costs}, newOverlay(beside, setupNames(beside), "").figures()} {
		for _, f := range figures {
			fmt.Fprintf(&said, "%s, %d buttons: %s\n", f.Name, len(f.Switches), f.Note.EN)
			axes := map[string]bool{}
			for _, one := range f.Variants[0].Small {
				axes[strings.Join(tick.FindAllString(string(one.SVG), -1), "")] = true
				fmt.Fprintf(&said, "  a drawing of %s, %d kinds of axes so far\n", one.Title, len(axes))
			}
			for _, s := range f.Variants[0].Drawn.Panels[0].Series {
				fmt.Fprintf(&said, "  %d points of %s\n", len(s.Points), s.Name.EN)
				for _, p := range s.Points {
					if f.Name == "costs" {
						fmt.Fprintf(&said, "    %.2f, %.2f %s, row %d\n", p.X, p.Y, p.Title, p.Row)
					} else if path, _, _ := strings.Cut(p.Title, ":"); strings.Contains(path, "/") {
						t.Errorf("%s draws %+v", f.Name, p)
					}
				}
			}
		}
	}
	for _, r := range costs.Table.Rows {
		fmt.Fprintf(&said, "%s: %s a million\n", r[0].Text.EN, r[4].Text.EN)
	}
	testkit.CheckGolden(t, "several.txt", []byte(said.String()))
}

// A difference that is not shown is not drawn as better or worse.
func TestForest(t *testing.T) {
	for shown, mean := range map[bool]lang.Text{true: compare.WordWorse.Text(), false: meansNothing.Text()} {
		d := compare.Difference{Key: "itl@80", Ratio: rundir.Exactly(0.01), Low: rundir.Exactly(0.005),
			High: rundir.Exactly(0.015), Shown: &shown}
		f := forest("f", lang.Same("B"), []compare.Difference{d})
		if got := f.Table.Rows[0][2].Text; got != mean || (f.Key[0].Shape == draw.Triangle) != shown {
			t.Errorf("%+v is %v: %v", d, got, f.Key)
		}
	}
}

// The answer of two results is their table, which is not printed again, and of several what sentences say.
func TestComparisonAnswer(t *testing.T) {
	for n, wantTable := range map[int]bool{2: true, 3: false} {
		setups := slices.Clone(publishedSetups()[:n])
		c := testkit.Must(compare.Of(setups, true))
		sections := c.Report(1)
		d := comparisonDocument(c, setups, sections)
		if first := d.Sections[0].Blocks[0]; (first.Table != nil) != wantTable || (first.Lines != nil) == wantTable {
			t.Fatalf("%d results: %+v", n, first)
		}
		grids := 0 // with the rows of the first section
		named := func(x, y []table.Cell) bool { return x[0].Text == y[0].Text }
		for _, s := range d.Sections {
			for _, b := range s.Blocks {
				if b.Table != nil && slices.EqualFunc(b.Table.Rows, sections[0].Table.Rows, named) {
					grids++
				}
			}
		}
		if wantTable && grids != 1 {
			t.Errorf("%d results: the first table is printed %d times", n, grids)
		}
	}
}

// A table that is too wide becomes several: all cells are in them once, each part is narrow enough and names its rows,
// and the rank is in the name.
func TestSplitGrid(t *testing.T) {
	wide := &Grid{Name: "t", Notes: []lang.Text{lang.Same("note")}}
	wide.Columns = []table.Column{{Head: lang.Same("rank")}, {Head: lang.Same("Configuration"), Left: true}}
	wide.Rows = [][]table.Cell{{table.Literal("1"), table.Literal("name1")}, {table.Literal("2"), table.Literal("name2")}}
	narrow := &Grid{Name: "n", Table: table.Table{Columns: wide.Columns[1:]}}
	if got := splitGrid(narrow); len(got) != 1 || got[0] != narrow {
		t.Errorf("a narrow table became %d", len(got))
	}
	for i := range 20 {
		wide.Columns = append(wide.Columns, table.Column{Head: lang.Same("column " + strconv.Itoa(i))})
		for r := range wide.Rows {
			wide.Rows[r] = append(wide.Rows[r], table.Literal(fmt.Sprintf("999999999999.%d", 100*r+i)))
		}
	}
	parts := splitGrid(wide)
	if len(parts) < 2 || len(parts[0].Notes) > 0 || len(parts[len(parts)-1].Notes) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	cells, names := map[string]int{}, map[string]bool{}
	for _, p := range parts {
		width := 0
		for i := range p.Columns {
			width += columnWidth(p, i)
		}
		if width > maxGridWidth || names[p.Name] {
			t.Errorf("%s is %d wide", p.Name, width)
		}
		names[p.Name] = true
		for r, row := range p.Rows {
			if want := fmt.Sprintf("%d. name%[1]d", r+1); row[0].Text.EN != want {
				t.Errorf("a row is called %q, want %q", row[0].Text.EN, want)
			}
			for _, c := range row[1:] {
				cells[c.Text.EN]++
			}
		}
	}
	for cell, n := range cells {
		if len(cells) != 40 || n != 1 {
			t.Errorf("%s stands %d times, one of %d cells", cell, n, len(cells))
		}
	}
}

// A long text is folded after whole sentences, or within one sentence that lists much, after whole things of the list.
// A short one is not.
func TestFoldText(t *testing.T) {
	repeat := func(first, en, zh, last string) lang.Text {
		return lang.Text{EN: first + strings.Repeat(en, 20) + last, ZH: first + strings.Repeat(zh, 20) + last}
	}
	for _, c := range []struct {
		text lang.Text
		want string // end of what is shown; empty for all
	}{
		{lang.Text{EN: "Short. And short.", ZH: "短。"}, ""},
		{repeat("", "A sentence that says something. ", "说明情况的句子。", ""), "something. …"},
		{repeat("The client was the limit: ", "asynchronous@9.83 (the client sent requests late); ",
			"asynchronous@9.83（客户端发送请求过晚）；", "end."), "late); …"},
		{repeat("", "words and words and words", "字字字字字", ""), ""},
	} {
		got := foldText(c.text)
		if (got == nil) != (c.want == "") || got != nil && (!strings.HasSuffix(got.EN, c.want) || len(got.EN) > 200) {
			t.Errorf("%.40s is shown as %v", c.text.EN, got)
		}
	}
}
