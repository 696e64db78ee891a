// Estimates the spread between runs.

package stats

import "math"

// Between returns the spread of single values about the means of their sides, together with what is known of it from
// elsewhere, each by its degrees of freedom. DF is 0 where nothing tells it.
func Between(a, b []float64, known Spread) Spread {
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
