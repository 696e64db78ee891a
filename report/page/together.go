package page

import (
	"slices"
	"strconv"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// mostLines is how many lines can be told apart where they cross.
const mostLines = 6

// plotTogether draws several runs in the same drawings, a line for each, or where apart is set in a small drawing for each. Rows that the audit calls
// impossible are left out. suffix ends the names of the drawings, which are unique in a page.
func plotTogether(suffix string, setups []setup.Setup, names []string, apart bool) []FigureBlock {
	var runs []*rundir.Run
	for i := range setups {
		runs = append(runs, setups[i].Run)
	}
	open := slices.ContainsFunc(runs, func(r *rundir.Run) bool { return NewView(r).Open })
	var all []FigureBlock
	for _, q := range quantities(runs...) {
		for _, l := range q.lines {
			if l.key == "p90" {
				continue
			}
			if f, ok := togetherOne(suffix, q, l, setups, names, open, apart); ok {
				all = append(all, f)
			}
		}
	}
	if f, ok := speedPlot("speed"+suffix, setups, shortNames(names)); ok {
		all = append(all, f)
	}
	return all
}

// shortNames are the numbers by which lines are labelled where the names would be too long to stand beside them.
func shortNames(names []string) []string {
	const longest = 14
	if !slices.ContainsFunc(names, func(s string) bool { return len([]rune(s)) > longest }) {
		return names
	}
	var short []string
	for i := range names {
		short = append(short, "#"+strconv.Itoa(i+1))
	}
	return short
}

// togetherOne draws one quantity of all runs.
func togetherOne(suffix string, q quantity, l line, setups []setup.Setup, names []string, open, apart bool) (FigureBlock, bool) {
	name := "all-" + q.name + "-" + l.key + suffix
	title := q.title
	if !l.name.IsZero() {
		title = title.Plus(lang.Same(" · ")).Plus(l.name)
	}
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{{Head: headRun.Text(), Left: true}, {Head: lang.HeadBenchmark.Text(), Left: true}, {}, {Head: q.axis.Label}, {Head: HeadVerdict.Text(), Left: true}}}}
	panel := draw.Panel{Y: q.axis, Height: 210}
	short := shortNames(names)
	axis := (&View{Open: open}).Axis()
	t.Columns[2].Head = axis.Label
	for i := range setups {
		v := NewView(setups[i].Run)
		v.Open = open
		c := newPlotted("r"+strconv.Itoa(i), lang.Same(short[i]), i)
		for _, r := range v.Rows {
			if !r.Stage.Invalid.IsZero() || setups[i].Impossible(r.Stage) {
				continue
			}
			y, ok := c.add(v, setups[i].Trusted(r.Stage), l, len(t.Rows)+1)
			if !ok {
				continue
			}
			cell := table.Seconds(y)
			if q.metric == "" {
				cell = table.Number(y, "", lang.Short)
			}
			t.Rows = append(t.Rows, []table.Cell{table.Literal(names[i]), table.Literal(findings.StageName(r.Stage)), table.Number(rundir.Exactly(v.X(r.Stage)), "", lang.Short), cell, findings.Verdict(r.Stage)})
		}
		c.on.Dashed = i >= draw.Colours // its colour is taken
		c.into(&panel)
	}
	if places(&panel) < 2 {
		return FigureBlock{}, false
	}
	fig := draw.Figure{Name: name, Title: title, X: axis, Panels: []draw.Panel{panel}, Right: 60}
	if apart {
		return FigureBlock{Name: name, Title: title, Note: noteSmall.Text().Plus(leftOutNote(setups)), Variants: []Variant{{Key: "lin", Small: smallPlots(fig, short, q.logarith), Drawn: &fig}}, Table: t}, true
	}
	f := FigureBlock{Name: name, Title: title, Note: leftOutNote(setups), Variants: PlotVariants(fig, q.logarith, wide(panel)), Table: t}
	for i := range setups {
		f.Switches = append(f.Switches, Switch{Key: "r" + strconv.Itoa(i), Text: lang.Same(short[i]), Colour: i % draw.Colours, Dashed: i >= draw.Colours})
	}
	return f, true
}

// smallPlots draws each run of a figure by itself, with the others pale behind it. The figure has two series for each run: its line, and the points apart
// from it.
func smallPlots(fig draw.Figure, names []string, logarithmic bool) []Small {
	const low = 120 // pixels
	var all []Small
	whole := fig.Panels[0]
	for i, name := range names {
		panel := whole
		panel.Height, panel.Series = low, nil
		panel.Y.Log = logarithmic && wide(whole)
		var own []draw.Series
		for k, s := range whole.Series {
			if k/2 == i {
				s.Name = lang.Text{}
				own = append(own, s)
			} else if s.Style != draw.Loose {
				s.Name, s.Style, s.Key = lang.Text{}, draw.Front, ""
				panel.Series = append(panel.Series, s)
			}
		}
		if len(own[0].Points)+len(own[1].Points) == 0 {
			continue
		}
		panel.Series = append(panel.Series, own...)
		one := fig
		one.Right, one.Panels = 0, []draw.Panel{panel}
		svg, _ := one.SVG("")
		all = append(all, Small{Title: table.Clean(name), SVG: markup(svg)})
	}
	return all
}

// numberedRuns is the list of what the numbers at the lines stand for; nil where the lines have names.
func numberedRuns(names []string) []Block {
	if len(names) == 0 || shortNames(names)[0] == names[0] {
		return nil
	}
	var keys []NameKey
	for i, s := range shortNames(names) {
		keys = append(keys, NameKey{Short: s, Name: table.Clean(names[i]), Line: markup(draw.LineKey(i))})
	}
	return []Block{{Names: keys}}
}
