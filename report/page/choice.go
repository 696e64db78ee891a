package page

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Choose writes the page of a choice. sections returns all that is said and tabled about it.
func Choose(w io.Writer, choices []choose.Choice, setups []setup.Setup, o choose.Options, sections []table.Section,
	po WriteOptions) error {
	var terms []string
	for _, t := range o.Terms {
		terms = append(terms, t.String())
	}
	d := &Document{Title: titleChoice.Text(o.Demand.Text()), Subtitle: lang.Same(strings.Join(terms, ", "))}
	for i := range choices {
		members := rankSetups(&choices[i], setups)
		d.Sections = append(d.Sections, choiceSection(i, &choices[i], members, o))
		if len(members) > 0 {
			d.Sections = append(d.Sections, overlaySection(i, members, o.Prices, titleTogetherOf.Text(choices[i].Model)))
		}
	}
	d.Sections = append(d.Sections, fromSections("part", sections)...)
	return writeHTML(w, d, po)
}

// rankSetups puts those that meet the demand first, in their order: the numbers in drawings are then ranks.
func rankSetups(c *choose.Choice, setups []setup.Setup) []setup.Setup {
	members := slices.DeleteFunc(slices.Clone(setups), func(s setup.Setup) bool { return setup.Model(s.Run) != c.Model })
	rank := func(s setup.Setup) int {
		at := slices.IndexFunc(c.Ranked, func(k choose.Candidate) bool { return k.Name == s.Name })
		if at < 0 {
			return len(c.Ranked)
		}
		return at
	}
	slices.SortStableFunc(members, func(a, b setup.Setup) int { return rank(a) - rank(b) })
	return members
}

func choiceSection(i int, c *choose.Choice, setups []setup.Setup, o choose.Options) Section {
	s := Section{ID: "choice-" + strconv.Itoa(i+1), Title: titleChosen.Text(c.Model)}
	if i == 0 {
		s.ID = "answer"
	}
	h := &Headline{
		Number:   lang.Absent,
		Unit:     unitNoChoice.Text(),
		Sentence: sentenceNoChoice.Text(o.Demand.Text(), strings.Join(c.SLO, ", ")),
	}
	if len(c.Ranked) > 0 {
		k := &c.Ranked[0]
		h.Name, h.Unit = table.Clean(k.Name), k.SizeText()
		if k.Hour.Known() {
			h.Unit = unitHour.Text(c.Money(k.Hour))
		}
		h.Sentence = lang.Both(func(l lang.Lang) string {
			return sentenceChoice.In(l, choose.Replicas(k.Replicas).In(l), k.SizeText().In(l), o.Demand.Text().In(l),
				strings.Join(c.SLO, ", "))
		})
		for _, also := range c.Remarks() {
			h.Sentence = h.Sentence.Plus(lang.Text{EN: " "}).Plus(also)
		}
		h.Add(withCurrency(k.MillionDemand, c.Currency), tileMillionDemand.Text(o.Demand.Text()), k.MillionDemand)
		h.Add(withCurrency(k.MillionSLO, c.Currency), tileMillion.Text(), k.MillionSLO)
		if len(c.Ranked) > 1 && c.Ranked[1].Hour.Known() {
			h.Add(c.Money(c.Ranked[1].Hour), tileSecond.Text(c.Ranked[1].Name), c.Ranked[1].Hour)
		}
	}
	s.Blocks = append(s.Blocks, Block{Headline: h})
	name := "cost-" + strconv.Itoa(i+1)
	if f, ok := costFigure(name, c, setups, o); ok {
		s.Blocks = append(s.Blocks, Block{Figures: []FigureBlock{f}})
	}
	return s
}

func withCurrency(n rundir.Number, currency string) string {
	return strings.TrimSpace(lang.Number(n, lang.Short) + " " + currency)
}

