package page

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

const maxLines = 6 // that can be told apart where they cross

// overlay draws several runs, a line for each. Rows that the audit calls impossible are left out.
type overlay struct {
	setups []setup.Setup
	names  []string
	open   bool   // some run has arrival rates
	suffix string // ends the names of the drawings, which are unique in a page
	split  bool   // each has a small drawing of its own
}

func newOverlay(setups []setup.Setup, names []string, suffix string) overlay {
	open := slices.ContainsFunc(setups, func(s setup.Setup) bool { return newView(s.Run).Open })
	return overlay{setups: setups, names: names, open: open, suffix: suffix}
}

func (t overlay) figures() []FigureBlock {
	var runs []*rundir.Run
	for i := range t.setups {
		runs = append(runs, t.setups[i].Run)
	}
	var all []FigureBlock
	for _, q := range quantities(runs...) {
		for _, l := range q.lines {
			if l.key == "p90" {
				continue
			}
			if f, ok := t.figure(q, l); ok {
				all = append(all, f)
			}
		}
	}
	if f, ok := t.speed(); ok {
		all = append(all, f)
	}
	return all
}

func (t overlay) speed() (FigureBlock, bool) {
	return speedPlot("speed"+t.suffix, t.setups, lineNames(t.names))
}

// distinctParts are the parts in which names differ: model, GPUs, engine, quantization. A name without any stays whole.
func distinctParts(names []string) []string {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ReplaceAll(s, ", ", "，"), func(r rune) bool { return r == '，' })
	}
	in := map[string]int{} // how many names have a part
	base := ""             // of the first parts: a model without its quantization
	for i, name := range names {
		parts := split(name)
		for _, p := range parts {
			in[p]++
		}
		if len(parts) > 0 && (i == 0 || strings.HasPrefix(base, parts[0])) {
			base = parts[0]
		}
	}
	for _, name := range names {
		if !strings.HasPrefix(name, base) {
			base = ""
		}
	}
	var all []string
	for _, name := range names {
		parts := split(name)
		if len(parts) > 0 && len(names) > 1 {
			parts[0] = strings.TrimLeft(strings.TrimPrefix(parts[0], base), "- ")
		}
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" || in[p] == len(names) && len(names) > 1 })
		if len(parts) == 0 {
			parts = []string{name}
		}
		all = append(all, strings.Join(parts, ", "))
	}
	return all
}

// shortNames are numbers where the names would be too long to stand beside lines.
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

// lineNames is empty for a line alone, which needs no label.
func lineNames(names []string) []string {
	if len(names) == 1 {
		return []string{""}
	}
	return shortNames(names)
}

func buttonNames(names []string) []string {
	if len(names) < 2 {
		return nil
	}
	return shortNames(names)
}

func (t overlay) figure(q quantity, l quantityLine) (FigureBlock, bool) {
	name := "all-" + q.name + "-" + l.key + t.suffix
	title := q.title
	if !l.name.IsZero() {
		title = title.Plus(lang.Same(" · ")).Plus(l.name)
	}
	axis := (&view{Run: t.setups[0].Run, Open: t.open}).axis()
	grid := &Grid{
		Name: "t-" + name,
		Table: table.Table{
			Title: title,
			Columns: []table.Column{
				{Head: headRun.Text(), Left: true},
				{Head: lang.HeadLoad.Text(), Left: true},
				{Head: axis.Label},
				{Head: q.axis.Label},
				{Head: headVerdict.Text(), Left: true},
			},
		},
	}
	panel := draw.Panel{Y: q.axis, Height: 210}
	short := lineNames(t.names)
	for i := range t.setups {
		v := newView(t.setups[i].Run)
		v.Open = t.open
		c := newLineSeries("r"+strconv.Itoa(i), lang.Same(short[i]), i)
		for _, r := range v.Rows {
			if !r.Stage.Invalid.IsZero() || t.setups[i].Impossible(r.Stage) {
				continue
			}
			y, ok := c.add(v, audit.DropDoubted(r.Stage), l, len(grid.Rows)+1, filepath.Base(t.setups[i].Where(r.Stage)))
			if !ok {
				continue
			}
			cell := table.Seconds(y)
			if q.metric == "" {
				cell = table.Number(y, "", lang.Short)
			}
			grid.Add(table.Literal(t.names[i]), table.Literal(findings.StageName(r.Stage)),
				table.Number(rundir.Exactly(v.x(r.Stage)), "", lang.Short), cell, findings.VerdictCell(r))
		}
		c.joined.Dashed = i >= draw.Colours // colours repeat
		c.addTo(&panel)
	}
	if countX(&panel) < 2 {
		return FigureBlock{}, false
	}
	q.lines = []quantityLine{l}
	fig := draw.Figure{
		Name:    name,
		Title:   title,
		Caption: axesCaption(q.axisText(), axis.Label),
		X:       axis,
		Panels:  []draw.Panel{panel},
		Right:   60,
	}
	if t.split {
		f := newFigureBlock(&fig, Variant{Key: "lin", Small: thumbnails(fig, t.names, q.logAxis), Drawn: &fig})
		f.Note, f.Table = noteSmall.Text().Plus(impossibleNote(t.setups)), grid
		return f, true
	}
	f := newFigureBlock(&fig, plotVariants(fig, q.logAxis)...)
	f.Note, f.Table = impossibleNote(t.setups), grid
	for i, label := range buttonNames(t.names) {
		f.Switches = append(f.Switches, newSwitch("r"+strconv.Itoa(i), label, i))
	}
	return f, true
}

// thumbnails draws each run of a figure by itself, with the others pale behind it. The figure has two series for each
// run: its line, and the points apart from it.
func thumbnails(fig draw.Figure, names []string, logarithmic bool) []Thumbnail {
	const low = 120 // pixels
	var all []Thumbnail
	fig.Panels = slices.Clone(fig.Panels)
	fig.FixAxes()
	whole := fig.Panels[0]
	for i, name := range names {
		panel := whole
		panel.Height, panel.Series = low, nil
		panel.Y.Log = logarithmic && spansDecade(whole)
		var own []draw.Series
		for k, s := range whole.Series {
			if k/2 == i {
				s.Name = lang.Text{}
				own = append(own, s)
			} else if s.Style != draw.MarkersOnly {
				s.Name, s.Style, s.Key = lang.Text{}, draw.Front, ""
				panel.Series = append(panel.Series, s)
			}
		}
		if len(own[0].Points)+len(own[1].Points) == 0 {
			continue
		}
		panel.Series = append(panel.Series, own...)
		small := fig
		small.Right, small.Panels = 0, []draw.Panel{panel}
		svg, _ := small.SVG()
		all = append(all, Thumbnail{Title: table.Clean(name), SVG: markup(svg)})
	}
	return all
}

func numberedRuns(names []string) []Block {
	short := shortNames(names)
	if len(names) < 2 || slices.Equal(short, names) {
		return nil
	}
	var keys []NameKey
	for i, s := range short {
		keys = append(keys, NameKey{Short: s, Name: table.Clean(names[i]), Line: markup(draw.LineKey(i))})
	}
	return []Block{{Names: keys}}
}
