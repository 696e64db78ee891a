package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Marks on cells, explained beneath the tables.
const (
	markRising       = "+"
	markDisagreement = "?"

	// MarkDoubted marks what rests on figures that the audit doubts.
	MarkDoubted      = "!"
	markNoDifference = "~"
)

// OfTwo reports whether the comparison is one of two results, of which one table tells all that is compared.
func (c *Comparison) OfTwo() bool { return len(c.Setups) == 2 }

// Report returns the comparison as sections, with its answer. That of two results is one table to quote, which says
// what the sentences and tables of several would.
func (c *Comparison) Report(level int) []table.Section {
	if !c.OfTwo() {
		all := c.Sections(level)
		all[0].Lines = c.Answer()
		return all
	}
	g := c.groups[0]
	all := []table.Section{c.twoSection(g, level)}
	if s := c.tailSection(g, level+1); len(s.Table.Rows) > 0 {
		all = append(all, s)
	}
	return append(all, c.factorSections(level)...)
}

// Sections returns the comparison as sections of a report, without its [Comparison.Answer]. Level is the level of its
// headings in Markdown.
func (c *Comparison) Sections(level int) []table.Section {
	var all []table.Section
	for _, g := range c.groups {
		s := table.Section{Title: titleCompare.Text(), Level: level, Table: c.table(g)}
		if g.run != nil {
			s.Title = titleCompared.Text(lang.Both(func(l lang.Lang) string { return workload(g.run, l) }))
		}
		s.Notes, s.Details = c.legend(g)
		all = append(all, s)
		if t := c.differenceTable(g); len(t.Columns) > 1 {
			all = append(all, table.Section{Title: titleChanges.Text(c.Setups[g.members[0]].Name), Level: level + 1, Table: t,
				Notes: c.differenceLegend(g, true)})
		}
		if s := c.tailSection(g, level+1); len(s.Table.Rows) > 0 {
			all = append(all, s)
		}
	}
	if lines := c.conclusions(); len(lines) > maxLines {
		all = append(all, table.Section{Title: titleMore.Text(), Level: level + 1, Lines: lines[maxLines:], Rest: true})
	}
	return append(all, c.factorSections(level)...)
}

func (c *Comparison) factorSections(level int) (all []table.Section) {
	explained := false
	for i := range c.Factors {
		f := &c.Factors[i]
		if t := f.stepTable(); len(t.Rows) > 0 {
			all = append(all, table.Section{Title: titleScaling.Text(f.equal), Level: level + 1, Table: t, Rest: true})
		}
		if t := f.levelTable(); len(t.Rows) > 0 {
			s := table.Section{Title: titleLevels.Text(f.equal), Level: level + 1, Table: t, Rest: true}
			if !explained {
				s.Notes, explained = []lang.Text{legendLevels.Text()}, true
			}
			all = append(all, s)
		}
	}
	return append(all, Doubts(c.LeftOut, c.Marked, level+1)...)
}

// known are the metrics of which some configuration of a group has a figure.
func (c *Comparison) known(g group, is func(m *Configuration, key string) bool) []metric {
	return slices.DeleteFunc(slices.Clone(metrics), func(m metric) bool {
		return !slices.ContainsFunc(g.members, func(i int) bool { return is(&c.Setups[i], m.key) })
	})
}

func (c *Comparison) table(g group) table.Table {
	shown := c.known(g, func(m *Configuration, key string) bool { return m.figure(key).known() })
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}}}
	for _, m := range shown {
		t.Columns = append(t.Columns, m.head())
	}
	t.Columns = append(t.Columns, table.Column{Head: headRests.Text(), Left: true, Drop: 1})
	for _, i := range g.members {
		m := &c.Setups[i]
		row := []table.Cell{{Text: lang.Same(m.Name), Tone: table.Strong}}
		for _, of := range shown {
			row = append(row, m.figure(of.key).cell(of.print))
		}
		t.Rows = append(t.Rows, append(row, table.Literal(cmp.Or(m.figure(keyOutput).Where, m.Origin))))
	}
	return t
}

