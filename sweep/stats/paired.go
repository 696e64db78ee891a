package stats

import (
	"cmp"
	"math"
	"slices"
)

// Spread is the estimated standard deviation of single differences.
type Spread struct {
	Deviation float64
	DF        float64 // degrees of freedom
}

// Crossover returns the mean of differences that were measured in two orders, first and second, and the spread of
// single ones about the mean of their own order. An effect of being measured second cancels in the mean, and does not
// count as noise (Hills and Armitage, British Journal of Clinical Pharmacology 8 (1979)). ok is false for fewer than
// two differences in an order.
func Crossover(first, second []float64) (mean float64, s Spread, ok bool) {
	a, b := Mean(first), Mean(second)
	df := float64(len(first) + len(second) - 2)
	if min(len(first), len(second)) < 2 {
		return (a + b) / 2, Spread{}, false
	}
	ss := variance(first)*float64(len(first)) + variance(second)*float64(len(second))
	return (a + b) / 2, Spread{math.Sqrt(ss / df), df}, true
}

// Half returns half the width of the two-sided confidence interval for the mean of n differences, 0.05 being the level
// of a 95 % interval.
func (s Spread) Half(n int, level float64) float64 {
	return StudentQuantile(1-level/2, s.DF) * s.Deviation / math.Sqrt(float64(n))
}

// P returns the two-sided p-value of the mean of n differences: the probability of a mean at least as far from 0 where
// the true difference is 0.
func (s Spread) P(mean float64, n int) float64 {
	switch {
	case mean == 0:
		return 1
	case s.Deviation == 0:
		return 0
	}
	return 2 * studentTail(math.Abs(mean)/s.Deviation*math.Sqrt(float64(n)), s.DF)
}

// Needed returns the number of differences whose mean shows a true difference of delta with the given power, in a
// two-sided test at the given level: the size of Stein's second sample (Annals of Mathematical Statistics 16 (1945)).
// If a first sample gave the spread and n depends on nothing else, the mean of all n, the first ones included, divided
// by the standard error from the first sample has Student's t distribution with the degrees of freedom of that sample.
// Level and power then hold exactly for any true spread. Estimating the spread again at the end would break that.
func (s Spread) Needed(delta, level, power float64) float64 {
	errors := StudentQuantile(1-level/2, s.DF) + StudentQuantile(power, s.DF) // standard errors that are shown
	return math.Ceil(math.Pow(s.Deviation*errors/delta, 2))
}

// Holm reports which of several hypotheses are rejected when the probability of one false rejection among them is to be
// at most level: Holm's step-down test (Scandinavian Journal of Statistics 6 (1979)). p are their p-values.
func Holm(p []float64, level float64) []bool {
	order := make([]int, len(p))
	for i := range p {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	rejected := make([]bool, len(p))
	for n, i := range order {
		if p[i] > level/float64(len(p)-n) {
			break
		}
		rejected[i] = true
	}
	return rejected
}

// PooledSpread returns the spread of single values about the means of their sides, together with what is known of it
// from elsewhere, each by its degrees of freedom. DF is 0 where nothing tells it.
func PooledSpread(a, b []float64, known Spread) Spread {
	squares, df := known.Deviation*known.Deviation*known.DF, known.DF
	for _, side := range [][]float64{a, b} {
		if n := float64(len(side)); n > 1 {
			squares, df = squares+variance(side)*n, df+n-1
		}
	}
	if df == 0 {
		return Spread{}
	}
	return Spread{math.Sqrt(squares / df), df}
}
