package page

import (
	"cmp"
	"io"
	"slices"

	"llmsweep/report/curve"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// together draws several runs in the same drawings, a line for each. Rows that the audit calls impossible are left out.
func together(setups []curve.Setup, names []string) []Figure {
	var runs []*rundir.Run
	for i := range setups {
		runs = append(runs, setups[i].Run)
	}
	open := slices.ContainsFunc(runs, func(r *rundir.Run) bool { return newView(r).open })
	var all []Figure
	for _, q := range quantities(runs...) {
		for _, l := range q.lines {
			if l.key == "p90" {
				continue
			}
			if f, ok := togetherOne(q, l, setups, names, open); ok {
				all = append(all, f)
			}
		}
	}
	if f, ok := speed("speed", setups, shortNames(names)); ok {
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
		short = append(short, "#"+itoa(i+1))
	}
	return short
}

// togetherOne draws one quantity of all runs.
func togetherOne(q quantity, l line, setups []curve.Setup, names []string, open bool) (Figure, bool) {
	name := "all-" + q.name + "-" + l.key
	title := q.title
	if !l.name.IsZero() {
		title = title.Plus(draw.Same(" · ")).Plus(l.name)
	}
	t := &Table{Name: "t-" + name, Title: title, Columns: []Column{{Head: say(headRun), Left: true}, {Head: draw.Say(lang.HeadBenchmark), Left: true}, {}, {Head: q.axis.Label}, {Head: say(headVerdict), Left: true}}}
	panel := draw.Panel{Y: q.axis, Height: 210}
	short := shortNames(names)
	count := 0
	axis := (&view{open: open}).axis()
	t.Columns[2].Head = axis.Label
	for i := range setups {
		v := newView(setups[i].Run)
		v.open = open
		c := newPlotted("r"+itoa(i), draw.Same(short[i]), i)
		for _, r := range v.rows {
			if !r.Stage.Invalid.IsZero() || setups[i].Impossible(r.Stage) {
				continue
			}
			y, ok := c.add(v, r.Stage, l, len(t.Rows)+1)
			if !ok {
				continue
			}
			cell := duration(y)
			if q.metric == "" {
				cell = number(y, lang.Short)
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{plain(names[i]), plain(rowName(r.Stage)), number(rundir.Exactly(v.x(r.Stage)), lang.Short), cell, verdictCell(r.Stage)}})
		}
		c.on.Dashed = i >= draw.Colours // its colour is taken
		count += c.into(&panel)
	}
	if count == 0 {
		return Figure{}, false
	}
	fig := draw.Figure{Name: name, Title: title, X: axis, Panels: []draw.Panel{panel}, Right: 60}
	f := Figure{Name: name, Title: title, Note: leftOutNote(setups), Variants: variants(fig, q.logarith, wide(panel)), Table: t}
	for i := range setups {
		f.Switches = append(f.Switches, Switch{"r" + itoa(i), draw.Same(short[i]), i % draw.Colours})
	}
	return f, true
}

// numbered is the list of what the numbers at the lines stand for; nil where the lines have names.
func numbered(names []string) []Block {
	if len(names) == 0 || shortNames(names)[0] == names[0] {
		return nil
	}
	var keys []NameKey
	for i, s := range shortNames(names) {
		keys = append(keys, NameKey{s, names[i], i % draw.Colours})
	}
	return []Block{{Names: keys}}
}

// Input is a run of an index, and its directory.
type Input struct {
	Run  *rundir.Run
	Path string
}

// Index lists runs, for choosing some of them.
type Index struct {
	Filters []Filter
	Table   *Table
}

// Filter is a label by which runs can be chosen, and its values.
type Filter struct {
	Key    string
	Text   draw.Text
	Values []string
}

// label is a label of runs, a column of the index.
type label struct {
	key  string
	text draw.Text
	of   func(*rundir.Run) string
}