// costFigure draws steps, since a replica is whole.
func costFigure(name string, c *choose.Choice, setups []setup.Setup, o choose.Options) (FigureBlock, bool) {
	const reach, most = 2.5, 8 // times the demand; configurations
	if len(c.Ranked) == 0 {
		return FigureBlock{}, false
	}
	label := axisGPUs.Text()
	switch {
	case !c.Counted:
		label = headReplicas.Text()
	case c.Priced:
		label = axisHour.Text()
	}
	title := titleCost.Text()
	plot := costPlot{
		panel: draw.Panel{Y: draw.Axis{Label: label, Format: draw.Number}, Height: 220},
		table: &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{
			{Head: headRun.Text(), Left: true}, {Head: headUpTo.Text(o.Demand.UnitText())}, {Head: headReplicas.Text()},
			{Head: label},
		}}},
		priced: c.Priced, headroom: o.Headroom, demand: reach * o.Demand.Amount,
	}
	names := setupNames(setups)
	parts := distinctParts(names)
	short := lineNames(parts)
	var places []int
	for i := range c.Ranked[:min(len(c.Ranked), most)] {
		k := &c.Ranked[i]
		place := slices.Index(names, k.Name) // gives it the label and the colour of the other drawings
		places = append(places, place)
		line := draw.Series{Key: "k" + strconv.Itoa(i), Name: lang.Same(short[place]), Colour: place, Style: draw.Path,
			Dashed: place >= draw.Colours}
		plot.add(line, k, parts[place])
	}
	var missing []string
	for i := range setups {
		if !slices.Contains(places, i) {
			missing = append(missing, parts[i])
		}
	}
	axis := draw.Axis{Label: axisDemand.Text(o.Demand.UnitText()), Format: draw.Number}
	fig := draw.Figure{
		Name:    name,
		Title:   title,
		Caption: axesCaption(label, axis.Label),
		X:       axis,
		Panels:  []draw.Panel{plot.panel},
		Marks:   []draw.Mark{{Text: tagDemand.Text(o.Demand.Text()), At: o.Demand.Amount}},
	}
	if e := c.BreakEven; e != nil {
		for _, at := range []rundir.Number{e.Below, e.Above} {
			if at.Known() && at.Value() < plot.demand {
				fig.Marks = append(fig.Marks, draw.Mark{Text: tagEven.Text(lang.Short(at.Value(), false)), At: at.Value()})
			}
		}
	}
	f := newFigureBlock(&fig, plotVariants(fig, false)...)
	f.Note, f.Table = noteCost.Text(), plot.table
	if len(missing) > 0 {
		f.Note = f.Note.Plus(noteCostMissing.Text(strings.Join(missing, ", "), most))
	}
	for i, button := range buttonNames(parts) {
		if button != parts[i] { // it is a number, and needs its name
			button += " " + parts[i]
		}
		if place := slices.Index(places, i); place >= 0 {
			f.Switches = append(f.Switches, newSwitch("k"+strconv.Itoa(place), button, i))
		}
	}
	return f, true
}

type costPlot struct {
	panel    draw.Panel
	table    *Grid
	priced   bool    // else a cost is a number of GPUs
	headroom float64 // share of the capacity that is left free
	demand   float64 // the highest
}

func (p *costPlot) add(line draw.Series, k *choose.Candidate, name string) {
	const most, listed = 400, 12 // replicas
	supply := k.Carries / float64(k.Replicas) * (1 - p.headroom)
	if !(supply > 0) {
		return
	}
	for n := 1; float64(n-1)*supply < p.demand && n <= most; n++ {
		cost := float64(n * max(k.Labels.GPUs, 1))
		if p.priced {
			cost *= k.Price
		}
		end := min(float64(n)*supply, p.demand)
		line.Points = append(line.Points, draw.Point{X: float64(n-1) * supply, Y: cost}, draw.Point{X: end, Y: cost})
		if n <= listed {
			p.table.Add(table.Literal(name), table.Number(rundir.Exactly(float64(n)*supply), "", lang.Short),
				table.Literal(strconv.Itoa(n)), table.Number(rundir.Exactly(cost), "", lang.Short))
		}
	}
	p.panel.Series = append(p.panel.Series, line)
}
