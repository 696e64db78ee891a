// Package stats turns numbers into numbers: quantiles with intervals, effective sample sizes, the end of a transient,
// drift. It knows nothing of requests or tokens, and never reorders or keeps what it is given.
package stats

import "math"

// Quantile is the p-quantile (0 <= p <= 1) of an ascending sample by linear interpolation between order statistics:
// type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996), which is
// NumPy's default. It is NaN for an empty sample.
func Quantile(sorted []float64, p float64) float64 { return QuantileOf(Sorted(sorted), p) }

// Ascending is a sample in ascending order that is asked for its values by rank, from 0: a slice or a histogram.
type Ascending interface {
	Len() int
	At(rank int) float64
}

// Sorted is an ascending slice.
type Sorted []float64

// Len is the number of values.
func (s Sorted) Len() int { return len(s) }

// At is the value of that rank.
func (s Sorted) At(rank int) float64 { return s[rank] }

// QuantileOf is [Quantile] of any ascending sample.
func QuantileOf(s Ascending, p float64) float64 {
	n := s.Len()
	if n == 0 {
		return math.NaN()
	}
	h := p * float64(n-1)
	i := int(h)
	if i >= n-1 {
		return s.At(n - 1)
	}
	if i < 0 {
		return s.At(0)
	}
	low := s.At(i)
	return low + (h-float64(i))*(s.At(i+1)-low)
}

// Supported says whether a sample worth neff independent values tells anything about its p-quantile: at least five of
// them are expected beyond it.
func Supported(neff, p float64) bool {
	const enough = 5
	return neff*(1-p) >= enough-1e-9
}

// QuantileInterval is a 95 % confidence interval for the p-quantile of an ascending sample worth neff independent values: order
// statistics at the Wilson score bounds of p (Wilson, JASA 22 (1927)). series is the same values in the order in which they
// came, nil where that is not known: where the share of them beyond the quantile wanders from batch to batch by more than
// neff has it, the bounds are as far apart as that. ok is false where the sample is too small to have an order statistic
// beyond a bound.
func QuantileInterval(s Ascending, series []float64, p, neff float64) (low, high float64, ok bool) {
	if s.Len() == 0 || neff < 1 {
		return 0, 0, false
	}
	z2 := z95 * z95
	centre := (p + z2/(2*neff)) / (1 + z2/neff)
	half := z95 / (1 + z2/neff) * math.Sqrt(p*(1-p)/neff+z2/(4*neff*neff))
	if wandering := widest(beyond(series, QuantileOf(s, p))); wandering > half {
		centre, half = p, wandering
	}
	if limit := 1 / (2 * neff); centre-half < limit || centre+half > 1-limit {
		return 0, 0, false
	}
	return QuantileOf(s, centre-half), QuantileOf(s, centre+half), true
}

// beyond is 1 for each value above q, and 0 for the others.
func beyond(series []float64, q float64) []float64 {
	out := make([]float64, len(series))
	for i, v := range series {
		if v > q {
			out[i] = 1
		}
	}
	return out
}

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// Mean is the arithmetic mean; NaN for nothing.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// variance is the population variance about the mean.
func variance(x []float64) float64 {
	m, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return sum / float64(len(x))
}

// Deviation is the population standard deviation; NaN for nothing.
func Deviation(x []float64) float64 { return math.Sqrt(variance(x)) }
