package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// The first that is said of two results is a table: a console shows few rows of it, and no verdict is another than what
// programs get.
func TestTableOfTwo(t *testing.T) {
	var all []byte
	console := table.Style{Width: 100}
	many := twoRuns(0.05, 0.1) // metrics for more rows than a console shows
	many[1].Run.Labels.GPUs, many[1].Run.Stages[1].Requests.Error = 2, 30
	for i, right := range []int{80, 70} {
		many[i].Run.Grades = &rundir.Grades{All: rundir.Graded{Answers: 100, Right: right, Items: 100}}
	}
	for _, setups := range [][]setup.Setup{
		twoRuns(0.05, 0.01), twoRuns(-0.2, 0.02), many,
		{named("Qwen2-7B-Instruct, 1 x L20 48GB, vLLM"), named("Qwen2-7B-Instruct, 2 x L20 48GB, vLLM")},
	} {
		c := compared(setups)
		all = append(append(all, formatted(t, "console", c.Report(1), console)...), '\n')
	}
	console.All = true
	all = append(all, formatted(t, "console", compared(twoRuns(0.05, 0.01)).Report(1), console)...)
	testkit.CheckGolden(t, "two.txt", all)
}

// Columns have the short names of the results where these fit, else A and B.
func TestHeadings(t *testing.T) {
	for _, c := range []struct{ a, b, want, shared string }{
		{"m, 1 x G, old", "m, 1 x G, new", "old | new", "m, 1 x G"},
		{"m, vLLM (runs/before)", "m, vLLM (runs/after)", "before | after", "m, vLLM"},
		{"m, vLLM (a/run)", "m, vLLM (b/run)", "a/run | b/run", "m, vLLM"},
		{"m，vLLM（a.md:3）", "m，vLLM（a.md:9）", "a.md:3 | a.md:9", "m, vLLM"},
		{"m, vLLM", "m-AWQ, vLLM", "unquantized | AWQ", "m, vLLM"},
		{"m, vLLM", "m, vLLM, old", "A | B", ""}, // the first has nothing of its own
		{"m, twenty-four columns wide", "m, vLLM", "twenty-four columns wide | vLLM", "m"},
		{"m, twenty-four columns wide!", "m, vLLM", "A | B", ""},
		{"x/one.yaml:1", "x/two.yaml:1", "one.yaml:1 | two.yaml:1", ""},
	} {
		label := func(name string) *Configuration {
			of := &Configuration{Name: name, Origin: name}
			if strings.HasPrefix(name, "m") {
				of.Labels.Model = "m"
			}
			if strings.Contains(name, "AWQ") {
				of.Labels.Model, of.Labels.Quant = "m", "AWQ"
			}
			return of
		}
		a, b := label(c.a), label(c.b)
		h, shared := headingsOf(a, b)
		if got := h[0].EN + " | " + h[1].EN; got != c.want || lang.Joined(shared, lang.Comma).EN != c.shared {
			t.Errorf("%s, %s: %s, shared %v", c.a, c.b, got, shared)
		}
		if says := h.legend(a, b); (len(says) == 2) != (c.want == "A | B") {
			t.Errorf("%s: %v", c.want, says)
		}
	}
}

// Where answers of one side are longer, the table of levels has lengths, latency a token and the change of the output;
// elsewhere it has not.
func TestUnevenLevels(t *testing.T) {
	both := func(before, after float64) [2]Range { return [2]Range{{before, before, 1}, {after, after, 1}} }
	for answer, want := range map[float64]bool{150: true, 112: true, 109: false, 102: false} {
		f := Factor{What: byEngine, Pairs: []Pair{{From: "a", To: "b", Levels: []Level{{
			InFlight: 2, Rate: both(1, 2), Output: both(100, 150), Latency: both(2, 3), Answer: both(100, answer),
			PerToken: both(0.02, 0.03), Difference: Difference{Low: rundir.Exactly(1), High: rundir.Exactly(1)},
		}}}}}
		all := f.levelTable()
		var cells []string
		for _, c := range all.Rows[0] {
			cells = append(cells, c.Whole().EN)
		}
		has := slices.Contains(cells, "20.0 -> 30.0") && slices.Contains(cells, fmt.Sprintf("100 -> %v", answer)) &&
			slices.Contains(cells, "+50")
		if has != want || len(all.Columns) != len(cells) {
			t.Errorf("answers of 100 and %v tokens: %q in %d columns", answer, cells, len(all.Columns))
		}
	}
}
