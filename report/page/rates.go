package page

import (
	"math"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/curve"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// verdictShape is how a verdict is drawn and called.
type verdictShape struct {
	verdict string
	shape   draw.Shape
	text    draw.Text
}

// invalid stands for a stage in which the client was the limit.
const invalid = "invalid"

func verdictShapes() []verdictShape {
	verdict := func(v string) draw.Text {
		return draw.Both(func(l lang.Lang) string { return lang.Verdict(v, l) })
	}
	return []verdictShape{
		{rundir.Stable, draw.Circle, verdict(rundir.Stable)}, {rundir.Saturated, draw.Triangle, verdict(rundir.Saturated)},
		{rundir.Shedding, draw.Diamond, verdict(rundir.Shedding)}, {rundir.Undecided, draw.Ring, verdict(rundir.Undecided)},
		{rundir.Closed, draw.Square, verdict(rundir.Closed)}, {invalid, draw.Cross, say(shapeInvalid)},
	}
}

// meaning explains the word of a verdict; empty where the word says it all.
func meaning(verdict string) draw.Text {
	p, ok := map[string]lang.Phrase{
		rundir.Stable: meansStable, rundir.Saturated: meansSaturated, rundir.Shedding: meansShedding, rundir.Undecided: meansUndecided, rundir.Closed: meansClosed,
	}[verdict]
	if !ok {
		return draw.Text{}
	}
	return say(p)
}

// shapeOf returns the marker of a stage and the word for it.
func shapeOf(s *rundir.Stage) (draw.Shape, draw.Text) {
	key := s.Verdict
	if !s.Invalid.IsZero() {
		key = invalid
	}
	all := verdictShapes()
	if i := slices.IndexFunc(all, func(v verdictShape) bool { return v.verdict == key }); i >= 0 {
		return all[i].shape, all[i].text
	}
	return draw.Ring, draw.Same("-")
}

// quantity is what a drawing of rates shows.
type quantity struct {
	name     string // of the figure
	title    draw.Text
	axis     draw.Axis
	metric   string // of the terms of the SLO
	lines    []line
	logarith bool // it can be drawn on a logarithmic axis
}

// line is one series of it.
type line struct {
	key    string
	name   draw.Text
	colour int
	of     func(*rundir.Stage) (v rundir.Number, ci [2]float64, ok, supported bool)
}

// quantities are the drawings of runs, in the order of the page. Where no run has percentiles, as published tables often have none, means are
// drawn.
func quantities(runs ...*rundir.Run) []quantity {
	output := line{key: "output", colour: 0, of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
		v, ci, ok := curve.Output(s)
		return v, ci, ok, true
	}}
	all := []quantity{{
		name: "output", title: say(titleOutput), axis: draw.Axis{Label: say(axisOutput), Format: draw.Number}, lines: []line{output},
	}}
	for _, m := range []struct {
		name, metric string
		title, axis  draw.Text
		of           func(*rundir.Stage) *rundir.Dist
	}{
		{"ttft", slo.TTFT, say(titleTTFT), say(axisTTFT), stages.TTFT},
		{"itl", slo.ITL, say(titleITL), say(axisITL), stages.ITL},
		{"latency", slo.Latency, say(titleLatency), say(axisLatency), stages.Latency},
	} {
		q := quantity{name: m.name, title: m.title, axis: draw.Axis{Label: m.axis, Format: draw.Seconds}, metric: m.metric, logarith: true}
		for i, p := range []string{"p50", "p90", "p99"} {
			q.lines = append(q.lines, line{key: p, name: draw.Same(p), colour: []int{0, 2, 1}[i], of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
				d := m.of(s)
				ci, ok := d.CI[p]
				return d.Get(p), ci, ok, d.Supported(p)
			}})
		}
		if !slices.ContainsFunc(runs, func(r *rundir.Run) bool {
			return slices.ContainsFunc(r.Stages, func(s rundir.Stage) bool { return !m.of(&s).P50.IsZero() })
		}) {
			q.lines = []line{{key: "mean", name: draw.Say(lang.SubMean), of: func(s *rundir.Stage) (rundir.Number, [2]float64, bool, bool) {
				d := m.of(s)
				ci, ok := d.CI["mean"]
				if m.metric == slo.ITL && d.Mean.IsZero() {
					return s.InterToken, ci, false, true
				}
				return d.Mean, ci, ok, true
			}}}
		}
		all = append(all, q)
	}
	return all
}

