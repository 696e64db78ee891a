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
)

// IsPair reports whether the comparison is one of two results, of which one table tells all that is compared.
func (c *Comparison) IsPair() bool { return len(c.Setups) == 2 }

// Report returns the comparison as sections, with its answer. That of two results is one table to quote, which says
// what the sentences and tables of several would.
func (c *Comparison) Report(level int) []table.Section {
	if !c.IsPair() {
		all := c.Sections(level)
		all[0].Lines = c.Answer()
		return all
	}
	g := c.groups[0]
	all := []table.Section{c.quoteSection(g, level)}
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

// differenceTable returns the differences from the first setup of a group, without shares that are 0 on both sides. It has
// no columns where more than two setups have several models: their differences from one of them tell nothing.
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
			cell := table.Absent()
			if d := c.difference(c.Setups[i].Name, m.key); !d.IsZero() {
				cell = table.Literal(d.String())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

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
	step := func(before, after table.Cell) table.Cell {
		return table.Cell{Text: before.Whole().Plus(lang.Same(" -> ")).Plus(after.Whole())}
	}
	for i := range f.Pairs {
		p := &f.Pairs[i]
		from, to := p.a.Labels.GPUs, p.b.Labels.GPUs
		times := func(key string) table.Cell {
			a, b := p.a.figure(key), p.b.figure(key)
			if !a.known() && !b.known() {
				return table.None()
			}
			return step(table.Seconds(a.Value), table.Seconds(b.Value))
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
				{Text: gpuSteps.Text(from, to)}, {Text: name}, step(d.before.cell(fixed(2)), d.after.cell(fixed(2))),
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
