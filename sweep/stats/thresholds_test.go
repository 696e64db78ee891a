package stats

import (
	"math"
	"slices"
	"testing"
)

// Each rule holds at its threshold, or just beyond it, and not on the other side.
func TestThresholds(t *testing.T) {
	counted := func(_, _ float64, ok bool) bool { return ok }
	fitted := func(_ Trend, ok bool) bool { return ok }
	cut := func(_ int, ok bool) bool { return ok }
	for name, c := range map[string][2]bool{ // holds just on this side, does not just on the other
		"five values make a line":      {fitted(FitTrend(make([]float64, 5))), fitted(FitTrend(make([]float64, 4)))},
		"five values have steps":       {fitted(MeanStep(make([]float64, 5))), fitted(MeanStep(make([]float64, 4)))},
		"20 values have a steady part": {cut(MSER5(make([]float64, 20))), cut(MSER5(make([]float64, 19)))},
		"three values have an interval": {
			counted(MeanInterval(make([]float64, 3), 1, 3)), counted(MeanInterval(make([]float64, 2), 1, 2)),
		},
		"five but for rounding":                  {Supported(10-1.8e-9, 0.5), Supported(10-2.2e-9, 0.5)},
		"299 needed, just beyond 1.1 times most": {needed(277) == 299, needed(276) == 299},
		"12 values show a step":                  {stepFound(12, 1e-3), stepFound(11, 1e-3)},
		"a fifth of the level at each place":     {stepFound(12, 5.05*stepP()), stepFound(12, 4.95*stepP())},
		"14 values settle a step":                {settled(10, 12, 26) == 10, settled(10, 12, 27) == 10},
		"a step settles within a week":           {settled(13, 20, 30) == 13, settled(12, 20, 30) == 12},
		"two values on a side":                   {settled(2, 5, 15) == 2, settled(1, 5, 15) == 1},
	} {
		if !c[0] || c[1] {
			t.Errorf("%s: %v on this side, %v on the other", name, c[0], c[1])
		}
	}
}

// needed is how many values without one beyond show a share below 1 %, if most that many are looked for.
func needed(most float64) float64 { return NeededForShare(0, 0.01, 0.05, 1, most) }

// steps returns n values with a step, among noise that alternates.
func steps(n, at int) []float64 {
	y := make([]float64, n)
	for i := range y {
		if y[i] = 0.1 * float64(i%2); i >= at {
			y[i]++
		}
	}
	return y
}

// stepFound reports whether a step in the middle of n values is found.
func stepFound(n int, level float64) bool {
	all, _ := Changes(steps(n, 6), level)
	return len(all) == 1
}

// stepP is the probability of the step of twelve values by Student's test: of 1, among deviations of 0.05.
func stepP() float64 { return 2 * studentTail(1/(0.05*math.Sqrt(12.0/10)*math.Sqrt(2.0/6)), 10) }

// settled returns where a step is put, among n values, that was first found elsewhere.
func settled(at, found, n int) int {
	r := detector{y: steps(n, at), found: []Change{{At: found, Last: found}}}
	r.settle(n)
	return r.found[0].At
}

// Steps have two values on each side, drifts 14.
func TestPlacesOfFits(t *testing.T) {
	var at, drifts []int
	for _, f := range fits(steps(20, 10)) {
		if f.drift {
			drifts = append(drifts, f.at)
		} else {
			at = append(at, f.at)
		}
	}
	if slices.Min(at) != 2 || slices.Max(at) != 18 || slices.Max(drifts) != 6 {
		t.Errorf("steps at %v, drifts at %v of 20 values", at, drifts)
	}
}

func TestFactors(t *testing.T) {
	halves := make([]float64, 28) // whose values correlate by 1-3k/28 over k places
	for i := range halves {
		halves[i] = float64(i/14*2 - 1)
	}
	week := 1.0
	for lag := 1.0; lag < 7; lag++ {
		week += 2 * (1 - lag/28) * (1 - 3*lag/28)
	}
	near(t, "inflation by a week of neighbours", varianceInflation(halves, fit{}), week, 1e-9)

	r := detector{y: []float64{-1, 1, -1, 1, -1, 1, 99}}
	clipped, _, _ := r.clipOutliers(6)
	near(t, "no outlier", slices.Max(clipped), 1, 0)
	r.y = append(r.y, -99)
	clipped, _, _ = r.clipOutliers(8)
	near(t, "an outlier is clipped", slices.Max(clipped), 3*1.4826, 1e-9) // deviations, of a normal distribution

	low, high, _ := MeanInterval(make([]float64, 40), 1, 36)
	near(t, "stretch of the upper side", high/-low, 1+6/6.0, 1e-9)
	near(t, "the normal 97.5 % point", Z95, math.Sqrt2*math.Erfinv(0.95), 1e-12)

	walk := make([]float64, 200)
	for i := range walk {
		walk[i] = math.Sin(float64(i) / 20)
	}
	trend, _ := FitTrend(walk)
	near(t, "inflation by neighbours that correlate by 0.95 at most", 200/(trend.df+2), 1.95/0.05, 1e-9)
}