// rates are the drawings of metrics against the rate.
func (v *view) rates() []Figure {
	var all []Figure
	for _, q := range quantities(v.run) {
		if f, ok := v.rate(q); ok {
			all = append(all, f)
		}
	}
	return all
}

// x returns where a stage stands on the x axis.
func (v *view) x(s *rundir.Stage) float64 {
	switch {
	case s.Rate.Known():
		return stages.Offered(s).Value()
	case v.open:
		return s.Rates.Completed.Value()
	case s.MaxConcurrency > 0:
		return float64(s.MaxConcurrency)
	}
	return 1
}

// axis is the x axis.
func (v *view) axis() draw.Axis {
	if v.open {
		return draw.Axis{Label: say(axisRate), Format: draw.Number}
	}
	return draw.Axis{Label: say(axisInFlight), Format: draw.Number}
}

// onLine reports whether the line of a series goes through a stage: the ceiling, which is a closed loop, stands apart from arrival rates,
// and a stage in which the client was the limit shows nothing of the server. One request at a time is where the line begins, unless the server
// is so quick that it does more of them than the lowest arrival rate.
func (v *view) onLine(s *rundir.Stage) bool {
	return s.Invalid.IsZero() && (s.Rate.Known() || !v.open || s.Role == rundir.Floor && v.x(s) < v.lowest())
}

// lowest is the lowest arrival rate.
func (v *view) lowest() float64 {
	least := math.Inf(1)
	for _, r := range v.rows {
		if r.Stage.Rate.Known() {
			least = min(least, v.x(r.Stage))
		}
	}
	return least
}

// drawn reports whether a stage is drawn at all: the control measurements are shorter repetitions of others.
func drawn(s *rundir.Stage) bool { return s.Role != rundir.Control && s.Role != rundir.WarmUp }

// plotted is one line of a drawing, and the points that stand apart from it.
type plotted struct{ on, apart draw.Series }

// newPlotted returns a line without points.
func newPlotted(key string, name draw.Text, colour int) plotted {
	return plotted{
		on:    draw.Series{Key: key, Name: name, Colour: colour},
		apart: draw.Series{Key: key, Colour: colour, Style: draw.Loose},
	}
}

