package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// ShareBounds returns one-sided confidence bounds for the share of which k among n independent observations were seen:
// the share is above low, and it is below high, each with probability 1-level or more. They are exact (Clopper and
// Pearson, Biometrika 26 (1934)): no normal approximation, so that they also hold for none among n. k and n need not be
// whole, 0 <= k <= n.
func ShareBounds(k, n, level float64) (low, high float64) {
	low, high = 0, 1
	if k > 0 {
		low = mathext.InvRegIncBeta(k, n-k+1, level)
	}
	if k < n {
		high = mathext.InvRegIncBeta(k+1, n-k, 1-level)
	}
	return low, high
}

// EffectiveShareN returns the number of independent observations that a series is worth for the share of values above a
// limit. That is the effective number of the ones and zeros which tell what lies above ([EffectiveN]), and not of the
// values: neighbours may be alike, and yet hardly ever both be beyond a limit far out. At least minAbove values are
// needed above to tell how they cluster; where fewer are above the limit, the largest minAbove stand for them.
func EffectiveShareN(series []float64, limit float64, minAbove int) float64 {
	if len(series) < 2*minAbove {
		return EffectiveN(series)
	}
	if at := Largest(series, minAbove); at < limit {
		limit = at
	}
	above := make([]float64, len(series))
	for i, v := range series {
		if v >= limit {
			above[i] = 1
		}
	}
	return EffectiveN(above)
}

// Cluster is observations that are alike, such as the turns of a session, and how many of them are above a limit.
type Cluster struct{ Count, Of float64 }

// ClusteredN returns the number of independent observations that clusters are worth for the share above the limit, by
// the spread of that share between clusters (Cochran, "Sampling Techniques", 1977, chapter 9). It is never above their
// number, and that where none or all are above the limit.
func ClusteredN(clusters []Cluster) float64 {
	var all Cluster
	for _, c := range clusters {
		all.Count, all.Of = all.Count+c.Count, all.Of+c.Of
	}
	share, k := all.Count/all.Of, float64(len(clusters))
	if share == 0 || share == 1 || k < 2 {
		return all.Of
	}
	sum := 0.0
	for _, c := range clusters {
		d := c.Count - share*c.Of
		sum += d * d
	}
	variance := sum * k / (k - 1) / (all.Of * all.Of)
	return math.Max(1, math.Min(all.Of, share*(1-share)/variance))
}

// NeededForShare returns the number of independent observations with which [ShareBounds] would tell on which side of
// limit a share lies if it stays as it is: the fewest from `from` on. It is infinite where that is more than most.
func NeededForShare(share, limit, level, from, most float64) float64 {
	decides := func(n float64) bool {
		low, high := ShareBounds(share*n, n, level)
		return high < limit || low > limit
	}
	const step = 1.1 // it need not be exact
	n := math.Max(1, from)
	for ; !decides(n); n *= step {
		if n > most {
			return math.Inf(1)
		}
	}
	for low := n / step; n-low > 1; { // none is decided at low, or it is where we began
		if middle := (low + n) / 2; middle >= from && decides(middle) {
			n = middle
		} else {
			low = middle
		}
	}
	return math.Ceil(n)
}

// Largest returns the n-th largest value of a series, from 1; the smallest where it has fewer.
func Largest(series []float64, n int) float64 {
	sorted := slices.Sorted(slices.Values(series))
	return sorted[max(0, len(sorted)-n)]
}
