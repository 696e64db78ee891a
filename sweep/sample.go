package sweep

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

func (s *sample) dist() rundir.Dist {
	c := s.complete()
	return c.dist(c.effectiveN())
}

func (s *sample) distWorth(neff float64) rundir.Dist { return s.complete().dist(neff) }

// dist sums up a sample whose known values are worth neff independent ones.
//
// A bound takes part in a percentile with its own value, which can only make the percentile too small. A percentile
// that lies below every bound would be the same whatever the true values are: it is a bare number. Above, and for the
// mean, the figure is a lower bound itself.
func (c *complete) dist(neff float64) rundir.Dist {
	n := c.Len()
	d := rundir.Dist{N: n, Censored: c.bounds, Digits: c.digits}
	if n == 0 {
		return d
	}
	figure := func(v float64) rundir.Number {
		if v < c.smallest {
			return rundir.Exactly(v)
		}
		return rundir.Over(v)
	}
	d.Neff = rundir.Exactly(max(neff, 1) + float64(c.bounds))
	d.Min = figure(c.At(0))
	d.Max = figure(c.At(n - 1))
	if c.bounds > 0 {
		d.Mean = rundir.Over(c.mean)
	} else {
		d.Mean = rundir.Exactly(c.mean)
		d.Std = rundir.Exactly(c.deviation)
		if low, high, ok := stats.MeanInterval(c.series, c.deviation, neff); ok {
			d.CI = map[string][2]float64{"mean": {max(low, c.At(0)), high}}
		}
	}
	series := c.series
	if c.digits != 0 {
		series = nil // they are means of batches
	}
	for _, q := range []struct {
		name string
		p    float64
		to   *rundir.Number
	}{{"p50", 0.5, &d.P50}, {"p90", 0.9, &d.P90}, {"p95", 0.95, &d.P95}, {"p99", 0.99, &d.P99}, {"p999", 0.999, &d.P999}} {
		*q.to = c.quantile(q.p)
		if !stats.Supported(d.Neff.Value(), q.p) {
			d.Unsupported = append(d.Unsupported, q.name)
		} else if low, high, ok := stats.QuantileInterval(c, series, q.p, d.Neff.Value()); ok && high < c.smallest {
			if d.CI == nil {
				d.CI = map[string][2]float64{}
			}
			d.CI[q.name] = [2]float64{low, high}
		}
	}
	return d
}

// quantile is bare only where both order statistics that it lies between are below every bound.
func (c *complete) quantile(p float64) rundir.Number {
	v := stats.QuantileOf(c, p)
	if c.most(int(math.Ceil(p*float64(c.Len()-1)))) < c.smallest {
		return rundir.Exactly(v)
	}
	return rundir.Over(v)
}
