package rundir

import (
	"math"
	"testing"
)

// A number that exists never vanishes, and a maximum of which a part is a lower bound is one, too.
func TestMax(t *testing.T) {
	none := Number{}
	for _, c := range []struct{ a, b, want Number }{
		{none, none, none}, {none, Exactly(1), Exactly(1)}, {none, Exactly(-1), Exactly(-1)}, {none, Over(1), Over(1)},
		{Exactly(1), Exactly(1), Exactly(1)}, {Exactly(1), Exactly(2), Exactly(2)}, {Exactly(1), Over(1), Over(1)},
		{Exactly(1), Over(2), Over(2)}, {Exactly(2), Over(1), Over(2)}, {Over(1), Over(2), Over(2)},
	} {
		if got, back := Max(c.a, c.b), Max(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("Max(%v, %v) = %v and %v, want %v", c.a, c.b, got, back, c.want)
		}
	}
}

func TestNumberOr(t *testing.T) {
	for n, want := range map[Number]float64{
		{}: 7, Exactly(math.NaN()): 7, Over(math.Inf(1)): 7, Exactly(0): 0, Exactly(2): 2, Over(2): 2,
	} {
		if got := n.Or(7); got != want {
			t.Errorf("(%v).Or(7) = %v, want %v", n, got, want)
		}
	}
}
