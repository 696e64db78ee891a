package grade

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"llmsweep/sweep/fidelity"
)

// power is the probability with which a difference is to be found: a little more than the 80 % that are promised.
const power = 0.82

// mostNeeded is more questions than anyone asks.
const mostNeeded = 200_000

// needed returns how many questions, each asked once on both sides, show with a probability of 80 % that the accuracy is lower by a share. noise is the share
// of the questions whose answers change by chance from wrong to right, and as many from right to wrong besides the difference: 0 for a server that
// always gives the same answers. So many hypotheses are tested together. It is 0 for no number.
func needed(difference, noise float64, hypotheses int) int {
	if !(difference > 0 && noise >= 0 && difference+2*noise <= 1) {
		return 0
	}
	low, high := 0, 1
	for !shows(high, difference, noise, hypotheses) {
		if low, high = high, high*2; high > mostNeeded {
			return 0
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; shows(middle, difference, noise, hypotheses) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// Detects returns the smallest difference that a number of questions shows with a probability of 80 %; NaN where they show none.
func Detects(questions int, noise float64, hypotheses int) float64 {
	most := 0.999 - 2*noise
	if most <= 0 || !shows(questions, most, noise, hypotheses) {
		return math.NaN()
	}
	low, high := 0.0, most
	for high-low > 1e-4 {
		if middle := (low + high) / 2; shows(questions, middle, noise, hypotheses) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// shows reports whether McNemar's exact test of a number of questions shows a difference: summed over how many of them differ at all.
func shows(questions int, difference, noise float64, hypotheses int) bool {
	discordant := difference + 2*noise
	n, level := float64(questions), fidelity.Level/float64(max(1, hypotheses))
	differing := distuv.Binomial{N: n, P: discordant}
	const reach = 5 // standard deviations
	mean, sd := n*discordant, math.Sqrt(n*discordant*(1-discordant))
	from, to := max(1, math.Floor(mean-reach*sd)), min(n, math.Ceil(mean+reach*sd))
	found, seen := 0.0, 0.0
	for k := from; k <= to; k++ {
		p := differing.Prob(k)
		if p < 1e-9 {
			continue
		}
		seen += p
		if least := critical(k, level); least <= k {
			lost := distuv.Binomial{N: k, P: (difference + noise) / discordant}
			found += p * (1 - lost.CDF(least-1))
		}
		if found+1-seen < power { // the others cannot make up for it
			return false
		}
	}
	return found >= power
}

// critical returns how many of the questions that differ must be lost for the two-sided test to reject; more than there are where none suffice.
func critical(differ, level float64) float64 {
	fair := distuv.Binomial{N: differ, P: 0.5}
	low, high := math.Floor(differ/2), differ+1
	for high-low > 1 {
		middle := math.Floor((low + high) / 2)
		if 2*(1-fair.CDF(middle-1)) <= level {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
