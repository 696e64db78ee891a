package stats

import (
	"cmp"
	"math"
	"slices"
)

// Spread is the standard deviation of single differences, and how well it is known.
type Spread struct {
	Deviation float64
	DF        float64 // degrees of freedom
}

// Crossover is the mean of differences that were taken in two orders, first and second, and the spread of a single one
// about the mean of its own order: whatever coming second does to a treatment cancels in the mean, and is not taken for
// noise (Hills and Armitage, British Journal of Clinical Pharmacology 8 (1979)). ok is false where there are not two
// differences of each order.
func Crossover(first, second []float64) (mean float64, s Spread, ok bool) {
	a, b := Mean(first), Mean(second)
	df := float64(len(first) + len(second) - 2)
	if min(len(first), len(second)) < 2 {
		return (a + b) / 2, Spread{}, false
	}
	ss := variance(first)*float64(len(first)) + variance(second)*float64(len(second))
	return (a + b) / 2, Spread{math.Sqrt(ss / df), df}, true
}

// Half is half the width of the two-sided interval of the mean of n differences, at the given error level.
func (s Spread) Half(n int, level float64) float64 {
	return StudentQuantile(1-level/2, s.DF) * s.Deviation / math.Sqrt(float64(n))
}

// P is the two-sided probability that the mean of n differences about 0 is at least as far from 0 as mean.
func (s Spread) P(mean float64, n int) float64 {
	switch {
	case mean == 0:
		return 1
	case s.Deviation == 0:
		return 0
	}
	return 2 * (1 - studentCDF(math.Abs(mean)/s.Deviation*math.Sqrt(float64(n)), s.DF))
}

// Needed is the number of differences whose mean shows a true difference of delta with the given power, in a two-sided
// test at the given level: Stein's second sample (Annals of Mathematical Statistics 16 (1945)). Where a first sample gave
// the spread, and n depends on nothing else, the mean of all n, the first ones included, over the *first* sample's
// standard error has Student's t with that sample's degrees of freedom. So level and power hold exactly, whatever the true
// spread is, which looking at the spread again at the end would spoil.
func (s Spread) Needed(delta, level, power float64) float64 {
	return math.Ceil(math.Pow(s.Deviation*s.reach(level, power)/delta, 2))
}

// Detectable is the smallest true difference that the mean of n differences shows with the given power.
func (s Spread) Detectable(n int, level, power float64) float64 {
	return s.Deviation * s.reach(level, power) / math.Sqrt(float64(n))
}

func (s Spread) reach(level, power float64) float64 {
	return StudentQuantile(1-level/2, s.DF) + StudentQuantile(power, s.DF)
}

// Holm says which of several findings stand when the probability of a single false one among them shall be at most level:
// Holm's step-down test, in which the findings share the level by weight (Scandinavian Journal of Statistics 6 (1979),
// section 4). p are the findings' own probabilities.
func Holm(p, weights []float64, level float64) []bool {
	order := make([]int, len(p))
	left := 0.0
	for i := range p {
		order[i] = i
		left += weights[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i]/weights[i], p[j]/weights[j]) })
	stands := make([]bool, len(p))
	for _, i := range order {
		if p[i] > level*weights[i]/left {
			break
		}
		stands[i] = true
		left -= weights[i]
	}
	return stands
}
