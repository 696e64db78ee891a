package stats

import "math"

// RenewalError returns the p-quantile of the relative error of a count of n completions of a busy server, whose
// requests take times with a coefficient of variation: the variance of the count is n times its square (Cox, Renewal
// Theory (1962), 3.3). It is 0 for fewer than two.
func RenewalError(variation, n, p float64) float64 {
	if variation <= 0 || n < 2 {
		return 0
	}
	return StudentQuantile(p, n-1) * variation / math.Sqrt(n)
}
