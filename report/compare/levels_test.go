package compare

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
)

// TestUnevenLevels: where answers of one side are longer, the table has lengths, latency a token and the change of the output; elsewhere it has not.
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
		if got := slices.Contains(cells, "20.0 -> 30.0") && slices.Contains(cells, "100 -> 150") && slices.Contains(cells, "+50"); got != want {
			t.Errorf("answers of 100 and %v tokens: %s", answer, strings.Join(cells, " | "))
		}
		if len(all.Columns) != len(all.Rows[0]) {
			t.Errorf("%d columns, %d cells", len(all.Columns), len(all.Rows[0]))
		}
	}
}
