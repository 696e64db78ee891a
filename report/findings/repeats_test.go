package findings

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// near reports whether two numbers agree, or that neither exists.
func near(a, b rundir.Number) bool {
	return a.IsZero() && b.IsZero() || a.Bound() == b.Bound() && math.Abs(a.Value()-b.Value()) < 1e-9*math.Abs(b.Value())+1e-12
}

func TestSpreadOf(t *testing.T) {
	exact, none := rundir.Exactly, rundir.Number{}
	nan := math.NaN()
	for name, c := range map[string]struct {
		all     []estimate
		want    spread
		exceeds bool
	}{
		"90, 100 and 110":     {[]estimate{{exact(90), 3}, {exact(100), 4}, {exact(110), 5}}, spread{exact(100), exact(0.1), exact(math.Sqrt(50./3) / 100)}, true},
		"as their errors say": {[]estimate{{exact(9), 1}, {exact(11), 1}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(0.1)}, false},
		"exactly twice":       {[]estimate{{exact(9), math.Sqrt2 / 2}, {exact(11), math.Sqrt2 / 2}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(math.Sqrt2 / 20)}, false},
		"errors of some":      {[]estimate{{exact(9), nan}, {exact(11), 0.2}}, spread{exact(10), exact(math.Sqrt2 / 10), exact(0.02)}, true},
		"errors of none":      {[]estimate{{exact(9), nan}, {exact(11), nan}}, spread{exact(10), exact(math.Sqrt2 / 10), none}, false},
		"one alone":           {[]estimate{{exact(9), 0.9}}, spread{exact(9), none, exact(0.1)}, false},
		"one without a value": {[]estimate{{exact(9), 0.9}, {none, nan}}, spread{exact(9), none, exact(0.1)}, false},
		"a bound":             {[]estimate{{exact(9), 0.9}, {rundir.Over(11), nan}}, spread{rundir.Over(10), none, none}, false},
		"nothing":             {nil, spread{}, false},
	} {
		got := spreadOf(c.all)
		if !near(got.mean, c.want.mean) || !near(got.between, c.want.between) || !near(got.within, c.want.within) {
			t.Errorf("%s: %v %v %v, want %v %v %v", name, got.mean.Value(), got.between.Value(), got.within.Value(),
				c.want.mean.Value(), c.want.between.Value(), c.want.within.Value())
		}
		if got.exceeds() != c.exceeds {
			t.Errorf("%s: exceeds is %v", name, got.exceeds())
		}
	}
}

// Neither the unit nor the order of repetitions matters.
func TestSpreadIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, other []estimate
		unit := rapid.Float64Range(1e-3, 1e3).Draw(t, "unit")
		for range rapid.IntRange(2, 6).Draw(t, "n") {
			e := estimate{rundir.Exactly(rapid.Float64Range(1, 100).Draw(t, "value")), rapid.Float64Range(0, 10).Draw(t, "se")}
			all = append(all, e)
			other = append([]estimate{{lang.Scale(e.value, unit), e.se * unit}}, other...)
		}
		a, b := spreadOf(all), spreadOf(other)
		close := func(x, y rundir.Number) bool { return math.Abs(x.Value()-y.Value()) < 1e-9 }
		if !close(a.between, b.between) || !close(a.within, b.within) || !near(lang.Scale(a.mean, unit), b.mean) {
			t.Fatalf("%+v, in another unit and order %+v", a, b)
		}
	})
}
