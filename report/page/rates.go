package page

import (
	"math"
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func (v *view) rates() []FigureBlock {
	var all []FigureBlock
	for _, q := range quantities(v.Run) {
		if f, ok := v.rate(q); ok {
			all = append(all, f)
		}
	}
	return all
}

// isDrawn leaves out control measurements, which are shorter repetitions of other stages.
func isDrawn(s *rundir.Stage) bool { return s.Role != rundir.WarmUp && !s.Quick() }

// lineSeries is a line of a drawing, and the points that stand apart from it.
type lineSeries struct{ joined, single draw.Series }

func newLineSeries(key string, name lang.Text, colour int) lineSeries {
	return lineSeries{
		joined: draw.Series{Key: key, Name: name, Colour: colour},
		single: draw.Series{Key: key, Colour: colour, Style: draw.MarkersOnly},
	}
}

func (c *lineSeries) add(v *view, s *rundir.Stage, l quantityLine, row int, from string) (y rundir.Number, ok bool) {
	value := l.of(s)
	y = value.Number
	if !isDrawn(s) || y.IsZero() || y.Value() <= 0 || !known(v.x(s)) {
		return y, false
	}
	p := draw.Point{X: v.x(s), Y: y.Value(), Bound: y.Bound(), Faint: value.faint, Row: row, Title: from}
	p.Shape, _ = shape(findings.StageRow{Run: v.Run, Stage: s})
	if value.hasCI {
		p.Low, p.High = value.ci[0], value.ci[1]
	}
	series := &c.single
	if v.onLine(s) {
		series = &c.joined
	}
	series.Points = append(series.Points, p)
	return y, true
}

func (c *lineSeries) addTo(panel *draw.Panel) {
	slices.SortStableFunc(c.joined.Points, byX)
	if len(c.joined.Points) == 0 {
		c.single.Name = c.joined.Name
	}
	panel.Series = append(panel.Series, c.joined, c.single)
}

func (v *view) rate(q quantity) (FigureBlock, bool) {
	panel := draw.Panel{Y: q.axis, Height: 200}
	for _, l := range q.lines {
		c := newLineSeries(l.key, l.name, l.colour)
		for i, r := range v.Rows {
			c.add(v, r.Stage, l, i+1, findings.StageName(r.Stage))
		}
		c.addTo(&panel)
	}
	if countX(&panel) < 2 {
		return FigureBlock{}, false
	}
	panel.Rules = v.limits(q.metric)
	fig := draw.Figure{
		Name:    q.name,
		Title:   q.title,
		Caption: v.caption(&q),
		X:       v.axis(),
		Spans:   v.saturation(),
		Right:   44,
		Panels:  []draw.Panel{panel},
	}
	if q.metric != "" { // the first drawing of the page names the rate
		for i := range fig.Spans {
			fig.Spans[i].Text = lang.Text{}
		}
	}
	f := newFigureBlock(&fig, plotVariants(fig, q.logAxis)...)
	f.Table = v.rateTable(q)
	if len(q.lines) > 1 {
		for _, l := range q.lines {
			f.Switches = append(f.Switches, Switch{Key: l.key, Text: l.name, Colour: l.colour})
		}
	}
	return f, true
}

// countX counts the places on the x axis: one is no curve.
func countX(p *draw.Panel) int {
	at := map[float64]bool{}
	for _, s := range p.Series {
		for _, q := range s.Points {
			at[q.X] = true
		}
	}
	return len(at)
}

func spansDecade(p draw.Panel) bool {
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

// plotVariants draws a figure on a linear axis and, where both are of use, on a logarithmic one.
func plotVariants(fig draw.Figure, both bool) []Variant {
	variant := func(key string, text lang.Text, log, off bool) Variant {
		f := fig
		f.Panels = slices.Clone(fig.Panels)
		for i := range f.Panels {
			f.Panels[i].Y.Log = log
		}
		return newVariant(key, text, &f, off)
	}
	if !both {
		return []Variant{variant("lin", wordLinear.Text(), false, false)}
	}
	log := spansDecade(fig.Panels[0])
	return []Variant{variant("lin", wordLinear.Text(), false, log), variant("log", wordLog.Text(), true, !log)}
}

func newVariant(key string, text lang.Text, f *draw.Figure, off bool) Variant {
	svg, _ := f.SVG()
	return Variant{Key: key, Text: text, SVG: markup(svg), Off: off, Drawn: f}
}

func (v *view) rateTable(q quantity) *Grid {
	t := &Grid{Name: "t-" + q.name, Table: table.Table{Title: q.title}}
	t.Columns = []table.Column{{Head: lang.HeadLoad.Text(), Left: true}, {Head: v.axis().Label}}
	for _, l := range q.lines {
		name := l.name
		if name.IsZero() {
			name = q.axis.Label
		}
		t.Columns = append(t.Columns, table.Column{Head: name}, table.Column{Head: name.Plus(headInterval.Text())})
	}
	t.Columns = append(t.Columns, table.Column{Head: headVerdict.Text(), Left: true})
	x := lang.Short
	if !v.Open {
		x = lang.Fixed(0) // of users, or requests in flight
	}
	for _, r := range v.Rows {
		s := r.Stage
		row := []table.Cell{table.Literal(findings.StageName(s)), table.Number(rundir.Exactly(v.x(s)), "", x)}
		for _, l := range q.lines {
			y := l.of(s)
			cell, bounds := table.Seconds(y.Number), table.Absent()
			if q.metric == "" {
				cell = table.Number(lang.NonZero(y.Number), "", lang.Short)
			}
			if y.faint && !y.IsZero() {
				cell.Mark = table.MarkUnsupported
			}
			if y.hasCI && y.Known() {
				bounds = table.Literal(q.text(y.ci[0]) + " – " + q.text(y.ci[1]))
			}
			row = append(row, cell, bounds)
		}
		t.Add(append(row, findings.VerdictCell(r))...)
	}
	return t
}

func (q *quantity) text(y float64) string {
	if q.metric == "" {
		return lang.Short(y, false)
	}
	return lang.Time(rundir.Exactly(max(y, 0)))
}
