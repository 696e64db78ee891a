package compare

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
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
		"two values": {[2]bool{false, false}, "~ ("}, "A at least": {[2]bool{true, false}, "< "},
		"B at least": {[2]bool{false, true}, "> "}, "both": {[2]bool{true, true}, absent},
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
			if got := tab.Rows[0][1].In(l); tab.Columns[1].Head == headSaturation.Text() && !strings.HasPrefix(got, c.prefix) ||
				tab.Columns[1].Head != headSaturation.Text() && c.prefix != absent {
				t.Errorf("%s: %s %q, want %s", name, tab.Columns[1].Head, got, c.prefix)
			}
			if has := strings.Contains(strings.Join(lang.In(v.changeLegend(v.groups[0]), l), "\n"),
				legendBound.In(l)); has != (c.bound[0] != c.bound[1]) {
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
	c := compared(t, tables(t))
	for i := range c.Setups {
		m, _ := c.Setups[i].Get(keyOutput)
		text, err := json.Marshal(m)
		if err != nil || strings.Contains(string(text), `"at_least":true`) != m.AtLeast {
			t.Errorf("%s: %s, %v", c.Setups[i].Name, text, err)
		}
		if cell := m.tableCell(fixed(2)); !m.Most.Known() && strings.HasPrefix(cell.Mark, markRising) != m.AtLeast {
			t.Errorf("%s (a lower bound: %v): mark %q", c.Setups[i].Name, m.AtLeast, cell.Mark)
		}
		if says := outputText(m, lang.English); !m.Most.Known() && strings.Contains(says, " tok/s or more") != m.AtLeast {
			t.Errorf("%s (a lower bound: %v): %s", c.Setups[i].Name, m.AtLeast, says)
		}
		if m.AtLeast {
			marked++
		}
	}
	if marked == 0 {
		t.Error("the tables have no lower bound")
	}
}

// TestNoBoundContradictsTheRowsThroughput: what a document's own row throughput contradicts is no bound.
func TestNoBoundContradictsTheRowsThroughput(t *testing.T) {
	c, bounds := compared(t, tables(t)), 0
	for i := range c.Setups {
		for j := range c.Setups[:i] {
			a, b := &c.Setups[i], &c.Setups[j]
			x, _ := a.Get(keyOutput)
			y, _ := b.Get(keyOutput)
			burst := y.Burst.Value() / x.Burst.Value()
			r, plain := ratio(b, a, keyOutput)
			if plain || r.Bound == "" {
				continue
			}
			bounds++
			if r.Low.Known() && burst < r.Low.Value() || r.High.Known() && burst > r.High.Value() {
				t.Errorf("%s to %s: %+v, and %.2f by the rows throughput", b.Name, a.Name, r, burst)
			}
		}
	}
	if bounds == 0 {
		t.Error("no ratio is a bound")
	}
}

// TestRowsThroughputWidenARatio: where they show another ratio than the plateaus, both are said; of lower bounds they
// tell which side may be higher.
func TestRowsThroughputWidenARatio(t *testing.T) {
	factor := func(first, other Metric) string {
		member := func(value string, m Metric) Member {
			m.Key = keyOutput
			return Member{Setup: value, Value: value, m: Configuration{Metrics: []Metric{m}}}
		}
		f := Factor{What: byQuant, Members: []Member{member("A", first), member("B", other)}}
		return f.Conclusion(lang.English)
	}
	metric := func(v, burst float64, bound bool) Metric {
		return Metric{Value: rundir.Exactly(v), Burst: rundir.Exactly(burst), AtLeast: bound, se: math.NaN()}
	}
	for _, c := range []struct {
		a, b Metric
		want string
	}{
		{metric(300, 400, false), metric(100, 200, false), "2.00 to 3.00 x B"},
		{metric(300, 600, false), metric(100, 199, false), "3.00 x B"},
		{metric(578, 608, true), metric(560, 820, true), "by the rows throughput 1.35 x A"},
		{metric(578, 820, true), metric(560, 608, true), "by the rows throughput 1.35 x B"},
	} {
		if got := factor(c.a, c.b); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
