package server

import "math"

// NaturalLength is the length of answers that end by themselves. The zero value spreads it evenly over the last four
// fifths of what is allowed.
type NaturalLength struct {
	Tokens float64 // mean length of an answer, reasoning left out; the distribution is log-normal
}

// naturalSpread is sigma of the log-normal distribution: the longest answer in ten has about 3.6 times the tokens of
// the shortest in ten.
const naturalSpread = 0.5

// draw returns the length of an answer with its reasoning; u is uniform between 0 and 1. The length may be above the
// limit: then the answer is cut.
func (n NaturalLength) draw(u float64, limit, reasoning int) int {
	if n.Tokens <= 0 {
		return int(math.Ceil((0.2 + 0.8*u) * float64(limit)))
	}
	u = min(max(u, 1e-9), 1-1e-9)
	z := math.Sqrt2 * math.Erfinv(2*u-1)
	return reasoning + max(1, int(math.Round(n.Tokens*math.Exp(naturalSpread*z-naturalSpread*naturalSpread/2))))
}

// Mean returns the mean length of answers that are cut at a limit, in tokens, by quadrature.
func (n NaturalLength) Mean(limit, reasoning int) float64 {
	const points = 10_000
	sum := 0.0
	for i := range points {
		sum += float64(min(limit, n.draw((float64(i)+0.5)/points, limit, reasoning)))
	}
	return sum / points
}
