package compare

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/audit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// documentOf compares the configurations of a published document.
func documentOf(t *testing.T, name string) *Comparison {
	t.Helper()
	doc, err := published.ParseFile("../published/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	doc = published.Join(doc)
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: name, Run: &doc.Runs[i]})
	}
	return compared(t, setup.Load(all))
}

// tailLines are the rows of the tables of tails, and their titles.
func tailLines(c *Comparison, l lang.Lang) (lines []string) {
	for _, s := range c.Sections(1) {
		if !strings.Contains(s.Title.In(l), titleTails.In(l)) {
			continue
		}
		if s.Rest {
			lines = append(lines, "with --all only")
		}
		lines = append(lines, s.Title.In(l))
		for _, row := range append([][]table.Cell{heads(s.Table)}, s.Table.Rows...) {
			var cells []string
			for _, cell := range row {
				cells = append(cells, cell.In(l))
			}
			lines = append(lines, strings.Join(cells, " | "))
		}
	}
	return lines
}

func heads(t table.Table) (cells []table.Cell) {
	for _, c := range t.Columns {
		cells = append(cells, table.Cell{Text: c.Head})
	}
	return cells
}

// The tails of the two gateways stand side by side: golang's P99 TTFT and P99 ITL are the lower ones. The block without
// a heading has no row, since its latencies contradict each other.
func TestTailsOfServingBlocks(t *testing.T) {
	c := documentOf(t, "serving-blocks.txt")
	got := tailLines(c, lang.English)
	for _, want := range []string{
		"Tails, asynchronous@20.00",
		"Time | Configuration | mean | p50 | p95 | p99 | max",
		"TTFT | SGLang, Rust | 156 ms | 134 ms | n/a | 319 ms? | n/a",
		"TTFT | SGLang, golang | 157 ms | 149 ms | n/a | 252 ms? | n/a",
		"ITL | SGLang, Rust | 26.7 ms | 23.6 ms | 66.1 ms | 115 ms | 201 ms",
		"ITL | SGLang, golang | 27.0 ms | 24.6 ms | 52.4 ms | 86.5 ms | 195 ms",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if zh := tailLines(c, lang.Chinese); !slices.Contains(zh, "尾部时延，asynchronous@20.00") {
		t.Error(zh)
	}
	i := slices.IndexFunc(c.Tails, func(t Tail) bool { return t.Setup == "SGLang, golang" && t.Metric == "ttft_s" })
	if p := c.Tails[i].Statistics["p99"]; p != (Range{Low: 0.25198, High: 0.25198, N: 1}) {
		t.Errorf("P99 TTFT of golang: %+v", p)
	}
}

// Repeats keep their range in all statistics, also in the rate.
func TestTailsOfRepeats(t *testing.T) {
	c := documentOf(t, "stress-tables.txt")
	got := tailLines(c, lang.English)
	for _, want := range []string{
		"latency | Qwen3-4B, SGLang, 3096 tokens, no thinking | 7.82-8.94 s | 5.90-6.77 s | 16.5-19.7 s | 17.7-20.7 s | 28.5-29.5 s? | 28.5-29.5 s",
		"latency | Qwen3-4B, vLLM, 512 tokens | 5.96 s | 5.98 s | 6.00 s | 6.02 s | 6.03 s? | 6.03 s",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
	f, _ := c.Setups[0].Get(keyRate)
	f.Value, f.Most = c.Setups[1].Metrics[0].Value, c.Setups[1].Metrics[0].Most
	if cell := f.tableCell(fixed(2)).In(lang.English); cell != "0.66-0.70+" {
		t.Errorf("saturation of vLLM without thinking: %s", cell)
	}
	f.AtLeast = false
	if cell := f.tableCell(fixed(2)).In(lang.English); cell != "0.66-0.70" { // no row fell behind
		t.Errorf("saturation of repeats at the plateau: %s", cell)
	}
}

// A six-column table has means alone.
func TestNoTailsOfMeans(t *testing.T) {
	if got := tailLines(documentOf(t, "guidellm-tables.md"), lang.English); len(got) > 0 {
		t.Error(got)
	}
}

// TestDoubtsAreMarked: a number that rests on figures that the audit doubts, or misses some, says so beside it.
func TestDoubtsAreMarked(t *testing.T) {
	doc, err := published.ParseFile("../published/testdata/serving-blocks.txt")
	if err != nil {
		t.Fatal(err)
	}
	var subjects []audit.Subject
	for i := range doc.Runs {
		subjects = append(subjects, audit.Subject{File: doc.Name, Run: &doc.Runs[i]})
	}
	audit.Mark(subjects)
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: doc.Name, Run: &doc.Runs[i]})
	}
	c := compared(t, setup.Load(all))
	for i, doubted := range []bool{true, false, true} { // one is impossible, one counts more tokens than its text has
		m, _ := c.Setups[i].Get(keyRate)
		if cell := m.tableCell(fixed(2)); strings.Contains(cell.Mark, MarkDoubted) != doubted {
			t.Errorf("%s: mark %q", c.Setups[i].Name, cell.Mark)
		}
	}
	if notes := lang.In(c.Sections(1)[0].Notes, lang.English); !slices.Contains(notes, LegendDoubted.In(lang.English)) {
		t.Errorf("no legend in %q", notes)
	}
}
