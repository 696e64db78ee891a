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

// wanted are the terms of the SLO, as a reader writes them.
func wanted(o choose.Options) []string {
	var all []string
	for _, t := range o.Terms {
		all = append(all, t.String())
	}
	return all
}

// Choose writes the page of a choice. sections returns all that is said and tabled about it.
func Choose(
	w io.Writer,
	choices []choose.Choice,
	setups []setup.Setup,
	o choose.Options,
	sections []table.Section,
	po WriteOptions,
) error {
	d := &Document{Title: titleChoice.Text(o.Demand.Text()), Subtitle: lang.Same(strings.Join(wanted(o), ", "))}
	for i := range choices {
		own := ranked(&choices[i], setups)
		d.Sections = append(d.Sections, choiceSection(i, &choices[i], own, o))
		if len(own) > 0 {
			d.Sections = append(d.Sections, togetherSection(i, own, o.Prices, titleTogetherOf.Text(choices[i].Model)))
		}
	}
	d.Sections = append(d.Sections, FromSections("part", sections)...)
	return WriteHTML(w, d, po)
}

// ranked are the setups of a choice, those that meet the demand first and in their order, so that the numbers in
// drawings are ranks.
func ranked(c *choose.Choice, setups []setup.Setup) []setup.Setup {
	own := slices.DeleteFunc(slices.Clone(setups), func(s setup.Setup) bool { return setup.Model(s.Run) != c.Model })
	rank := func(s setup.Setup) int {
		at := slices.IndexFunc(c.Ranked, func(k choose.Candidate) bool { return k.Name == s.Name })
		if at < 0 {
			return len(c.Ranked)
		}
		return at
	}
	slices.SortStableFunc(own, func(a, b setup.Setup) int { return rank(a) - rank(b) })
	return own
}

// choiceSection is the choice among the setups of a model.
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
			return sentenceChoice.In(
				l,
				choose.Replicas(k.Replicas).In(l),
				k.SizeText().In(l),
				o.Demand.Text().In(l),
				strings.Join(c.SLO, ", "),
			)
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

// withCurrency prints an amount with its currency, where that is told.
func withCurrency(n rundir.Number, currency string) string {
	return strings.TrimSpace(lang.Number(n, lang.Short) + " " + currency)
}

// costFigure draws what each configuration costs per hour, or how many GPUs it takes, against the demand: steps, since
// a replica is whole.
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
	panel := draw.Panel{Y: draw.Axis{Label: label, Format: draw.Number}, Height: 220}
	t := &Grid{
		Name: "t-" + name,
		Table: table.Table{
			Title: title,
			Columns: []table.Column{
				{Head: headRun.Text(), Left: true},
				{Head: headUpTo.Text(o.Demand.UnitText())},
				{Head: headReplicas.Text()},
				{Head: label},
			},
		},
	}
	var labels []string
	names := namesOf(setups)
	called := distinct(names)
	short := lineNames(called) // the numbers are those of the other drawings of the page
	// places are those of what is drawn, which give its label and its colour in all drawings of the page.
	var places []int
	for i := range c.Ranked[:min(len(c.Ranked), most)] {
		at := slices.Index(names, c.Ranked[i].Name)
		places, labels = append(places, at), append(labels, short[at])
	}
	var missing []string
	for i := range setups {
		if !slices.Contains(places, i) {
			missing = append(missing, called[i])
		}
	}
	for i := range labels {
		k := &c.Ranked[i]
		line := draw.Series{
			Key:    "k" + strconv.Itoa(i),
			Name:   lang.Same(labels[i]),
			Colour: places[i],
			Style:  draw.Path,
			Dashed: places[i] >= draw.Colours,
		}
		if costSteps(&line, t, k, called[places[i]], c.Priced, o.Headroom, reach*o.Demand.Amount) {
			panel.Series = append(panel.Series, line)
		}
	}
	caption := against(label, axisDemand.Text(o.Demand.UnitText())).Plus(lang.Stop.Text())
	fig := draw.Figure{
		Name:    name,
		Title:   title,
		Caption: caption,
		X:       draw.Axis{Label: axisDemand.Text(o.Demand.UnitText()), Format: draw.Number},
		Panels:  []draw.Panel{panel},
	}
	fig.Marks = []draw.Mark{{Text: tagDemand.Text(o.Demand.Text()), At: o.Demand.Amount}}
	if e := c.BreakEven; e != nil {
		for _, at := range []rundir.Number{e.Below, e.Above} {
			if at.Known() && at.Value() < reach*o.Demand.Amount {
				fig.Marks = append(
					fig.Marks,
					draw.Mark{Text: tagEven.Text(lang.Short(at.Value(), false)), At: at.Value()},
				)
			}
		}
	}
	f := FigureBlock{
		Name:     name,
		Title:    title,
		Caption:  caption,
		Note:     noteCost.Text(),
		Variants: PlotVariants(fig, false, false),
		Table:    t,
	}
	if len(missing) > 0 {
		f.Note = f.Note.Plus(noteCostMissing.Text(strings.Join(missing, ", "), most))
	}
	for i, button := range buttonNames(called) {
		if button != called[i] { // the list of numbers stands below
			button += " " + called[i]
		}
		place := slices.Index(places, i)
		if place < 0 {
			continue
		}
		f.Switches = append(
			f.Switches,
			Switch{
				Key:    "k" + strconv.Itoa(place),
				Text:   lang.Same(button),
				Colour: i % draw.Colours,
				Dashed: i >= draw.Colours,
			},
		)
	}
	return f, true
}

// costSteps draws the costs of a configuration up to a demand, and lists the first in the table. It reports whether it
// serves any.
func costSteps(line *draw.Series, t *Grid, k *choose.Candidate, name string, priced bool, headroom, upTo float64) bool {
	const most, listed = 400, 12 // replicas
	supply := k.Carries / float64(k.Replicas) * (1 - headroom)
	if !(supply > 0) {
		return false
	}
	for n := 1; float64(n-1)*supply < upTo && n <= most; n++ {
		cost := float64(n * max(k.Labels.GPUs, 1))
		if priced {
			cost *= k.Price
		}
		end := min(float64(n)*supply, upTo)
		line.Points = append(line.Points, draw.Point{X: float64(n-1) * supply, Y: cost}, draw.Point{X: end, Y: cost})
		if n <= listed {
			t.Rows = append(
				t.Rows,
				[]table.Cell{
					table.Literal(name),
					table.Number(rundir.Exactly(float64(n)*supply), "", lang.Short),
					table.Literal(strconv.Itoa(n)),
					table.Number(rundir.Exactly(cost), "", lang.Short),
				},
			)
		}
	}
	return true
}
