package stats

import "math"

// EffectiveN returns the number of independent values that a series of correlated ones is worth: n divided by the
// integrated autocorrelation, which is summed by Geyer's initial positive sequence ("Practical Markov Chain Monte
// Carlo", Statistical Science 7 (1992)). It is never above n, even where the correlation is negative.
func EffectiveN(x []float64) float64 {
	n := len(x)
	if n < 4 {
		return float64(n)
	}
	v := variance(x)
	if v <= 0 {
		return float64(n)
	}
	mean, tau := Mean(x), 1.0
	for lag := 1; lag+1 < n/2; lag += 2 {
		pair := autocovariance(x, mean, lag) + autocovariance(x, mean, lag+1)
		if pair <= 0 {
			break
		}
		tau += 2 * pair / v
	}
	return math.Max(1, float64(n)/tau)
}

func autocovariance(x []float64, mean float64, lag int) float64 {
	sum := 0.0
	for i := lag; i < len(x); i++ {
		sum += (x[i] - mean) * (x[i-lag] - mean)
	}
	return sum / float64(len(x))
}

// BatchMeans returns the mean of a correlated series with its 95 % confidence interval from the means of k consecutive
// batches of equal size (Law and Carson, Operations Research 27 (1979)). Values that do not fill a batch count in the
// mean alone. ok is false where [Batches] returns none.
func BatchMeans(x []float64, k int) (mean, low, high float64, ok bool) {
	mean = Mean(x)
	means, ok := Batches(x, k)
	if !ok {
		return mean, 0, 0, false
	}
	half := StudentQuantile(0.975, float64(k-1)) * math.Sqrt(variance(means)/float64(k-1))
	return mean, mean - half, mean + half, true
}

// Batches returns the means of k consecutive batches of equal size, without the values that do not fill a batch. ok is
// false for fewer than two batches, and for fewer values than batches.
func Batches(x []float64, k int) (means []float64, ok bool) {
	if k < 2 || len(x) < k {
		return nil, false
	}
	size := len(x) / k
	means = make([]float64, k)
	for i := range means {
		means[i] = Mean(x[i*size : (i+1)*size])
	}
	return means, true
}

// MeanInterval returns a 95 % confidence interval for the mean of a correlated series with the given standard deviation
// that is worth neff independent values: the widest of the intervals from neff and from batches of several sizes, since
// each is too narrow where its assumption fails. Waiting times are skewed. A short series lacks the rare long ones, so
// that its mean and its deviation are too small at the same time. The upper side is therefore stretched by 1 +
// 6/sqrt(neff); the 6 was chosen with simulated servers (TestLatencyIntervalsCover). Batches hold two values at least.
// ok is false for fewer than three values.
func MeanInterval(series []float64, deviation, neff float64) (low, high float64, ok bool) {
	const enough, stretch = 3, 6
	if len(series) < enough || neff < 2 {
		return 0, 0, false
	}
	half := math.Max(StudentQuantile(0.975, neff-1)*deviation/math.Sqrt(neff), widestBatchInterval(series))
	mean := Mean(series)
	return mean - half, mean + half*(1+stretch/math.Sqrt(neff)), true
}

// widestBatchInterval returns the largest half-width from batches of several sizes.
func widestBatchInterval(series []float64) float64 {
	half := 0.0
	for _, k := range []int{20, 10, 5} {
		if mean, _, top, ok := BatchMeans(series, k); ok && len(series) >= 2*k {
			half = math.Max(half, top-mean)
		}
	}
	return half
}

// MSER5 returns the end of a series' opening transient as a number of values: the cut between batches of five for which
// the mean of the rest has the smallest standard error (White, Cobb and Spratt, Winter Simulation Conference 2000). ok
// is false where the best cut would leave out half of the series or more: it is too short to tell.
func MSER5(x []float64) (cut int, ok bool) {
	const batch = 5
	n := len(x) / batch
	if n < 4 {
		return 0, false
	}
	means := make([]float64, n)
	for i := range means {
		means[i] = Mean(x[i*batch : (i+1)*batch])
	}
	best, bestAt := math.Inf(1), 0
	for d := 0; d <= n/2; d++ {
		rest := means[d:]
		if se := variance(rest) / float64(len(rest)); se < best {
			best, bestAt = se, d
		}
		if best == 0 {
			break
		}
	}
	return bestAt * batch, bestAt < n/2
}

// MovingMean returns the means of each width consecutive values, a series shorter by width-1. It returns x for a width
// below 2, and nil for one longer than x.
func MovingMean(x []float64, width int) []float64 {
	if width < 2 {
		return x
	}
	if width > len(x) {
		return nil
	}
	out := make([]float64, len(x)-width+1)
	sum := 0.0
	for i, v := range x {
		sum += v
		if i >= width {
			sum -= x[i-width]
		}
		if i >= width-1 {
			out[i-width+1] = sum / float64(width)
		}
	}
	return out
}
