package stats

import "math"

// Trend is the slope of a series with its standard error.
type Trend struct {
	Slope float64 // per step
	se    float64 // standard error of the slope
	df    float64 // degrees of freedom of se
}

// minTrend is the smallest number of values that has a trend: a line leaves three degrees of freedom.
const minTrend = 5

// maxLag1 bounds the lag-1 correlation by which the standard error is widened: nearer 1 the factor is arbitrary.
const maxLag1 = 0.95

// FitTrend fits y against its index by least squares. Neighbouring batch means of a queue are correlated, which makes
// the plain standard error too small. The lag-1 correlation r of the residuals widens it: the variance grows by
// (1+r)/(1-r), and the degrees of freedom shrink as much (Zwiers and von Storch, Journal of Climate 8 (1995)). r is
// first corrected for its bias in short series without their trend (Marriott and Pope, Biometrika 41 (1954)). ok is
// false for fewer than 5 values.
func FitTrend(y []float64) (t Trend, ok bool) {
	n := float64(len(y))
	if n < minTrend {
		return Trend{}, false
	}
	mean, mid := Mean(y), (n-1)/2
	sxy, sxx := 0.0, n*(n*n-1)/12
	for i, v := range y {
		sxy += (float64(i) - mid) * (v - mean)
	}
	t.Slope = sxy / sxx
	rest := make([]float64, len(y))
	ss := 0.0
	for i, v := range y {
		rest[i] = v - mean - t.Slope*(float64(i)-mid)
		ss += rest[i] * rest[i]
	}
	inflation := 1.0
	if ss > 0 {
		r := autocovariance(rest, 0, 1) * n / ss
		r = math.Min(maxLag1, math.Max(0, (n*r+1)/(n-4)))
		inflation = (1 + r) / (1 - r)
	}
	t.df = math.Max(2, n/inflation-2)
	t.se = math.Sqrt(ss / (n - 2) / sxx * inflation)
	return t, true
}

// MeanStep returns the slope as the mean of a series' steps, its error from their deviation. It suits a series that
// walks, such as the length of a growing queue, whose steps are independent. Where a series stays about one level, its
// steps cancel each other and the bounds are wider than necessary. ok is false for fewer than 5 values.
func MeanStep(y []float64) (t Trend, ok bool) {
	n := len(y) - 1
	if n+1 < minTrend {
		return Trend{}, false
	}
	steps := make([]float64, n)
	for i := range steps {
		steps[i] = y[i+1] - y[i]
	}
	return Trend{Slope: Mean(steps), se: math.Sqrt(variance(steps) / float64(n-1)), df: float64(n - 1)}, true
}

// Bounds returns one-sided bounds of the slope: it is below low with a probability of at most level, and above high
// likewise.
func (t Trend) Bounds(level float64) (low, high float64) {
	half := StudentQuantile(1-level, t.df) * t.se
	return t.Slope - half, t.Slope + half
}
