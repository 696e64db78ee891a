package compare

import (
	"math/rand/v2"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// TestDifferencesOfBounds compares a saturation rate with one that is known as a lower bound: the difference is a bound too, and between two bounds
// there is none. A gate judges neither.
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
