package stats

import "math"

// Trend is a series' slope, with the means to bound it.
type Trend struct {
	Slope float64 // per step
	se    float64
	df    float64
}

// FitTrend fits y against its index by least squares. Neighbouring batch means of a queue are correlated, which makes
// the plain standard error too small; it is widened by the residuals' own lag-1 correlation r: the variance by
// (1+r)/(1-r), the degrees of freedom by the inverse (Zwiers and von Storch, Journal of Climate 8 (1995)). r is first
// corrected for the bias that detrending gives it in short series (Marriott and Pope, Biometrika 41 (1954)). ok is
// false for fewer than 5 values.
func FitTrend(y []float64) (t Trend, ok bool) {
	n := float64(len(y))
	if n < 5 {
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
		r = math.Min(0.95, math.Max(0, (n*r+1)/(n-4)))
		inflation = (1 + r) / (1 - r)
	}
	t.df = math.Max(2, n/inflation-2)
	t.se = math.Sqrt(ss / (n - 2) / sxx * inflation)
	return t, true
}

// MeanStep is the slope as the average of a series' steps, bounded by their own spread. It suits a series that walks, a
// growing queue's, whose steps are independent; where the series stays about one level its steps cancel each other, and
// the bounds are wider than they need be. ok is false for fewer than 5 values.
func MeanStep(y []float64) (t Trend, ok bool) {
	n := len(y) - 1
	if n < 4 {
		return Trend{}, false
	}
	steps := make([]float64, n)
	for i := range steps {
		steps[i] = y[i+1] - y[i]
	}
	return Trend{Slope: Mean(steps), se: math.Sqrt(variance(steps) / float64(n-1)), df: float64(n - 1)}, true
}

// Bounds are the one-sided bounds of the slope at the given level each: below low, or above high, it lies with
// probability level at most.
func (t Trend) Bounds(level float64) (low, high float64) {
	half := StudentQuantile(1-level, t.df) * t.se
	return t.Slope - half, t.Slope + half
}
