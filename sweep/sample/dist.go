package sample

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Dist returns the distribution of the sample. The number of independent values behind its intervals is estimated from
// the correlation of the values in due order.
func (s *Sample) Dist() rundir.Dist { return s.DistOf(math.Inf(1)) }

// DistOf is Dist of values that are worth most independent ones at most, since they are alike in groups.
func (s *Sample) DistOf(most float64) rundir.Dist {
	sum := s.summary()
	return sum.dist(min(sum.effectiveN(), most))
}

// DistWorth returns the distribution of a sample whose known values are worth neff independent ones.
func (s *Sample) DistWorth(neff float64) rundir.Dist { return s.summary().dist(neff) }

// dist returns the distribution. A lower bound takes part in a percentile with its own value, which can only make the
// percentile too small. A percentile below every bound is exact: it would be the same whatever the true values are. A
// percentile above one, and the mean, are lower bounds themselves.
func (s *summary) dist(neff float64) rundir.Dist {
	n := s.Len()
	d := rundir.Dist{N: n, Censored: s.bounds, Digits: s.digits}
	if n == 0 {
		return d
	}
	d.Neff = rundir.Exactly(max(neff, 1) + float64(s.bounds))
	d.Min = s.number(s.At(0))
	d.Max = s.number(s.At(n - 1))
	if s.bounds > 0 {
		d.Mean = rundir.Over(s.mean)
	} else {
		d.Mean = rundir.Exactly(s.mean)
		d.Std = rundir.Exactly(s.deviation)
		if low, high, ok := stats.MeanInterval(s.series, s.deviation, neff); ok {
			d.CI = map[string][2]float64{"mean": {max(low, s.At(0)), high}}
		}
	}
	series := s.series
	if s.digits != 0 {
		series = nil // they are means of batches
	}
	for _, q := range d.Percentiles() {
		*q.Number = s.quantile(q.Share)
		if !stats.Supported(d.Neff.Value(), q.Share) {
			d.Unsupported = append(d.Unsupported, q.Name)
		} else if low, high, ok := stats.QuantileInterval(s, series, q.Share, d.Neff.Value()); ok && high < s.smallestBound {
			if d.CI == nil {
				d.CI = map[string][2]float64{}
			}
			d.CI[q.Name] = [2]float64{low, high}
		}
	}
	d.JudgeMean(rundir.MeanPrecision)
	return d
}

func (s *summary) number(v float64) rundir.Number {
	if v < s.smallestBound {
		return rundir.Exactly(v)
	}
	return rundir.Over(v)
}

// quantile is exact only where both order statistics that it lies between are below every bound.
func (s *summary) quantile(p float64) rundir.Number {
	v := stats.QuantileOf(s, p)
	if s.upper(int(math.Ceil(p*float64(s.Len()-1)))) < s.smallestBound {
		return rundir.Exactly(v)
	}
	return rundir.Over(v)
}
