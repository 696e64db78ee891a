package plans

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/page"
	"llmsweep/report/table"
	"llmsweep/sweep/plan"
	"llmsweep/sweep/slo"
)

// mostPlans is how many plans are drawn, the cheapest first.
const mostPlans = 4

// PlanPlots writes the page of a plan of capacity.
func PlanPlots(w io.Writer, r *plan.CapacityResult, o page.WriteOptions) error {
	d := &page.Document{Title: plotTitlePlan.Text(), Subtitle: lang.Same(strings.Join(r.SLO, ", ")), Data: map[string]any{}}
	parts := page.FromSections("plan", Sections(r))
	d.Sections = append(d.Sections, parts[0])
	for i := range r.Ranked[:min(len(r.Ranked), mostPlans)] {
		p := &r.Ranked[i]
		s := page.Section{ID: "day-" + strconv.Itoa(i+1), Title: titleDay.Text(i+1, table.Clean(p.Name))}
		s.Blocks = append(s.Blocks, page.Block{Figures: dayOf("day-"+strconv.Itoa(i+1), p, r)})
		d.Sections = append(d.Sections, s)
	}
	d.Sections = append(d.Sections, parts[1:]...)
	return page.WriteHTML(w, d, o)
}

// dayOf are the drawings of one plan: demand, replicas, each term of the objective, and the sizes that were tried.
func dayOf(name string, p *plan.CapacityPlan, r *plan.CapacityResult) []page.FigureBlock {
	over := func(of func(s *plan.CapacitySpan) (float64, bool), key string, text lang.Text, colour int, dashed bool, all []plan.CapacitySpan) draw.Series {
		s := draw.Series{Key: key, Name: text, Colour: colour, Style: draw.Path, Dashed: dashed}
		for i := range all {
			if v, ok := of(&all[i]); ok {
				s.Points = append(s.Points, draw.Point{X: axisAt(all[i].From, r), Y: v, Row: i + 1})
			}
		}
		return s
	}
	always := func(of func(s *plan.CapacitySpan) float64) func(s *plan.CapacitySpan) (float64, bool) {
		return func(s *plan.CapacitySpan) (float64, bool) { return of(s), true }
	}
	x := axisOf(r)
	var marks []draw.Mark
	if p.OverLost != nil {
		marks = []draw.Mark{{Text: markLost.Text(), At: axisAt(p.LostAt, r)}}
	}
	figure := func(suffix string, title lang.Text, y draw.Axis, series []draw.Series, rules []draw.Rule, note lang.Text) page.FigureBlock {
		full := name + "-" + suffix
		f := page.FigureBlock{Name: full, Title: title, Note: note, Table: spansTable("t-"+full, title, p.Over, series, r, y)}
		f.Variants = page.PlotVariants(draw.Figure{Name: full, Title: title, X: x, Marks: marks, Right: 60, Panels: []draw.Panel{{Y: y, Height: 160, Series: series, Rules: rules}}}, false, false)
		return f
	}
	number := func(p lang.Phrase) draw.Axis { return draw.Axis{Label: p.Text(), Format: draw.Number} }
	all := []page.FigureBlock{
		figure("demand", titleDemand.Text(), number(axisDemand), []draw.Series{over(always(func(s *plan.CapacitySpan) float64 { return s.Rate }), "rate", lang.Text{}, 0, false, p.Over)}, nil, lang.Text{}),
	}
	replicas := []draw.Series{
		over(always(func(s *plan.CapacitySpan) float64 { return float64(s.Most) }), "most", wordMost.Text(), 0, false, p.Over),
		over(always(func(s *plan.CapacitySpan) float64 { return s.Mean }), "mean", lang.SubMean.Text(), 2, false, p.Over),
	}
	if p.OverLost != nil {
		replicas = append(replicas, over(always(func(s *plan.CapacitySpan) float64 { return float64(s.Least) }), "lost", wordLost.Text(), 1, true, p.OverLost))
	}
	all = append(all, figure("replicas", titleReplicas.Text(), number(axisReplicas), replicas, nil, lang.Text{}))
	terms, err := slo.ParseAll(r.SLO)
	if err != nil { // a term of a newer llmsweep is not drawn
		return all
	}
	for k, t := range terms {
		worst := func(s *plan.CapacitySpan) (float64, bool) {
			if k >= len(s.Worst) || s.Worst[k] == nil {
				return 0, false
			}
			return *s.Worst[k], true
		}
		y := draw.Axis{Label: lang.Same(t.Name()), Format: draw.Seconds}
		if t.Metric == slo.Errors {
			y.Format = draw.Number
		}
		series := []draw.Series{over(worst, "worst", lang.Text{}, 0, false, p.Over)}
		if p.OverLost != nil {
			series = append(series, over(worst, "lost", wordLost.Text(), 1, true, p.OverLost))
		}
		all = append(all, figure("term"+strconv.Itoa(k+1), lang.Same(t.String()), y, series, []draw.Rule{{Key: "worst", Text: lang.Same("SLO " + t.String()), At: t.Limit}}, noteWorst.Text()))
	}
	return append(all, sizesOf(name+"-sizes", p, r))
}

