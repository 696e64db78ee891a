package rundir

import (
	"math"
	"testing"
)

// TestMax looks at all combinations of absent, exact and lower bound on either side: a number that exists never
// vanishes, and a maximum of which a part is a lower bound is one, too.
func TestMax(t *testing.T) {
	none := Number{}
	for _, c := range []struct{ a, b, want Number }{
		{none, none, none},
		{none, Exactly(1), Exactly(1)},
		{none, Exactly(-1), Exactly(-1)},
		{none, Over(1), Over(1)},
		{Exactly(1), Exactly(1), Exactly(1)},
		{Exactly(1), Exactly(2), Exactly(2)},
		{Exactly(1), Over(1), Over(1)},
		{Exactly(1), Over(2), Over(2)},
		{Exactly(2), Over(1), Over(2)},
		{Over(1), Over(1), Over(1)},
		{Over(1), Over(2), Over(2)},
	} {
		if got := Max(c.a, c.b); got != c.want {
			t.Errorf("Max(%v, %v) = %v, want %v", c.a, c.b, got, c.want)
		}
		if got := Max(c.b, c.a); got != c.want {
			t.Errorf("Max(%v, %v) = %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

func TestNumberOr(t *testing.T) {
	for _, c := range []struct {
		n    Number
		want float64
	}{{Number{}, 7}, {Exactly(math.NaN()), 7}, {Over(math.Inf(1)), 7}, {Exactly(0), 0}, {Exactly(2), 2}, {Over(2), 2}} {
		if got := c.n.Or(7); got != c.want {
			t.Errorf("(%v).Or(7) = %v, want %v", c.n, got, c.want)
		}
	}
}
