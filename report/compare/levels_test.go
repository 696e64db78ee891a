package compare

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// TestUnevenLevels: where answers of one side are longer, the table has lengths, latency a token and the change of the
// output; elsewhere it has not.
func TestUnevenLevels(t *testing.T) {
	one := func(v float64) Range { return Range{Low: v, High: v, N: 1} }
	level := func(answer float64) Factor {
		return Factor{What: byEngine, Pairs: []Pair{{From: "a", To: "b", Levels: []Level{{
			InFlight: 2, Rate: [2]Range{one(1), one(2)}, Output: [2]Range{one(100), one(150)}, Latency: [2]Range{one(2), one(3)},
			Answer: [2]Range{one(100), one(answer)}, PerToken: [2]Range{one(0.02), one(0.03)},
		}}}}}
	}
	for answer, want := range map[float64]bool{150: true, 102: false} {
		f := level(answer)
		all := f.levelTable()
		var cells []string
		for _, c := range all.Rows[0] {
			cells = append(cells, c.Whole().In(lang.English))
		}
		if got := slices.Contains(cells, "20.0 -> 30.0") && slices.Contains(cells, "100 -> 150") &&
			slices.Contains(cells, "+50"); got != want {
			t.Errorf("answers of 100 and %v tokens: %s", answer, strings.Join(cells, " | "))
		}
		if len(all.Columns) != len(all.Rows[0]) {
			t.Errorf("%d columns, %d cells", len(all.Columns), len(all.Rows[0]))
		}
	}
}

// TestRepeatedLevels tests what is said of a document that has its loads several times: ranges at each number in
// flight.
func TestRepeatedLevels(t *testing.T) {
	doc, err := published.ParseFile("../published/testdata/scaling-a10.txt")
	if err != nil {
		t.Fatal(err)
	}
	doc = published.Join(doc)
	var all []setup.Input
	for i := range doc.Runs {
		doc.Runs[i].Source.File = "scaling-a10.txt"
		all = append(all, setup.Input{Path: "scaling-a10.txt", Run: &doc.Runs[i]})
	}
	c := compared(t, setup.Load(all))
	for _, l := range lang.All() {
		var b bytes.Buffer
		if err := table.WriteSections(&b, "console", c.Sections(1), table.Style{Lang: l}); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "scaling-a10."+string(l)+".txt", b.Bytes())
	}
	var says []string
	for i := range c.Factors {
		if c.Factors[i].What == ByGPUs {
			says = append(says, c.Factors[i].Says)
		}
	}
	for _, want := range []string{
		"vLLM, 2 to 4 x A10: +9 to +19 % at 30 in flight (11.12-12.00 to 13.12-13.22 req/s); no difference shown (0 to +4 %) at 50 in flight (15.07-15.27 to 15.20-15.61 req/s); +4 to +10 % at 100 in flight (17.40-17.99 to 18.73-19.13 req/s).",
		"+88 % at 30 in flight (10.78 to 20.27 req/s), 3 of 3 measurements doubtful; +40 to +41 % at 50 in flight (17.34-17.52 to 24.48 req/s), 3 of 3 measurements doubtful.",
	} {
		if !strings.Contains(strings.Join(says, " "), want) {
			t.Errorf("%q is not said in %q", want, says)
		}
	}
}