// sizesOf draws how often the objective holds with each number of replicas that was tried, and what breaks first.
func sizesOf(name string, p *plan.CapacityPlan, r *plan.CapacityResult) page.FigureBlock {
	title := plotTitleSizes.Text()
	s := draw.Series{Key: "held", Colour: 0}
	t := &page.Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{{Head: axisReplicas.Text()}, {Head: axisHeld.Text()}}}}
	for i, one := range p.Sizes {
		s.Points = append(s.Points, draw.Point{X: float64(one.Replicas), Y: 100 * one.Held, Row: i + 1})
		t.Rows = append(t.Rows, []table.Cell{table.Literal(strconv.Itoa(one.Replicas)), table.Literal(fmt.Sprintf("%.1f", 100*one.Held))})
	}
	panel := draw.Panel{Y: draw.Axis{Label: axisHeld.Text(), Format: draw.Number}, Height: 160, Series: []draw.Series{s}, Rules: []draw.Rule{{Key: "held", Text: ruleWanted.Text(), At: 100 * r.Minutes}}}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: axisReplicas.Text(), Format: draw.Number}, Right: 60, Panels: []draw.Panel{panel}}
	return page.FigureBlock{Name: name, Title: title, Note: lang.Both(func(l lang.Lang) string { return First(p, l) }), Variants: page.PlotVariants(fig, false, false), Table: t}
}

// spansTable has the numbers of a drawing over time.
func spansTable(name string, title lang.Text, spans []plan.CapacitySpan, series []draw.Series, r *plan.CapacityResult, y draw.Axis) *page.Grid {
	t := &page.Grid{Name: name, Table: table.Table{Title: title, Columns: []table.Column{{Head: axisOf(r).Label}}}}
	for _, s := range series {
		head := s.Name
		if head.IsZero() {
			head = y.Label
		}
		t.Columns = append(t.Columns, table.Column{Head: head})
	}
	for i := range spans {
		row := []table.Cell{table.Literal(lang.Short(axisAt(spans[i].From, r), false))}
		for _, s := range series {
			cell := table.Absent()
			for _, p := range s.Points {
				if p.Row == i+1 {
					cell = table.Literal(y.Format(p.Y))
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// hours reports whether the time is long enough to be counted in hours; else it is counted in minutes.
func hours(r *plan.CapacityResult) bool {
	const from = 3 * 3600
	return r.Demand.Seconds >= from
}

// axisOf is the axis of time.
func axisOf(r *plan.CapacityResult) draw.Axis {
	p := axisMinutes
	if hours(r) {
		p = axisHours
	}
	return draw.Axis{Label: p.Text(), Format: draw.Number}
}

// axisAt is an instant on it.
func axisAt(seconds float64, r *plan.CapacityResult) float64 {
	if hours(r) {
		return seconds / 3600
	}
	return seconds / 60
}
