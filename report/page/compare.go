package page

import (
	"io"
	"slices"
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Compare writes the page of a comparison of results. sections returns all that is said and tabled about it.
func Compare(w io.Writer, c *compare.Comparison, setups []setup.Setup, sections []table.Section, o WriteOptions) error {
	return writeHTML(w, comparisonDocument(c, setups, sections), o)
}

func comparisonDocument(c *compare.Comparison, setups []setup.Setup, sections []table.Section) *Document {
	d := &Document{Title: titleComparison.Text(len(setups)), Subtitle: lang.Same(c.Workload)}
	answer := Section{ID: "answer", Title: titleAnswer.Text()}
	parts := slices.Clone(sections)
	if c.OfTwo() { // the table is the answer
		answer.Blocks, parts = fromSections(answer.ID, parts[:1])[0].Blocks, parts[1:]
	} else {
		answer.Blocks = conclusionBlocks(c)
		parts[0].Lines = nil // the answer has them
	}
	var forests []FigureBlock
	for i, m := range c.Setups {
		all := c.Differences(m.Name)
		hasInterval := func(d compare.Difference) bool { return d.Shown != nil }
		if slices.ContainsFunc(all, hasInterval) { // else the table has all that is known
			forests = append(forests, forest("forest-"+strconv.Itoa(i), titleForest.Text(m.Name, all[0].From), all))
		}
	}
	if len(forests) > 0 {
		answer.Blocks = append(answer.Blocks, Block{Figures: forests})
	}
	d.Sections = append(d.Sections, answer)
	if models := groupByModel(setups); len(setups) > draw.Colours && len(models) > 1 { // more lines than can be told apart
		for i, group := range models {
			d.Sections = append(d.Sections, overlaySection(i, group, nil, titleTogetherOf.Text(setup.Model(group[0].Run))))
		}
	} else {
		d.Sections = append(d.Sections, overlaySection(0, setups, nil, titleTogether.Text()))
	}
	d.Sections = append(d.Sections, fromSections("part", parts)...)
	return d
}

func conclusionBlocks(c *compare.Comparison) (all []Block) {
	conclusions := c.Answer()
	if len(conclusions) == 0 {
		conclusions = []lang.Text{comparedWith.Text(c.Setups[0].Name)}
	}
	if cautions := c.Cautions(); len(cautions) > 0 {
		all = append(all, Block{Lines: &Lines{Items: cautions, Class: "careful"}})
	}
	return append(all, Block{Lines: &Lines{Items: conclusions, Whole: true}})
}

// Sections writes a page of sections that console and Markdown are made of.
func Sections(w io.Writer, title string, sections []table.Section, o WriteOptions) error {
	return writeHTML(w, &Document{Title: lang.Same(title), Sections: fromSections("part", sections)}, o)
}

func forest(name string, title lang.Text, all []compare.Difference) FigureBlock {
	t := &Grid{
		Name: "t-" + name,
		Table: table.Table{
			Title: title,
			Columns: []table.Column{
				{Head: headMetric.Text(), Left: true},
				{Head: axisDifference.Text()},
				{Head: headMeans.Text(), Left: true},
			},
		},
	}
	var bars []draw.Bar
	label, intervals := axisDifference.Text(), false
	var key []Marker
	for i, d := range all {
		low, high := d.Low, d.High
		if d.Bound != "" { // then they are no interval
			low, high = rundir.Number{}, rundir.Number{}
		}
		b := draw.Bar{
			Name: d.Name(), Value: lang.Same(d.String()), At: d.Ratio.Value(), Low: low.Value(), High: high.Value(),
			Row: i + 1, Colour: draw.Ink, Shape: draw.Ring,
		}
		meaning := meansNothing.Text()
		switch {
		case d.Shown == nil:
			meaning, b.Shape = meansUnknown.Text(), draw.Square
		case *d.Shown && d.Better():
			meaning, b.Shape = compare.WordBetter.Text(), draw.Circle
		case *d.Shown:
			meaning, b.Shape = compare.WordWorse.Text(), draw.Triangle
		}
		bars, intervals = append(bars, b), intervals || d.Shown != nil
		if m := (Marker{b.Shape, meaning}); !slices.Contains(key, m) {
			key = append(key, m)
		}
		t.Rows = append(t.Rows, []table.Cell{{Text: b.Name}, table.Literal(d.String()), {Text: meaning}})
	}
	if intervals {
		label = label.Plus(axisInterval.Text())
	}
	return FigureBlock{
		Name:     name,
		Title:    title,
		Key:      key,
		Variants: []Variant{{Key: "lin", SVG: markup(draw.Forest(name, label, bars))}},
		Table:    t,
	}
}

// overlaySection is the i-th group of a page. Where curves are too many, each has a drawing of its own.
func overlaySection(i int, setups []setup.Setup, prices choose.Prices, title lang.Text) Section {
	s, suffix := Section{ID: "rates", Title: title, Markers: markersOf(setups)}, ""
	if i > 0 {
		suffix = "-" + strconv.Itoa(i+1)
	}
	s.ID += suffix
	names := distinctParts(setupNames(setups))
	s.Blocks = numberedRuns(names)
	if f, ok := costOfSpeed("cost-speed"+suffix, setups, names, prices); ok {
		s.Blocks = append(s.Blocks, Block{Figures: []FigureBlock{f}})
	}
	t := newOverlay(setups, names, suffix)
	t.split = len(setups) > maxLines
	s.Blocks = append(s.Blocks, Block{Figures: t.figures()})
	return s
}

func groupByModel(setups []setup.Setup) [][]setup.Setup {
	var groups [][]setup.Setup
	for i := range setups {
		at := slices.IndexFunc(groups,
			func(g []setup.Setup) bool { return setup.Model(g[0].Run) == setup.Model(setups[i].Run) })
		if at < 0 {
			at, groups = len(groups), append(groups, nil)
		}
		groups[at] = append(groups[at], setups[i])
	}
	return groups
}

func setupNames(setups []setup.Setup) []string {
	var names []string
	for i := range setups {
		names = append(names, setups[i].Name)
	}
	return names
}
