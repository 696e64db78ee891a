package stats

import "github.com/montanaflynn/stats"

// Z95 is the 97.5 % point of the standard normal distribution: an estimate with a normal error lies within Z95 standard
// errors of the truth in 95 % of cases.
const Z95 = 1.959963984540054

// Mean returns the arithmetic mean; NaN for no values.
func Mean(x []float64) float64 {
	m, _ := stats.Mean(x) // the only error is that there are no values
	return m
}

// Deviation returns the population standard deviation; NaN for no values.
func Deviation(x []float64) float64 {
	d, _ := stats.StandardDeviationPopulation(x)
	return d
}

// variance returns the population variance; NaN for no values.
func variance(x []float64) float64 {
	v, _ := stats.PopulationVariance(x)
	return v
}
