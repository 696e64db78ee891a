package lang

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/sweep/rundir"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Time(rundir.Exactly(0.09557)), "95.6 ms"},
		{Time(rundir.Exactly(0.0004123)), "0.412 ms"},
		{Time(rundir.Exactly(0.9996)), "1.00 s"},
		{Time(rundir.Exactly(9.996)), "10.0 s"},
		{Time(rundir.Exactly(1090.02)), "1090 s"},
		{Time(rundir.Over(9.849)), "> 9.84 s"},
		{Time(rundir.Number{}), "n/a"},
		{Number(rundir.Exactly(0.51), Rate), "0.51"},
		{Number(rundir.Exactly(0.00213), Rate), "0.00213"},
		{Number(rundir.Exactly(0), Rate), "0.00"},
		{Number(rundir.Over(58.309), Rate), "> 58.30"},
		{Number(NonZero(rundir.Exactly(0)), Rate), "n/a"},
		{Number(rundir.Exactly(99.96), Tenths), "100.0"},
		{Clock(192), "03:12"},
		{Clock(3803), "1:03:23"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestBoundsHold: what is printed of a lower bound is a lower bound too.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(1e-6, 1e6).Draw(t, "v")
		for _, p := range []Printer{Short, Rate, Tenths, Fixed(2)} {
			printed, err := strconv.ParseFloat(p(v, true), 64)
			if err != nil || printed > v*(1+1e-9)+1e-9 {
				t.Errorf("%v printed as %q", v, p(v, true))
			}
		}
	})
}