// differenceTable returns the differences from the first setup of a group, without shares that are 0 on both sides. It
// has no columns where more than two setups have several models: their differences from one of them tell nothing.
func (c *Comparison) differenceTable(g group) table.Table {
	if len(g.members) > 2 && len(c.models(g)) > 1 {
		return table.Table{}
	}
	shown := c.known(g, func(m *Configuration, key string) bool {
		d := c.difference(m.Name, key)
		return !d.IsZero() && (!isShare(key) || d.Ratio.Value() != 0 || d.Shown != nil)
	})
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}}}
	for _, m := range shown {
		t.Columns = append(t.Columns, m.Column) // in per cent
	}
	for _, i := range g.members[1:] {
		row := []table.Cell{{Text: lang.Same(c.Setups[i].Name), Tone: table.Strong}}
		for _, m := range shown {
			row = append(row, c.difference(c.Setups[i].Name, m.key).cell())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func arrow(before, after lang.Text) lang.Text { return before.Plus(lang.Same(" -> ")).Plus(after) }

// stepTable has a row for each pair and load at which something is known of the speed-up by more GPUs.
func (f *Factor) stepTable() table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headGPUs.Text(), Left: true}, {Head: headLoad.Text(), Left: true},
		{Head: lang.HeadOutput.Text(), Sub: lang.Same("tok/s")},
		{Head: headSpeedUp.Text()}, {Head: headEfficiency.Text()}, {Head: lang.Same("ITL")}, {Head: lang.Same("TTFT")},
		{Head: headRests.Text(), Left: true, Drop: 1},
	}}
	if f.What != ByGPUs {
		return table.Table{}
	}
	for i := range f.Pairs {
		p := &f.Pairs[i]
		from, to := p.a.Labels.GPUs, p.b.Labels.GPUs
		times := func(key string) table.Cell {
			a, b := p.a.figure(key), p.b.figure(key)
			if !a.known() && !b.known() {
				return table.None()
			}
			return table.Cell{Text: arrow(table.Seconds(a.Value).Whole(), table.Seconds(b.Value).Whole())}
		}
		for _, d := range p.Changes {
			_, at, _ := strings.Cut(d.Key, "@")
			name := atShare.Text(at)
			switch at {
			case "":
				name = headSaturation.Text()
			case "sync":
				name = subAlone.Text()
			}
			efficiency := table.Absent()
			if d.Bound == "" {
				share := (1 + d.Ratio.Value()) * float64(from) / float64(to)
				efficiency = table.Cell{Text: lang.Same(fmt.Sprintf("%.0f", 100*share)), Unit: "%"}
			}
			t.Rows = append(t.Rows, []table.Cell{
				{Text: gpuSteps.Text(from, to)}, {Text: name},
				{Text: arrow(d.before.cell(fixed(2)).Whole(), d.after.cell(fixed(2)).Whole())},
				table.Literal(d.factor()), efficiency, times("itl@" + at), times("ttft@" + at),
				table.Literal(d.before.Where + " | " + d.after.Where),
			})
		}
	}
	return t
}

// Doubts returns a section of the rows that are not used, wholly or in part, or that the audit doubts; none where there
// are none.
func Doubts(leftOut, marked []setup.RowMark, level int) []table.Section {
	if len(leftOut)+len(marked) == 0 {
		return nil
	}
	t := table.Table{Columns: []table.Column{
		{Head: headSetup.Text(), Left: true}, {Head: headRow.Text(), Left: true}, {Head: headWhere.Text(), Left: true},
		{Head: headNotUsed.Text(), Left: true}, {Head: headWhy.Text(), Left: true},
	}}
	for i, o := range slices.Concat(leftOut, marked) {
		unused := lang.Same("-")
		if i < len(leftOut) {
			unused = wordWholeRow.Text()
		} else if o.Figures {
			unused = lang.Both(o.UnusedFigures)
		}
		t.Rows = append(t.Rows, []table.Cell{table.Literal(o.Setup), table.Literal(o.Row), table.Literal(o.Where),
			{Text: unused}, {Text: lang.Both(o.Reason)}})
	}
	s := table.Section{Title: titleDoubts.Text(), Level: level, Table: t, Rest: true, Rows: true}
	if setup.LimitedByClient(leftOut) {
		s.Notes = append(s.Notes, findings.ClientRemedy.Text())
	}
	return []table.Section{s}
}

// Cautions returns what a reader must know before any difference: that models or hit rates differ.
func (c *Comparison) Cautions() []lang.Text {
	var all []lang.Text
	for _, g := range c.groups {
		all = append(all, c.cautions(g)...)
	}
	return append(all, c.hitNotes...)
}