// add adds a stage's value of l, with its row in the table of numbers, and returns it. ok is false for a stage that has no such value.
func (c *plotted) add(v *view, s *rundir.Stage, l line, row int) (y rundir.Number, ok bool) {
	y, ci, hasInterval, supported := l.of(s)
	if !drawn(s) || y.IsZero() || y.Value() <= 0 || !known(v.x(s)) {
		return y, false
	}
	p := draw.Point{X: v.x(s), Y: y.Value(), Bound: y.Bound(), Faint: !supported, Row: row}
	p.Shape, _ = shapeOf(s)
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
func (v *view) rate(q quantity) (Figure, bool) {
	t := v.rateTable(q)
	panel := draw.Panel{Y: q.axis, Height: 200}
	count := 0
	for _, l := range q.lines {
		c := newPlotted(l.key, l.name, l.colour)
		for i, r := range v.rows {
			c.add(v, r.Stage, l, i+1)
		}
		count += c.into(&panel)
	}
	if count == 0 {
		return Figure{}, false
	}
	panel.Rules = v.limits(q.metric)
	f := Figure{Name: q.name, Title: q.title, Table: t}
	if len(q.lines) > 1 {
		for _, l := range q.lines {
			f.Switches = append(f.Switches, Switch{l.key, l.name, l.colour})
		}
	}
	fig := draw.Figure{Name: q.name, Title: q.title, X: v.axis(), Spans: v.saturation(), Right: 44, Panels: []draw.Panel{panel}}
	f.Variants = variants(fig, q.logarith, wide(panel))
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

// variants draws a figure on a linear axis, and where it can be on a logarithmic one.
func variants(fig draw.Figure, both, log bool) []Variant {
	variant := func(key string, text draw.Text, log, off bool) Variant {
		own := fig
		own.Panels = slices.Clone(fig.Panels)
		for i := range own.Panels {
			own.Panels[i].Y.Log = log
		}
		return newVariant(key, text, &own, off)
	}
	all := []Variant{variant("lin", say(wordLinear), false, both && log)}
	if both {
		all = append(all, variant("log", say(wordLog), true, !log))
	}
	return all
}

// newVariant draws a figure.
func newVariant(key string, text draw.Text, f *draw.Figure, off bool) Variant {
	svg, _ := f.SVG("")
	return Variant{Key: key, Text: text, SVG: markup(svg), Off: off, figure: f}
}

// limits are the limits of the SLO on a metric.
func (v *view) limits(metric string) []draw.Rule {
	var all []draw.Rule
	for _, t := range v.terms {
		if metric != "" && (t.Metric == metric || metric == slo.TTFT && t.Metric == slo.TTFTDue) {
			all = append(all, draw.Rule{Key: t.Stat, Text: draw.Same("SLO " + t.String()), At: t.Limit})
		}
	}
	return all
}

// saturation is the interval of the saturation rate.
func (v *view) saturation() []draw.Span {
	sat := v.run.Saturation
	if sat == nil || sat.Rate.IsZero() || !v.open {
		return nil
	}
	span := draw.Span{Class: "sat", Low: sat.Low.Value(), High: sat.High.Value(), Mark: sat.Rate.Value()}
	switch {
	case sat.Rate.Bound():
		span.Text = say(tagAtLeast, lang.Short(sat.Rate.Value(), true))
	case sat.Low.Known() && sat.High.Known():
		digits := lang.Precision((sat.High.Value() - sat.Low.Value()) / 2)
		span.Text = say(tagSaturation, digits(sat.Rate.Value(), false), digits(sat.Low.Value(), false), digits(sat.High.Value(), false))
	default:
		span.Text = say(tagSaturationOnly, lang.Short(sat.Rate.Value(), false))
	}
	return []draw.Span{span}
}

// rateTable has the numbers of a drawing.
func (v *view) rateTable(q quantity) *Table {
	t := &Table{Name: "t-" + q.name, Title: q.title}
	t.Columns = []Column{{Head: draw.Say(lang.HeadBenchmark), Left: true}, {Head: v.axis().Label}}
	for _, l := range q.lines {
		name := l.name
		if name.IsZero() {
			name = q.axis.Label
		}
		t.Columns = append(t.Columns, Column{Head: name}, Column{Head: name.Plus(say(headInterval))})
	}
	t.Columns = append(t.Columns, Column{Head: say(headVerdict), Left: true})
	for _, r := range v.rows {
		s := r.Stage
		row := Row{Cells: []Cell{plain(rowName(s) + stages.Marks(s)), number(rundir.Exactly(v.x(s)), lang.Short)}}
		for _, l := range q.lines {
			y, ci, ok, supported := l.of(s)
			cell, bounds := duration(y), Cell{Text: draw.Same(lang.Absent), Class: "soft"}
			if q.metric == "" {
				cell = number(lang.NonZero(y), lang.Short)
			}
			if !supported && !y.IsZero() {
				cell.Text = cell.Text.Plus(draw.Same(table.MarkUnsupported))
			}
			if ok && y.Known() {
				bounds = Cell{Text: draw.Same(v.value(q, ci[0]) + " – " + v.value(q, ci[1]))}
			}
			row.Cells = append(row.Cells, cell, bounds)
		}
		row.Cells = append(row.Cells, verdictCell(s))
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []draw.Text{say(noteTable)}
	if slices.ContainsFunc(t.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Cells, func(c Cell) bool { return strings.HasSuffix(c.Text.EN, table.MarkUnsupported) })
	}) {
		t.Notes = append(t.Notes, say(noteUnsupported))
	}
	return t
}

func (v *view) value(q quantity, y float64) string {
	if q.metric == "" {
		return lang.Short(y, false)
	}
	return lang.Time(rundir.Exactly(max(y, 0)))
}

// speed draws what a user gets against what a GPU gives, of one run or several, with the Pareto front. names are those of the runs; nil for one.
// Rows that the audit calls impossible are left out. The front is that of the rows that a choice rests on: the maximum of a run with arrival rates,
// which is a closed loop, stands apart from it.
func speed(name string, setups []curve.Setup, names []string) (Figure, bool) {
	perGPU := !slices.ContainsFunc(setups, func(s curve.Setup) bool { return s.Run.Labels.GPUs == 0 })
	y, title := say(axisPerServer), say(titleSpeed)
	if perGPU {
		y = say(axisPerGPU)
	}
	panel := draw.Panel{Y: draw.Axis{Label: y, Format: draw.Number}, Height: 220}
	t := &Table{Name: "t-" + name, Title: title, Columns: []Column{{Head: draw.Say(lang.HeadBenchmark), Left: true}, {Head: say(axisPerUser)}, {Head: y}, {Head: say(headFront), Left: true}}}
	var stood []*rundir.Stage // of the rows of the table
	var eligible []choose.FrontPoint
	var rows []*curve.Row // of those
	for i := range setups {
		run, gpus := setups[i].Run, 1.0
		if perGPU {
			gpus = float64(run.Labels.GPUs)
		}
		s := draw.Series{Key: "r" + itoa(i), Colour: i, Style: draw.Loose}
		if names != nil {
			s.Name = draw.Same(names[i])
		}
		for _, r := range stages.All(run) {
			p, ok := speedOf(r.Stage, gpus)
			if !drawn(r.Stage) || !r.Stage.Invalid.IsZero() || setups[i].Impossible(r.Stage) || !ok {
				continue
			}
			label := rowName(r.Stage)
			if names != nil {
				label = names[i] + ": " + label
			}
			p.Row = len(t.Rows) + 1
			p.Shape, _ = shapeOf(r.Stage)
			s.Points, stood = append(s.Points, p), append(stood, r.Stage)
			t.Rows = append(t.Rows, Row{Cells: []Cell{plain(label), number(rundir.Exactly(p.X), lang.Short), number(rundir.Exactly(p.Y), lang.Short), {}}})
		}
		for j := range setups[i].Rows {
			if p, ok := speedOf(setups[i].Rows[j].Stage, gpus); ok {
				eligible = append(eligible, choose.FrontPoint{Name: itoa(len(rows)), PerUser: p.X, PerGPU: p.Y})
				rows = append(rows, &setups[i].Rows[j])
			}
		}
		slices.SortStableFunc(s.Points, byX)
		panel.Series = append(panel.Series, s)
	}
	if len(t.Rows) < 2 {
		return Figure{}, false
	}
	front, undominated := draw.Series{Key: "front", Style: draw.Front}, choose.Front(eligible)
	for _, p := range undominated {
		front.Points = append(front.Points, draw.Point{X: p.PerUser, Y: p.PerGPU})
	}
	for k, p := range eligible {
		for row, st := range stood {
			if slices.Contains(undominated, p) && (st == rows[k].Stage || slices.Contains(rows[k].Repeats, st)) {
				t.Rows[row].Cells[3] = Cell{Text: say(wordOnFront)}
			}
		}
	}
	panel.Series = append([]draw.Series{front}, panel.Series...)
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: say(axisPerUser), Format: draw.Number}, Panels: []draw.Panel{panel}}
	note := say(noteFront)
	if slices.ContainsFunc(stood, func(st *rundir.Stage) bool { return !takesPart(setups, st) }) {
		note = note.Plus(say(noteFrontApart))
	}
	return Figure{Name: name, Title: title, Note: note.Plus(leftOutNote(setups)), Variants: variants(fig, false, false), Table: t}, true
}

