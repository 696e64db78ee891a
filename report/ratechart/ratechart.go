// Package ratechart draws for a terminal how a metric depends on the rate of arrivals: output and TTFT, with the saturation rate marked.
package ratechart

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/report/chart"
	"llmsweep/report/lang"
	"llmsweep/report/stages"
	"llmsweep/sweep/rundir"
)

// Output is output against the rate, of the stages with the roles; without roles, of the grid and the probes.
func Output(run *rundir.Run, l lang.Lang, roles ...rundir.Role) chart.Chart {
	return rateChart(run, plotOutput.In(l), stages.Output, func(y float64) string { return lang.Short(y, false) }, roles)
}

// logFactor is the ratio of the highest to the lowest value from which on a logarithmic axis shows more.
const logFactor = 10

// TTFT is TTFT against the rate, of stages as in [Output]. It rises by orders of magnitude where the server saturates.
func TTFT(run *rundir.Run, l lang.Lang, roles ...rundir.Role) chart.Chart {
	ttft := func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean }
	c := rateChart(run, plotTTFT.In(l), ttft, func(y float64) string { return lang.Time(rundir.Exactly(y)) }, roles)
	if low, high := c.Extent(); low > 0 && high > logFactor*low {
		c.LogY = true
		c.Title += " (log)"
	}
	return c
}

// rateChart is a metric at the rates that were offered, with the saturation rate marked. A closed loop stands at what it completed.
func rateChart(run *rundir.Run, title string, of stages.Take, label func(float64) string, roles []rundir.Role) chart.Chart {
	if len(roles) == 0 {
		roles = []rundir.Role{rundir.Grid, rundir.Probe}
	}
	var spots []chart.Spot
	for i := range run.Stages {
		s := &run.Stages[i]
		x, y := stages.Offered(s), of(s)
		if !s.Rate.Known() {
			x = stages.Completed(s)
		}
		if slices.Contains(roles, s.Role) && x.Value() > 0 && s.Invalid.IsZero() && !y.IsZero() {
			spots = append(spots, chart.Spot{X: x.Value(), Y: y.Value(), Bound: y.Bound()})
		}
	}
	slices.SortFunc(spots, func(a, b chart.Spot) int { return cmp.Compare(a.X, b.X) })
	c := chart.Chart{Title: title, YLabel: label, Series: []chart.Series{{Spots: spots}}}
	if run.Saturation != nil && run.Saturation.Rate.Known() {
		c.Spans = []chart.Span{{Low: math.NaN(), High: math.NaN(), Mark: run.Saturation.Rate.Value()}}
	}
	return c
}
