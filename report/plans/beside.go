// Draws what twins predict: beside what was measured, and as plans over the day.

package plans

import (
	"cmp"
	"slices"

	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/page"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// quantity is a drawing of a metric: one or two lines of predictions and the measured points.
type quantity struct {
	name  string
	title lang.Text
	axis  draw.Axis
	log   bool
	lines []line
}

type line struct {
	key, text string
	colour    int
	of        func(*twin.Metrics) float64
}

func quantities() []quantity {
	return []quantity{
		{"output", titleOutput.Text(), draw.Axis{Label: axisOutput.Text(), Format: draw.Number}, false, []line{{"output", "", 0, func(m *twin.Metrics) float64 { return m.Output }}}},
		{"ttft", lang.Same("TTFT"), draw.Axis{Label: lang.Same("TTFT"), Format: draw.Seconds}, true,
			[]line{{"p50", "p50", 0, func(m *twin.Metrics) float64 { return m.TTFT50 / 1000 }}, {"p99", "p99", 1, func(m *twin.Metrics) float64 { return m.TTFT99 / 1000 }}}},
		{"itl", lang.Same("ITL"), draw.Axis{Label: lang.Same("ITL"), Format: draw.Seconds}, true,
			[]line{{"p50", "p50", 0, func(m *twin.Metrics) float64 { return m.Gap50 / 1000 }}, {"p99", "p99", 1, func(m *twin.Metrics) float64 { return m.Gap99 / 1000 }}}},
	}
}

// BesidePlots is the section of a page that shows what a twin predicts of a run beside what was measured.
func BesidePlots(c *twin.Comparison) page.Section {
	sections := page.FromSections("predicted", choose.TwinBeside(c))
	s := sections[0]
	var figures []page.FigureBlock
	for _, open := range []bool{true, false} {
		for _, q := range quantities() {
			if f, ok := compared(c, q, open); ok {
				figures = append(figures, f)
			}
		}
	}
	if len(figures) > 0 {
		s.Blocks = append(s.Blocks, page.Block{Figures: figures})
	}
	return s
}

// compared draws a metric against the arrival rate, or in closed loops against the requests in flight.
func compared(c *twin.Comparison, q quantity, open bool) (page.FigureBlock, bool) {
	x, name := draw.Axis{Label: axisInFlight.Text(), Format: draw.Number}, "predicted-loop-"+q.name
	if open {
		x, name = draw.Axis{Label: axisRate.Text(), Format: draw.Number}, "predicted-rate-"+q.name
	}
	var rows []twin.ComparisonRow
	for _, r := range c.Rows {
		if (r.Rate > 0) == open && (r.Rate > 0 || r.Width > 0) {
			rows = append(rows, r)
		}
	}
	at := func(r twin.ComparisonRow) float64 { return cmp.Or(r.Rate, float64(r.Width)) }
	slices.SortStableFunc(rows, func(a, b twin.ComparisonRow) int { return cmp.Compare(at(a), at(b)) })
	panel := draw.Panel{Y: q.axis, Height: 200}
	t := &page.Grid{Name: "t-" + name, Table: table.Table{Title: q.title, Columns: []table.Column{{Head: lang.HeadBenchmark.Text(), Left: true}, {Head: x.Label}}}}
	points := 0
	f := page.FigureBlock{Name: name, Title: q.title, Note: noteBeside.Text()}
	for _, l := range q.lines {
		predicted := draw.Series{Key: l.key, Colour: l.colour, Style: draw.Path, Dashed: true, Name: lang.Same(l.text)}
		measured := draw.Series{Key: l.key, Colour: l.colour, Style: draw.Loose}
		for i, r := range rows {
			if v := l.of(&r.Predicted); v > 0 {
				predicted.Points = append(predicted.Points, draw.Point{X: at(r), Y: v, Row: i + 1})
			}
			if v := l.of(&r.Measured); v > 0 {
				measured.Points = append(measured.Points, draw.Point{X: at(r), Y: v, Shape: shapeOf(r.Use), Row: i + 1})
			}
		}
		points += min(len(predicted.Points), len(measured.Points))
		panel.Series = append(panel.Series, predicted, measured)
		name := lang.Same(l.text)
		t.Columns = append(t.Columns, table.Column{Head: headPredicted.Text().Plus(lang.Same(" ")).Plus(name)}, table.Column{Head: headMeasured.Text().Plus(lang.Same(" ")).Plus(name)})
		if len(q.lines) > 1 {
			f.Switches = append(f.Switches, page.Switch{Key: l.key, Text: name, Colour: l.colour})
		}
	}
	for _, r := range rows {
		row := []table.Cell{table.Literal(table.Clean(r.Stage)), table.Literal(lang.Short(at(r), false))}
		for _, l := range q.lines {
			for _, v := range []float64{l.of(&r.Predicted), l.of(&r.Measured)} {
				row = append(row, value(v, q.axis))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if points < 2 { // no line
		return f, false
	}
	f.Table = t
	f.Variants = page.PlotVariants(draw.Figure{Name: name, Title: q.title, X: x, Right: 44, Panels: []draw.Panel{panel}}, q.log, q.log)
	return f, true
}

// shapeOf is how a measured point is drawn: those that the fit has seen are hollow.
func shapeOf(use string) draw.Shape {
	if use == twin.RoleFitted {
		return draw.Ring
	}
	return draw.Circle
}

// value is a cell with a number.
func value(v float64, axis draw.Axis) table.Cell {
	if v == 0 {
		return table.Absent()
	}
	return table.Literal(axis.Format(v))
}