// speedOf is a stage as a user sees it, in tokens per second of one answer, and as a GPU does; ok is false where either is not known.
func speedOf(s *rundir.Stage, gpus float64) (p draw.Point, ok bool) {
	itl, _, _ := curve.ITL(s)
	output := s.TokensPerS.Output
	if !itl.Known() || itl.Value() <= 0 || !output.Known() || output.Value() <= 0 {
		return p, false
	}
	return draw.Point{X: 1 / itl.Value(), Y: output.Value() / gpus}, true
}

// takesPart reports whether a stage is one of the rows that comparing and choosing rest on.
func takesPart(setups []curve.Setup, st *rundir.Stage) bool {
	return slices.ContainsFunc(setups, func(s curve.Setup) bool {
		return slices.ContainsFunc(s.Rows, func(r curve.Row) bool { return r.Stage == st || slices.Contains(r.Repeats, st) })
	})
}

// leftOutNote tells how many rows are not drawn because the audit calls them impossible; empty for none.
func leftOutNote(setups []curve.Setup) draw.Text {
	n := 0
	for i := range setups {
		for j := range setups[i].Run.Stages {
			if setups[i].Impossible(&setups[i].Run.Stages[j]) {
				n++
			}
		}
	}
	if n == 0 {
		return draw.Text{}
	}
	return say(noteImpossible, n)
}

// alone is a run as comparing and choosing see it.
func alone(run *rundir.Run) []curve.Setup { return curve.Load([]curve.Input{{Run: run}}) }
