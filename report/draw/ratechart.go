// Draws for a terminal how a metric depends on the rate of arrivals: output and TTFT, with the saturation rate marked.

package draw

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// OutputChart is output against the rate, of the stages with the roles; without roles, of the grid and the probes.
func OutputChart(run *rundir.Run, l lang.Lang, roles ...rundir.Role) TextChart {
	return rateChart(run, plotOutput.In(l), findings.Output, func(y float64) string { return lang.Short(y, false) }, roles)
}

// logFactor is the ratio of the highest to the lowest value from which on a logarithmic axis shows more.
const logFactor = 10

// TTFTChart is TTFT against the rate, of stages as in [Output]. It rises by orders of magnitude where the server saturates.
func TTFTChart(run *rundir.Run, l lang.Lang, roles ...rundir.Role) TextChart {
	ttft := func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean }
	c := rateChart(run, plotTTFT.In(l), ttft, func(y float64) string { return lang.Time(rundir.Exactly(y)) }, roles)
	if low, high := c.Extent(); low > 0 && high > logFactor*low {
		c.LogY = true
		c.Title += " (log)"
	}
	return c
}

// rateChart is a metric at the rates that were offered, with the saturation rate marked. A closed loop stands at what it completed.
func rateChart(run *rundir.Run, title string, of findings.TakeStages, label func(float64) string, roles []rundir.Role) TextChart {
	if len(roles) == 0 {
		roles = []rundir.Role{rundir.Grid, rundir.Probe}
	}
	var spots []Spot
	for i := range run.Stages {
		s := &run.Stages[i]
		x, y := findings.Offered(s), of(s)
		if !s.Rate.Known() {
			x = findings.CompletedCell(s)
		}
		if slices.Contains(roles, s.Role) && x.Value() > 0 && s.Invalid.IsZero() && !y.IsZero() {
			spots = append(spots, Spot{X: x.Value(), Y: y.Value(), Bound: y.Bound()})
		}
	}
	slices.SortFunc(spots, func(a, b Spot) int { return cmp.Compare(a.X, b.X) })
	c := TextChart{Title: title, YLabel: label, Series: []TextSeries{{Spots: spots}}}
	if run.Saturation != nil && run.Saturation.Rate.Known() {
		c.Spans = []TextSpan{{Low: math.NaN(), High: math.NaN(), Mark: run.Saturation.Rate.Value()}}
	}
	return c
}
