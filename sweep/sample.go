package sweep

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// sample collects one figure over requests in the order in which they were due: values that are known, and lower
// bounds of those that are not.
type sample struct {
	known  []float64
	bounds []float64
}

func (s *sample) know(v float64) { s.known = append(s.known, v) }

func (s *sample) knowFigure(f rundir.Figure) {
	if f.Known() {
		s.know(f.Value())
	}
}

// exceed notes a value of which only a lower bound is known.
func (s *sample) exceed(bound float64) { s.bounds = append(s.bounds, bound) }

func (s *sample) dist() rundir.Dist { return s.distWorth(stats.EffectiveN(s.known)) }

// distWorth sums up a sample whose known values are worth neff independent ones.
//
// A bound takes part in a percentile with its own value, which can only make the percentile too small. A percentile
// that lies below every bound would be the same whatever the true values are: it is a bare number. Above, and for the
// mean, the figure is a lower bound itself.
func (s *sample) distWorth(neff float64) rundir.Dist {
	all := slices.Concat(s.known, s.bounds)
	d := rundir.Dist{N: len(all), Censored: len(s.bounds)}
	if len(all) == 0 {
		return d
	}
	slices.Sort(all)
	smallest := math.Inf(1)
	if len(s.bounds) > 0 {
		smallest = slices.Min(s.bounds)
	}
	figure := func(v float64) rundir.Figure {
		if v < smallest {
			return rundir.Exactly(v)
		}
		return rundir.Over(v)
	}
	d.Neff = rundir.Exactly(max(neff, 1) + float64(len(s.bounds)))
	d.Min = figure(all[0])
	d.Max = figure(all[len(all)-1])
	if mean := stats.Mean(all); len(s.bounds) > 0 {
		d.Mean = rundir.Over(mean)
	} else {
		d.Mean = rundir.Exactly(mean)
		d.Std = rundir.Exactly(stats.Deviation(all))
		if _, low, high, ok := stats.BatchMeans(s.known, meanBatches); ok && len(s.known) >= 2*meanBatches {
			d.CI = map[string][2]float64{"mean": {low, high}}
		}
	}
	for _, q := range []struct {
		name string
		p    float64
		to   *rundir.Figure
	}{{"p50", 0.5, &d.P50}, {"p90", 0.9, &d.P90}, {"p95", 0.95, &d.P95}, {"p99", 0.99, &d.P99}, {"p999", 0.999, &d.P999}} {
		*q.to = quantile(all, q.p, smallest)
		if !stats.Supported(d.Neff.Value(), q.p) {
			d.Unsupported = append(d.Unsupported, q.name)
		} else if low, high, ok := stats.QuantileInterval(all, q.p, d.Neff.Value()); ok && high < smallest {
			if d.CI == nil {
				d.CI = map[string][2]float64{}
			}
			d.CI[q.name] = [2]float64{low, high}
		}
	}
	return d
}

// meanBatches is how many batches a mean's interval rests on.
const meanBatches = 20

// quantile is bare only where both order statistics that it lies between are below every bound.
func quantile(all []float64, p, smallest float64) rundir.Figure {
	v := stats.Quantile(all, p)
	above := all[int(math.Ceil(p*float64(len(all)-1)))]
	if above < smallest {
		return rundir.Exactly(v)
	}
	return rundir.Over(v)
}

// tokens sums up counts.
func (s *sample) tokens() rundir.TokenStats {
	if len(s.known) == 0 {
		return rundir.TokenStats{}
	}
	mean := stats.Mean(s.known)
	return rundir.TokenStats{
		N: len(s.known), Mean: rundir.Exactly(mean), Total: rundir.Exactly(math.Round(mean * float64(len(s.known)))),
		Min: rundir.Exactly(slices.Min(s.known)), Max: rundir.Exactly(slices.Max(s.known)),
	}
}
