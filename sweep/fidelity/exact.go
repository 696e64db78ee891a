package fidelity

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Count counts the answers to one canary that differ from the first time alone.
type Count struct {
	Null, OfNull int // of those alone again
	Load, OfLoad int // of those to be tested
}

// Test returns the probability of at least so many differences under load as there are, if load makes none: given how many answers to each
// canary differ, which of them do is chance. It is 1 where nothing speaks for a difference.
func Test(counts []Count) float64 {
	dist, observed := []float64{1}, 0
	for _, c := range counts {
		all, differ := c.OfNull+c.OfLoad, c.Null+c.Load
		if c.OfNull == 0 || c.OfLoad == 0 || differ == 0 || differ == all {
			continue // it tells nothing
		}
		observed += c.Load
		least, most := max(0, differ-c.OfNull), min(differ, c.OfLoad)
		next := make([]float64, len(dist)+most)
		whole := combin.LogGeneralizedBinomial(float64(all), float64(differ))
		for k := least; k <= most; k++ {
			p := math.Exp(combin.LogGeneralizedBinomial(float64(c.OfLoad), float64(k)) +
				combin.LogGeneralizedBinomial(float64(c.OfNull), float64(differ-k)) - whole)
			for i, q := range dist {
				next[i+k] += p * q
			}
		}
		dist = next
	}
	p := 0.0
	for i := observed; i < len(dist); i++ {
		p += dist[i]
	}
	if observed == 0 {
		return 1
	}
	return min(1, p)
}

// Level is the probability with which a server whose answers do not depend on its load is said to answer otherwise under load, at most.
const Level = 0.05

// power is the probability with which a difference is to be found: a little more than the 80 % that are promised.
const power = 0.82

// mostNeeded is more canaries than anyone asks.
const mostNeeded = 1_000_000

// Needed returns how many canaries, asked once in a stage, show with a probability of 80 % that a share of the answers is changed there, where the
// server gives the same answers whenever it is asked alone, and a number of hypotheses is tested together. It is 0 for no number.
func Needed(share float64, hypotheses int) int {
	if !(share > 0 && share <= 1) {
		return 0
	}
	low, high := 0, 1
	for !shows(high, share, hypotheses) {
		if low, high = high, high*2; high > mostNeeded {
			return 0
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; shows(middle, share, hypotheses) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// shows reports whether canaries are enough to show a share of changes: each change halves the p-value.
func shows(canaries int, share float64, hypotheses int) bool {
	changes := math.Ceil(math.Log2(float64(max(1, hypotheses)) / Level))
	if float64(canaries) < changes {
		return false
	}
	fewer := distuv.Binomial{N: float64(canaries), P: share}.CDF(changes - 1)
	return 1-fewer >= power
}

// detects returns the smallest share of changed answers that a number of canaries shows with a probability of 80 %; NaN where they show none.
func detects(canaries, hypotheses int) float64 {
	if !shows(canaries, 1, hypotheses) {
		return math.NaN()
	}
	low, high := 0.0, 1.0
	for high-low > 1e-4 {
		if middle := (low + high) / 2; shows(canaries, middle, hypotheses) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
