package page

import (
	"io"
	"slices"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/compare/paired"
	"llmsweep/report/curve"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Compare writes the page of a comparison of results. sections returns all that is said and tabled about it.
func Compare(w io.Writer, c *compare.Comparison, setups []curve.Setup, sections func(lang.Lang) []table.Section, o Options) error {
	return Write(w, ofComparison(c, setups, sections), o)
}

func ofComparison(c *compare.Comparison, setups []curve.Setup, sections func(lang.Lang) []table.Section) *Document {
	d := &Document{Title: say(titleComparison, len(setups)), Subtitle: draw.Same(c.Workload)}
	answer := Section{ID: "answer", Title: say(titleAnswer)}
	conclusions := sentences(func(l lang.Lang) []string {
		var all []string
		for i := range c.Factors {
			all = append(all, c.Factors[i].Conclusion(l))
		}
		return all
	})
	if len(conclusions) == 0 {
		conclusions = []draw.Text{say(comparedWith, c.Setups[0].Name)}
	}
	answer.Blocks = append(answer.Blocks, Block{Lines: &Lines{Items: conclusions, Whole: true}})
	var forests []Figure
	for i, m := range c.Setups[1:] {
		if all := c.Differences(m.Name); len(all) > 0 {
			forests = append(forests, forest("forest-"+itoa(i+1), say(titleForest, m.Name, c.Setups[0].Name), all))
		}
	}
	if len(forests) > 0 {
		answer.Blocks = append(answer.Blocks, Block{Figures: forests})
	}
	d.Sections = append(d.Sections, answer)
	d.Sections = append(d.Sections, Section{ID: "rates", Title: say(titleTogether), Blocks: setupsTogether(setups)})
	d.Sections = append(d.Sections, fromSections("part", sections)...)
	return d
}

// Pair writes the page of two servers that were compared in turns.
func Pair(w io.Writer, v *paired.Comparison, runs [2]*rundir.Run, o Options) error {
	d := &Document{Title: say(titlePair), Subtitle: draw.Same("A = " + v.Servers[0] + " · B = " + v.Servers[1])}
	answer := Section{ID: "answer", Title: say(titleAnswer)}
	if v.State == rundir.Running { // an interval that is looked at before the end excludes 0 by chance more often than it says
		answer.Blocks = []Block{{Lines: &Lines{Items: []draw.Text{say(interim, v.Blocks)}, Class: "careful"}}}
	} else {
		answer.Blocks = []Block{{Lines: &Lines{Items: sentences(v.Conclusion), Whole: true}}}
	}
	if all := v.Differences(); len(all) > 0 {
		answer.Blocks = append(answer.Blocks, Block{Figures: []Figure{forest("forest-1", say(titleForest, "B", "A"), all)}})
	}
	d.Sections = append(d.Sections, answer)
	d.Sections = append(d.Sections, fromSections("part", func(l lang.Lang) []table.Section {
		all := v.Sections(l, 1)
		if v.State == rundir.Running { // the tables without the conclusion, once there are rows
			all = slices.DeleteFunc(all, func(s table.Section) bool { return len(s.Table.Rows) == 0 })
		}
		return all
	})...)
	for i, run := range runs {
		r := newView(run)
		client, env := r.client(), r.environment()
		for _, s := range []*Section{&client, &env} {
			s.ID += "-" + rundir.Sides()[i]
			s.Title = draw.Same(string(rune('A'+i)) + ": ").Plus(s.Title)
			for _, b := range s.Blocks {
				if b.Table != nil {
					b.Table.Name += "-" + rundir.Sides()[i]
				}
			}
		}
		d.Sections = append(d.Sections, client, env)
	}
	return Write(w, d, o)
}

// Sections writes a page of sections that console and Markdown are made of.
func Sections(w io.Writer, title string, sections func(lang.Lang) []table.Section, o Options) error {
	return Write(w, &Document{Title: draw.Same(title), Sections: fromSections("part", sections)}, o)
}

// forest draws differences with their intervals.
func forest(name string, title draw.Text, all []compare.Difference) Figure {
	t := &Table{Name: "t-" + name, Title: title, Columns: []Column{{Head: say(headMetric), Left: true}, {Head: say(headDifference)}, {Head: say(headMeaning), Left: true}}}
	var bars []draw.Bar
	label, legend := say(axisDifference), map[draw.Shape]lang.Phrase{draw.Circle: legendBetter, draw.Triangle: legendWorse, draw.Ring: legendNothing, draw.Square: legendUnknown}
	occurs, intervals, alone := map[draw.Shape]bool{}, false, false
	for i, d := range all {
		b := draw.Bar{
			Name: draw.Text{EN: d.Name[lang.English], ZH: d.Name[lang.Chinese]}, Value: draw.Same(d.Text), At: d.Ratio.Value(), Low: d.Low.Value(), High: d.High.Value(),
			Row: i + 1, Colour: 6, Shape: draw.Ring,
		}
		meaning := say(meansNothing)
		switch {
		case d.Alone:
			meaning, alone = say(meansAlone), true
		case d.Low.IsZero():
			meaning, b.Shape = say(meansUnknown), draw.Square
		case d.Shown && (d.Ratio.Value() > 0) == d.Better:
			meaning, b.Colour, b.Shape = say(meansBetter), 2, draw.Circle
		case d.Shown:
			meaning, b.Colour, b.Shape = say(meansWorse), 1, draw.Triangle
		}
		bars, occurs[b.Shape], intervals = append(bars, b), true, intervals || !d.Low.IsZero()
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: b.Name}, plain(d.Text), {Text: meaning}}})
	}
	var note draw.Text
	add := func(p lang.Phrase) {
		if !note.IsZero() {
			note = note.Plus(draw.Text{EN: " "})
		}
		note = note.Plus(say(p))
	}
	for _, s := range []draw.Shape{draw.Circle, draw.Triangle, draw.Ring, draw.Square} {
		if occurs[s] {
			add(legend[s])
		}
	}
	if alone {
		add(legendAlone)
	}
	if intervals {
		label = label.Plus(say(axisInterval))
		add(legendBar)
	}
	svg := draw.Forest(name, label, bars)
	return Figure{Name: name, Title: title, Note: note, Variants: []Variant{{Key: "lin", SVG: markup(svg)}}, Table: t}
}

// setupsTogether draws the curves of configurations.
func setupsTogether(setups []curve.Setup) []Block {
	return append(numbered(namesOf(setups)), Block{Figures: together(setups, namesOf(setups))})
}

// namesOf are the names of configurations.
func namesOf(setups []curve.Setup) []string {
	var names []string
	for i := range setups {
		names = append(names, setups[i].Name)
	}
	return names
}

// wanted are the terms of the SLO, as a reader writes them.
func wanted(o choose.Options) []string {
	var all []string
	for _, t := range o.Terms {
		all = append(all, t.String())
	}
	return all
}

// Choose writes the page of a choice. sections returns all that is said and tabled about it.
func Choose(w io.Writer, choices []choose.Choice, setups []curve.Setup, o choose.Options, sections func(lang.Lang) []table.Section, po Options) error {
	d := &Document{Title: say(titleChoice, o.Demand), Subtitle: draw.Same(strings.Join(wanted(o), ", ")), Data: map[string]any{}}
	for i := range choices {
		d.Sections = append(d.Sections, choiceSection(i, &choices[i], setups, o, d.Data))
	}
	d.Sections = append(d.Sections, Section{ID: "rates", Title: say(titleTogether), Blocks: setupsTogether(setups)})
	d.Sections = append(d.Sections, fromSections("part", sections)...)
	return Write(w, d, po)
}
