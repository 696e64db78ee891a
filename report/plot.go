package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"llmsweep/report/chart"
	"llmsweep/report/lang"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// plotPoints is the least number of rates that is worth a drawing: with three, the table shows as much.
const plotPoints = 4

// plotWidth is the width that drawings are made for where that of the terminal is unknown.
const plotWidth = 100

// writePlot draws output and latency against the rate, side by side, where there are enough rates and enough room.
func writePlot(w io.Writer, run *rundir.Run, o Options) error {
	width := plotWidth
	if o.Width > 0 {
		width = o.Width
	}
	columns, ok := chart.TextColumns(width-table.Indent-table.Gap, 2)
	output, ttft := outputChart(run, o.Lang), ttftChart(run, o.Lang)
	spots := slices.Concat(output.Series[0].Spots, ttft.Series[0].Spots)
	if !ok || len(output.Series[0].Spots) < plotPoints || len(ttft.Series[0].Spots) < plotPoints {
		return nil
	}
	left, right := output.Text(columns, o.ASCII), ttft.Text(columns, o.ASCII)
	var b strings.Builder
	b.WriteString("\n")
	for i := range left {
		line := strings.Repeat(" ", table.Indent) + table.Pad(left[i], chart.TextWidth(columns), true) + strings.Repeat(" ", table.Gap) + right[i]
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	note := plotAxis.In(o.Lang)
	if len(output.Spans) > 0 {
		note = plotAgainst.In(o.Lang, chart.Tick(o.ASCII))
	}
	if slices.ContainsFunc(spots, func(s chart.Spot) bool { return s.Bound }) {
		note += plotBound.In(o.Lang)
	}
	b.WriteString(strings.Repeat(" ", table.Indent) + table.Paint(note, table.Faint, o.Color) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// outputChart is output against the rate.
func outputChart(run *rundir.Run, l lang.Lang) chart.Chart {
	return rateChart(run, plotOutput.In(l), stages.Output, func(y float64) string { return lang.Short(y, false) })
}

// logFactor is the ratio of the highest to the lowest value from which on a logarithmic axis shows more.
const logFactor = 10

// ttftChart is TTFT against the rate. It rises by orders of magnitude where the server saturates.
func ttftChart(run *rundir.Run, l lang.Lang) chart.Chart {
	ttft := func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean }
	c := rateChart(run, plotTTFT.In(l), ttft, func(y float64) string { return lang.Time(rundir.Exactly(y)) })
	if low, high := c.Extent(); low > 0 && high > logFactor*low {
		c.LogY = true
		c.Title += " (log)"
	}
	return c
}

// rateChart is a metric at the rates that were offered, with the saturation rate marked.
func rateChart(run *rundir.Run, title string, of stages.Take, label func(float64) string) chart.Chart {
	var spots []chart.Spot
	for i := range run.Stages {
		s := &run.Stages[i]
		y := of(s)
		if (s.Role == rundir.Grid || s.Role == rundir.Probe) && s.Rate.Known() && s.Invalid.IsZero() && !y.IsZero() {
			spots = append(spots, chart.Spot{X: stages.Offered(s).Value(), Y: y.Value(), Bound: y.Bound()})
		}
	}
	slices.SortFunc(spots, func(a, b chart.Spot) int { return cmp.Compare(a.X, b.X) })
	c := chart.Chart{Title: title, YLabel: label, Series: []chart.Series{{Spots: spots}}}
	if run.Saturation != nil && run.Saturation.Rate.Known() {
		c.Spans = []chart.Span{{Low: math.NaN(), High: math.NaN(), Mark: run.Saturation.Rate.Value()}}
	}
	return c
}