func (c *Comparison) models(g group) (models []string) {
	for _, i := range g.members {
		if m := c.Setups[i].Labels.Model; m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	return models
}

// cautions says that the models of two differ. Of many, only those of one model are compared.
func (c *Comparison) cautions(g group) []lang.Text {
	models := c.models(g)
	if len(models) < 2 || len(g.members) > 2 {
		return nil
	}
	return []lang.Text{sayModels.Text(lang.ListComma.Join(models))}
}

// when is a line that is told where it holds.
type when struct {
	holds bool
	text  lang.Text
}

func told(lines ...when) (all []lang.Text) {
	for _, line := range lines {
		if line.holds {
			all = append(all, line.text)
		}
	}
	return all
}

func (c *Comparison) legend(g group) (notes, details []lang.Text) {
	has := func(key string, is func(Figure) bool) bool {
		return slices.ContainsFunc(g.members, func(i int) bool { return is(c.Setups[i].figure(key)) })
	}
	shortest, longest, lasted := rundir.Number{}, rundir.Number{}, rundir.Number{}
	for k, i := range g.members {
		v := c.Setups[i].figure(keyAnswer).Value
		if v.Known() && !(shortest.Value() <= v.Value()) {
			shortest = v
		}
		longest = rundir.Max(longest, v)
		if n := c.Setups[i].StageTime; k == 0 || lasted.IsZero() {
			lasted = n
		} else if n != lasted {
			lasted = rundir.Number{}
			break
		}
	}
	length := func(n rundir.Number) string { return lang.Number(n, lang.Fixed(1)) }
	notes = slices.Concat(c.cautions(g), c.hitNotes, c.usersLegend(g), told(
		when{has(keyRate, func(f Figure) bool { return f.Open }), legendRising.Text()},
		when{has(keyRate, func(f Figure) bool { return f.disagrees() }), legendApart.Text()},
		when{has(keyRate, func(f Figure) bool { return f.Repeated }), legendRepeats.Text()},
		when{has(keyRate, func(f Figure) bool { return f.Doubted }), LegendDoubted.Text()},
		when{lengthsDiffer(shortest, longest), sayUneven.Text(length(shortest), length(longest))},
		when{has(keyOutput, func(f Figure) bool { return f.Burst.Known() }), legendArrivals.Text()}))
	details = told(
		when{has("ttft@50", Figure.known) || has("ttft@80", Figure.known), legendLoads.Text()},
		when{lasted.Known(), legendStages.Text(lang.Number(lasted, lang.Fixed(0)))})
	return notes, details
}

func (c *Comparison) usersLegend(g group) []lang.Text {
	var all []string
	for _, i := range g.members {
		if f, ok := c.Setups[i].Get(keyUsers); ok && !slices.Contains(all, f.Terms) {
			all = append(all, f.Terms)
		}
	}
	if len(all) > 1 {
		for i := range all {
			all[i] = cmp.Or(all[i], "-")
		}
	}
	return told(
		when{len(all) > 1, legendUnlike.Text(strings.Join(all, " / "))},
		when{len(all) == 1 && all[0] == "", legendGrowing.Text()},
		when{len(all) == 1 && all[0] != "", legendUsers.Text(strings.Join(all, ""))})
}

// differenceLegend explains differences from the first setup of a group. signs explains also what a verdict says.
func (c *Comparison) differenceLegend(g group, signs bool) []lang.Text {
	from := c.Setups[g.members[0]].Name
	has := func(is func(Difference) bool) bool {
		return slices.ContainsFunc(c.Changes, func(d Difference) bool { return d.From == from && is(d) })
	}
	bare := has(func(d Difference) bool { return d.Shown == nil && d.Bound == "" })
	imported := slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Imported })
	intervals, runs := has(func(d Difference) bool { return d.Shown != nil }), c.Runs != [2]int{}
	return told(
		when{signs && has(Difference.hidden), legendTilde.Text()},
		when{bare && imported, legendNoInterval.Text()},
		when{bare && !imported && !runs, legendFew.Text()},
		when{signs && has(func(d Difference) bool { return d.Bound == atLeast || d.Bound == atMost }), legendBound.Text()},
		when{runs && intervals, legendRuns.Text()},
		when{runs && !intervals, legendNoSpread.Text()},
		when{!runs && intervals, legendOwn.Text()})
}
