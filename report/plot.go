package report

import (
	"io"
	"slices"
	"strings"

	"llmsweep/report/draw"
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
	columns, ok := draw.TextColumns(width-table.Indent-table.Gap, 2)
	output, ttft := draw.OutputByRate(run), draw.TTFTByRate(run)
	a, b := output.Panels[0].Series[0].Points, ttft.Panels[0].Series[0].Points
	if !ok || len(a) < plotPoints || len(b) < plotPoints {
		return nil
	}
	left, right := output.Terminal(o.Lang, columns, 0, o.ASCII), ttft.Terminal(o.Lang, columns, 0, o.ASCII)
	var text strings.Builder
	text.WriteString("\n")
	for i := range left {
		line := strings.Repeat(" ", table.Indent) + table.Pad(left[i], draw.TextWidth(columns), true) + strings.Repeat(" ", table.Gap) + right[i]
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	axis, marked := plotAxis, plotAgainst
	if draw.ByUsers(run) {
		axis, marked = plotUsers, plotCarried
	}
	note := axis.In(o.Lang)
	if len(output.Spans) > 0 {
		note = marked.In(o.Lang, draw.Tick(o.ASCII))
	}
	if slices.ContainsFunc(slices.Concat(a, b), func(p draw.Point) bool { return p.Bound }) {
		note += plotBound.In(o.Lang)
	}
	text.WriteString(strings.Repeat(" ", table.Indent) + table.Paint(note, table.Faint, o.Color) + "\n")
	_, err := io.WriteString(w, text.String())
	return err
}