// Runs writes the index of many runs: a table that can be filtered, and drawings of those that are chosen.
func Runs(w io.Writer, all []Input, o Options) error {
	d := &Document{Title: say(titleIndex, len(all)), Data: map[string]any{"index": true}}
	index := &Index{Table: &Table{Name: "index", Title: say(titleIndexTable), Open: true}}
	index.Table.Columns = []Column{{Head: say(headRun), Left: true}}
	labels := []label{
		{"model", say(headModel), func(r *rundir.Run) string { return cmp.Or(r.Labels.Model, r.Target.Model) }},
		{"gpu", draw.Same("GPU"), func(r *rundir.Run) string { return stages.Hardware(r, lang.English, "") }},
		{"engine", say(headEngine), stages.EngineName},
		{"quant", say(headQuant), func(r *rundir.Run) string { return r.Labels.Quant }},
	}
	labels = slices.DeleteFunc(labels, func(l label) bool { // a column of nothing
		return !slices.ContainsFunc(all, func(in Input) bool { return l.of(in.Run) != "" })
	})
	of := func(l label, r *rundir.Run) string { return table.Clean(l.of(r)) } // a filter's values are those of the rows
	for _, l := range labels {
		index.Table.Columns = append(index.Table.Columns, Column{Head: l.text, Left: true})
		f := Filter{Key: l.key, Text: l.text}
		for _, in := range all {
			if v := of(l, in.Run); !slices.Contains(f.Values, v) {
				f.Values = append(f.Values, v)
			}
		}
		slices.Sort(f.Values)
		index.Filters = append(index.Filters, f)
	}
	index.Table.Columns = append(index.Table.Columns, Column{Head: say(headSaturation)}, Column{Head: say(headInterval)}, Column{Head: say(headOutput)})
	unanswered := slices.ContainsFunc(all, func(in Input) bool { return in.Run.Saturation == nil || in.Run.Saturation.Rate.IsZero() })
	if unanswered {
		index.Table.Columns = append(index.Table.Columns, Column{Head: say(headAnswer), Left: true})
	}
	var inputs []curve.Input
	var names []string
	for i, in := range all {
		inputs, names = append(inputs, curve.Input{Path: in.Path, Run: in.Run}), append(names, in.Path)
		row := Row{Attrs: []Attr{{"data-run", itoa(i)}}, Cells: []Cell{{Check: "r" + itoa(i), Text: draw.Same("#" + itoa(i+1) + " " + in.Path), Class: "strong"}}}
		for _, l := range labels {
			row.Cells = append(row.Cells, plain(of(l, in.Run)))
			row.Attrs = append(row.Attrs, Attr{"data-" + l.key, of(l, in.Run)})
		}
		rate, bounds, output := rundir.Number{}, plain(lang.Absent), rundir.Number{}
		if sat := in.Run.Saturation; sat != nil {
			rate, output = sat.Rate, sat.Output
			if sat.Low.Known() && sat.High.Known() {
				bounds = plain(lang.Short(sat.Low.Value(), false) + " – " + lang.Short(sat.High.Value(), false))
			}
		} else if best := newView(in.Run).best(); best != nil {
			output = best.TokensPerS.Output
		}
		row.Cells = append(row.Cells, number(rate, lang.Short), bounds, number(output, lang.Short))
		if unanswered {
			row.Cells = append(row.Cells, Cell{Text: newView(in.Run).sentence(), Class: "wrap"})
		}
		index.Table.Rows = append(index.Table.Rows, row)
	}
	d.Sections = []Section{
		{ID: "answer", Title: say(titleIndexTable), Blocks: []Block{{Index: index}}},
		{ID: "rates", Title: say(titleTogether), Blocks: []Block{{Figures: together(curve.Load(inputs), names)}}},
	}
	notes := Section{ID: "notes", Title: say(titleCareful)}
	for i, in := range all {
		if lines := sentences(func(l lang.Lang) []string { return findings.Warnings(in.Run, l) }); len(lines) > 0 {
			notes.Blocks = append(notes.Blocks, Block{Heading: draw.Same("#" + itoa(i+1) + " " + in.Path)}, Block{Lines: &Lines{Items: lines[:min(2, len(lines))], More: lines[min(2, len(lines)):], Class: "careful"}})
		}
	}
	if len(notes.Blocks) > 0 {
		d.Sections = append(d.Sections, notes)
	}
	return Write(w, d, o)
}
