package plots

import (
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/page/layout"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// rates are the drawings of metrics against the rate.
func (v *View) Rates() []layout.Figure {
	var all []layout.Figure
	for _, q := range quantities(v.Run) {
		if f, ok := v.rate(q); ok {
			all = append(all, f)
		}
	}
	return all
}

// drawn reports whether a stage is drawn at all: the control measurements are shorter repetitions of others.
func drawn(s *rundir.Stage) bool { return s.Role != rundir.Control && s.Role != rundir.WarmUp }

// plotted is one line of a drawing, and the points that stand apart from it.
type plotted struct{ on, apart draw.Series }

// newPlotted returns a line without points.
func newPlotted(key string, name lang.Text, colour int) plotted {
	return plotted{
		on:    draw.Series{Key: key, Name: name, Colour: colour},
		apart: draw.Series{Key: key, Colour: colour, Style: draw.Loose},
	}
}

// add adds a stage's value of l, with its row in the table of numbers, and returns it. ok is false for a stage that has no such value.
func (c *plotted) add(v *View, s *rundir.Stage, l line, row int) (y rundir.Number, ok bool) {
	y, ci, hasInterval, supported := l.of(s)
	if !drawn(s) || y.IsZero() || y.Value() <= 0 || !known(v.X(s)) {
		return y, false
	}
	p := draw.Point{X: v.X(s), Y: y.Value(), Bound: y.Bound(), Faint: !supported, Row: row}
	p.Shape, _ = layout.Shape(s)
	if hasInterval {
		p.Low, p.High = ci[0], ci[1]
	}
	series := &c.apart
	if v.onLine(s) {
		series = &c.on
	}
	series.Points = append(series.Points, p)
	return y, true
}

// into adds the line and the points to a panel, and returns how many points it has.
func (c *plotted) into(panel *draw.Panel) int {
	slices.SortStableFunc(c.on.Points, byX)
	if len(c.on.Points) == 0 {
		c.apart.Name = c.on.Name
	}
	panel.Series = append(panel.Series, c.on, c.apart)
	return len(c.on.Points) + len(c.apart.Points)
}

// rate is one drawing.
func (v *View) rate(q quantity) (layout.Figure, bool) {
	t := v.rateTable(q)
	panel := draw.Panel{Y: q.axis, Height: 200}
	count := 0
	for _, l := range q.lines {
		c := newPlotted(l.key, l.name, l.colour)
		for i, r := range v.Rows {
			c.add(v, r.Stage, l, i+1)
		}
		count += c.into(&panel)
	}
	if count == 0 {
		return layout.Figure{}, false
	}
	panel.Rules = v.Limits(q.metric)
	f := layout.Figure{Name: q.name, Title: q.title, Table: t}
	if len(q.lines) > 1 {
		for _, l := range q.lines {
			f.Switches = append(f.Switches, layout.Switch{Key: l.key, Text: l.name, Colour: l.colour})
		}
	}
	fig := draw.Figure{Name: q.name, Title: q.title, X: v.Axis(), Spans: v.saturation(), Right: 44, Panels: []draw.Panel{panel}}
	f.Variants = Variants(fig, q.logarith, wide(panel))
	return f, true
}

// wide reports whether the values span so much that a logarithmic axis shows more.
func wide(p draw.Panel) bool {
	const factor = 10
	low, high := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, q := range s.Points {
			if q.Y > 0 {
				low, high = min(low, q.Y), max(high, q.Y)
			}
		}
	}
	return high > factor*low
}

// Variants draws a figure on a linear axis, and where it can be on a logarithmic one.
func Variants(fig draw.Figure, both, log bool) []layout.Variant {
	variant := func(key string, text lang.Text, log, off bool) layout.Variant {
		own := fig
		own.Panels = slices.Clone(fig.Panels)
		for i := range own.Panels {
			own.Panels[i].Y.Log = log
		}
		return newVariant(key, text, &own, off)
	}
	all := []layout.Variant{variant("lin", wordLinear.Text(), false, both && log)}
	if both {
		all = append(all, variant("log", wordLog.Text(), true, !log))
	}
	return all
}

// newVariant draws a figure.
func newVariant(key string, text lang.Text, f *draw.Figure, off bool) layout.Variant {
	svg, _ := f.SVG("")
	return layout.Variant{Key: key, Text: text, SVG: layout.Markup(svg), Off: off, Drawn: f}
}

// rateTable has the numbers of a drawing.
func (v *View) rateTable(q quantity) *layout.Table {
	t := &layout.Table{Name: "t-" + q.name, Title: q.title}
	t.Columns = []layout.Column{{Head: lang.HeadBenchmark.Text(), Left: true}, {Head: v.Axis().Label}}
	for _, l := range q.lines {
		name := l.name
		if name.IsZero() {
			name = q.axis.Label
		}
		t.Columns = append(t.Columns, layout.Column{Head: name}, layout.Column{Head: name.Plus(layout.HeadInterval.Text())})
	}
	t.Columns = append(t.Columns, layout.Column{Head: layout.HeadVerdict.Text(), Left: true})
	for _, r := range v.Rows {
		s := r.Stage
		row := layout.Row{Cells: []layout.Cell{layout.Plain(stages.Name(s) + stages.Marks(s)), layout.Number(rundir.Exactly(v.X(s)), lang.Short)}}
		for _, l := range q.lines {
			y, ci, ok, supported := l.of(s)
			cell, bounds := layout.Duration(y), layout.Cell{Text: lang.Same(lang.Absent), Class: "soft"}
			if q.metric == "" {
				cell = layout.Number(lang.NonZero(y), lang.Short)
			}
			if !supported && !y.IsZero() {
				cell.Text = cell.Text.Plus(lang.Same(table.MarkUnsupported))
			}
			if ok && y.Known() {
				bounds = layout.Cell{Text: lang.Same(v.value(q, ci[0]) + " – " + v.value(q, ci[1]))}
			}
			row.Cells = append(row.Cells, cell, bounds)
		}
		row.Cells = append(row.Cells, layout.Verdict(s))
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []lang.Text{noteTable.Text()}
	if v.Open {
		t.Notes = append(t.Notes, NoteNames.Text())
	}
	if slices.ContainsFunc(t.Rows, func(r layout.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c layout.Cell) bool { return strings.HasSuffix(c.Text.EN, table.MarkUnsupported) })
	}) {
		t.Notes = append(t.Notes, noteUnsupported.Text())
	}
	return t
}

func (v *View) value(q quantity, y float64) string {
	if q.metric == "" {
		return lang.Short(y, false)
	}
	return lang.Time(rundir.Exactly(max(y, 0)))
}
