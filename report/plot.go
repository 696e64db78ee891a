package report

import (
	"slices"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

const (
	minPlotPoints = 4   // rates: with three, the table shows as much
	plotWidth     = 100 // where that of the terminal is unknown
)

func terminalPlot(run *rundir.Run, o Options) (lines []string) {
	width := plotWidth
	if o.Width > 0 {
		width = o.Width
	}
	columns, ok := draw.TextColumns(width - table.Indent - table.Gap)
	output, ttft := draw.OutputByRate(run), draw.TTFTByRate(run)
	a, b := output.Panels[0].Series[0].Points, ttft.Panels[0].Series[0].Points
	if !ok || len(a) < minPlotPoints || len(b) < minPlotPoints {
		return nil
	}
	left, right := output.Terminal(o.Lang, columns, o.ASCII), ttft.Terminal(o.Lang, columns, o.ASCII)
	for i := range left {
		line := table.Pad(left[i], draw.TextWidth(columns), true) + strings.Repeat(" ", table.Gap) + right[i]
		lines = append(lines, strings.TrimRight(line, " "))
	}
	axis, markNote := plotAxis, plotAgainst
	if draw.ByUsers(run) {
		axis, markNote = plotUsers, plotCarried
	}
	note := axis.In(o.Lang)
	if len(output.Spans) > 0 {
		note = markNote.In(o.Lang, draw.Tick(o.ASCII))
	}
	if slices.ContainsFunc(slices.Concat(a, b), func(p draw.Point) bool { return p.Bound }) {
		note += plotBound.In(o.Lang)
	}
	return append(lines, note)
}
