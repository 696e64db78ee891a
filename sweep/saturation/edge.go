package saturation

import (
	"math"

	"llmsweep/sweep/rundir"
)

// A server that collapses does so at random: near the edge one stage collapses, and another at the same rate does not. The rates at which
// stages collapse scatter about the edge, the more the fewer requests are served at a time. The scatter was measured in TestHabitsAreNamed.
const (
	scatterOfOne = 0.18 // relative standard deviation with one request at a time; it falls with the root of their number
	leastScatter = 0.02
	gridOfRates  = 400
	beyondRows   = 1.2 // times the highest rate, and the lowest divided by it: the edge lies between
	credibleTail = 0.025
)

// edgeOfCollapse returns the rate that a collapsing server sustains with a chance of one half, and a 95 % credible interval, from which of
// the stages were stable and which saturated: a probit model of their rates' logarithms with a flat prior below what the server completes at
// most. The number of requests that are served at a time is at most that of the closed loop.
func (f *finder) edgeOfCollapse(most float64, ceiling *rundir.Stage) (rate, low, high rundir.Number) {
	scatter := leastScatter
	if ceiling != nil && ceiling.MaxConcurrency > 0 {
		scatter = max(scatter, scatterOfOne/math.Sqrt(float64(ceiling.MaxConcurrency)))
	}
	first, last := f.open[0].Rate.Value(), f.open[len(f.open)-1].Rate.Value()
	from, to := math.Log(first/beyondRows), math.Log(min(last*beyondRows, max(most, first)))
	edge := func(i int) float64 { return from + (to-from)*float64(i)/(gridOfRates-1) }
	chances := make([]float64, gridOfRates)
	best := math.Inf(-1)
	for i := range chances {
		chances[i] = f.likelihood(edge(i), scatter)
		best = max(best, chances[i])
	}
	sum := 0.0
	for i, c := range chances {
		chances[i] = math.Exp(c - best)
		sum += chances[i]
	}
	quantile := func(q float64) rundir.Number {
		until := 0.0
		for i, c := range chances {
			if until += c; until >= q*sum {
				return rundir.Exactly(math.Exp(edge(i)))
			}
		}
		return rundir.Exactly(math.Exp(to))
	}
	return quantile(0.5), quantile(credibleTail), quantile(1 - credibleTail)
}

// likelihood returns the logarithm of the chance of the stages' verdicts where the edge is at the logarithm of a rate.
func (f *finder) likelihood(edge, scatter float64) (sum float64) {
	const misjudged = 0.01 // of the stages
	for _, st := range f.open {
		above := (math.Log(st.Rate.Value()) - edge) / scatter
		switch st.Verdict {
		case rundir.Stable:
			above = -above
		case rundir.Saturated:
		default:
			continue
		}
		chance := math.Erfc(-above/math.Sqrt2) / 2
		sum += math.Log(misjudged + (1-misjudged)*chance)
	}
	return sum
}
