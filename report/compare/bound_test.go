package compare

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// TestDifferencesOfBounds compares a saturation rate with one that is known as a lower bound: the difference is a bound
// too, and between two bounds there is none. A gate judges neither.
func TestDifferencesOfBounds(t *testing.T) {
	gate, err := ParseGate("saturation<-5%", Keys())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		bound  [2]bool
		prefix string
	}{
		"two values": {[2]bool{false, false}, "~ ("}, "A at least": {[2]bool{true, false}, "< "}, "B at least": {[2]bool{false, true}, "> "}, "both": {[2]bool{true, true}, absent},
	} {
		rng := rand.New(rand.NewPCG(1, 5))
		inputs := []setup.Input{gridded(rng, "before", 4), gridded(rng, "after", 4)}
		for i := range inputs {
			if c.bound[i] {
				inputs[i].Run.Saturation.Rate = rundir.Over(10)
			}
		}
		v := compared(t, setup.Load(inputs))
		for _, l := range lang.All() {
			tab := v.changeTable(v.groups[0])
			if got := tab.Rows[0][1].In(l); tab.Columns[1].Head == headSaturation.Text() && !strings.HasPrefix(got, c.prefix) || tab.Columns[1].Head != headSaturation.Text() && c.prefix != absent {
				t.Errorf("%s: %s %q, want %s", name, tab.Columns[1].Head, got, c.prefix)
			}
			if has := strings.Contains(strings.Join(lang.In(v.changeLegend(v.groups[0]), l), "\n"), legendBound.In(l)); has != (c.bound[0] != c.bound[1]) {
				t.Errorf("%s: the bounds are explained: %v", name, has)
			}
		}
		if n := len(v.Unjudged(gate)); (n > 0) != (c.bound[0] || c.bound[1]) {
			t.Errorf("%s: %d changes cannot be judged", name, n)
		}
	}
}

// Each metric of a plateau that is a lower bound has its mark wherever it is printed, and in JSON; the others have
// none.
func TestLowerBoundsAreMarked(t *testing.T) {
	marked := 0
	for _, f := range compared(t, tables(t)).Factors {
		for _, s := range f.Steps {
			p, ok := s.at(keyRate)
			if !ok || p.Unknown { // of two lower bounds nothing is said
				continue
			}
			for _, m := range []Metric{p.Before, p.After} {
				number := table.Number(m.Value, "", lang.Fixed(2)).In(lang.English)
				if !m.Most.Known() && strings.Contains(rows(f.stepTable()), number+markRising) != m.AtLeast {
					t.Errorf("%s: %s (a lower bound: %v) is not so in the table:\n%s", f.Equal, number, m.AtLeast, rows(f.stepTable()))
				}
				text, err := json.Marshal(m)
				if err != nil || strings.Contains(string(text), `"at_least":true`) != m.AtLeast {
					t.Errorf("%s: %s, %v", f.Equal, text, err)
				}
				if m.AtLeast {
					marked++
				}
				if says := f.scaling(lang.English); !m.Most.Known() && strings.Contains(says, number+" tok/s or more") != m.AtLeast {
					t.Errorf("%s (a lower bound: %v): %s", number, m.AtLeast, says)
				}
			}
		}
	}
	if marked == 0 {
		t.Error("the tables have no lower bound")
	}
}

// rows is the text of all cells of a table.
func rows(t table.Table) string {
	var b strings.Builder
	for _, row := range t.Rows {
		for _, c := range row {
			b.WriteString(c.In(lang.English) + " | ")
		}
		b.WriteString("\n")
	}
	return b.String()
}
