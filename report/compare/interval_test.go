package compare

import (
	"testing"

	"llmsweep/sweep/rundir"
)

func TestInterval(t *testing.T) {
	estimate := func(mean, low, high float64) rundir.Estimate {
		return rundir.Estimate{N: 9, Mean: rundir.Exactly(mean), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
	}
	for _, c := range []struct {
		e        rundir.Estimate
		scale    float64
		decimals int
		want     string
	}{
		{estimate(0.93, 0.86, 0.97), 100, 0, "93.0 (86..97.0)"},
		{estimate(0, 0, 0), 1, 4, "<0.0001"},
		{estimate(0.00001, 0, 0.00003), 1, 4, "<0.0001"},
		{estimate(0.00001, 0, 0.0003), 1, 4, "0 (0..0.0003)"},
		{estimate(0, 0, 0), 1, 1, "0 (0..0)"},
	} {
		if got := answersInterval(c.e, c.scale, c.decimals); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
