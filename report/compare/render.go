package compare

import (
	"cmp"
	"fmt"
	"path"
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
		if t := c.changeTable(g); len(t.Columns) > 1 {
			all = append(all, table.Section{Title: titleChanges.Text(c.Setups[g.members[0]].Name), Level: level + 1, Table: t,
				Notes: c.changeLegend(g, true)})
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

// changeTable returns the differences from the first setup of a group, without shares that are 0 on both sides. It has
// no columns where more than two setups have several models: their differences from one of them tell nothing.
func (c *Comparison) changeTable(g group) table.Table {
	if len(g.members) > 2 && len(c.models(g)) > 1 {
		return table.Table{}
	}
	shown := c.known(g, func(m *Configuration, key string) bool {
		ch := c.changeOf(m.Name, key)
		return ch != nil && (!isShare(key) || ch.Ratio.Value() != 0 || ch.Shown != nil)
	})
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}}}
	for _, m := range shown {
		t.Columns = append(t.Columns, m.Column) // in per cent
	}
	for _, i := range g.members[1:] {
		row := []table.Cell{{Text: lang.Same(c.Setups[i].Name), Tone: table.Strong}}
		for _, m := range shown {
			cell := table.Absent()
			if ch := c.changeOf(c.Setups[i].Name, m.key); ch != nil {
				cell = table.Literal(ch.String())
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// consoleRows is how many rows of the table of two results a console shows: a reader quotes no more.
const consoleRows = 8

func (c *Comparison) quoteSection(g group, level int) table.Section {
	a, b := &c.Setups[g.members[0]], &c.Setups[g.members[1]]
	names, shared := headingsOf(a, b)
	s := table.Section{Title: titleCompare.Text(), Level: level}
	if g.run != nil {
		shared = append(shared, lang.Both(func(l lang.Lang) string { return workload(g.run, l) }))
	}
	if len(shared) > 0 {
		s.Title = titleCompared.Text(lang.Joined(shared, lang.Comma))
	}
	notes, details := c.legend(g)
	s.Notes = slices.Concat(names.legend(a, b), c.factorSentences(), notes, c.changeLegend(g, false))
	s.Details = append(details, sayRests.Text(cmp.Or(a.figure(keyOutput).Where, a.Origin),
		cmp.Or(b.figure(keyOutput).Where, b.Origin)))
	s.Table.Columns = []table.Column{
		{Head: headFigure.Text(), Left: true}, {Head: names[0]}, {Head: names[1]},
		{Head: headChange95.Text()}, {Head: headVerdict.Text(), Left: true},
	}
	if !slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.Shown != nil }) {
		s.Table.Columns[3].Head = headChange.Text()
	}
	shown := c.known(g, func(m *Configuration, key string) bool { return m.figure(key).known() })
	var ranks []int
	rank := func(m metric) int {
		failed := a.figure(KeyErrors).Value.Or(0) + b.figure(KeyErrors).Value.Or(0)
		if m.key == KeyPerGPU && a.Labels.GPUs == b.Labels.GPUs || m.key == KeyErrors && failed == 0 {
			return 0
		}
		return m.rank
	}
	for _, m := range shown {
		if rank(m) > 0 {
			ranks = append(ranks, rank(m))
		}
	}
	slices.Sort(ranks)
	ranks = ranks[:min(len(ranks), consoleRows)]
	for i, m := range shown {
		of := m.head()
		row := []table.Cell{{Text: of.Heading(), Tone: table.Strong}, a.figure(m.key).cell(m.print),
			b.figure(m.key).cell(m.print), table.Absent(), table.Absent()}
		if ch := c.changeOf(b.Name, m.key); ch != nil {
			row[3], row[4] = table.Literal(ch.String()), ch.verdict()
		}
		s.Table.Rows = append(s.Table.Rows, row)
		if !slices.Contains(ranks, rank(m)) {
			s.Spare = append(s.Spare, i)
		}
	}
	return s
}

// factorSentences returns what the table of two results lacks: their difference at equal concurrency, and what the rows
// throughput show.
func (c *Comparison) factorSentences() (all []lang.Text) {
	for i := range c.Factors {
		f := &c.Factors[i]
		burst := slices.ContainsFunc(f.Members, func(m Member) bool { return m.figure(keyOutput).Burst.Known() })
		if says := lang.Both(f.Conclusion); (burst || f.closedLoopsOnly()) && !says.IsZero() {
			all = append(all, says)
		}
	}
	return all
}

type headings [2]lang.Text

// widestName is how wide a name over a column may be, in columns of a terminal.
const widestName = 24

// headingsOf returns the short names of two results, and the parts of their names that both have. Where a short name
// would be empty or too wide, they are A and B, and nothing is shared.
func headingsOf(a, b *Configuration) (short headings, shared []lang.Text) {
	x, y := nameParts(a.Name), nameParts(b.Name)
	in := func(all []string) func(string) bool { return func(p string) bool { return slices.Contains(all, p) } }
	own := [2][]string{slices.DeleteFunc(slices.Clone(x), in(y)), slices.DeleteFunc(slices.Clone(y), in(x))}
	for _, p := range slices.DeleteFunc(slices.Clone(x), in(own[0])) {
		shared = append(shared, lang.Same(p))
	}
	one := len(own[0]) == 1 && len(own[1]) == 1
	if one && a.Labels.Model == b.Labels.Model && a.Labels.Quant != b.Labels.Quant {
		return headings{quantName(a), quantName(b)}, append([]lang.Text{lang.Same(a.Labels.Model)}, shared...)
	}
	names := [2]string{strings.Join(own[0], ", "), strings.Join(own[1], ", ")}
	label, from := cutOrigin(names[0])
	if other, at := cutOrigin(names[1]); label != "" && label == other { // labelled alike, and found in different places
		shared = append(shared, lang.Same(label))
		names = [2]string{path.Base(from), path.Base(at)}
		if names[0] == names[1] {
			names = [2]string{from, at}
		}
	}
	base := [2]string{path.Base(names[0]), path.Base(names[1])}
	if names[0] == a.Origin && names[1] == b.Origin && base[0] != base[1] { // they have no label
		names = base
	}
	for i, name := range names {
		if name == "" || table.Width(name) > widestName {
			return headings{lang.Same("A"), lang.Same("B")}, nil
		}
		short[i] = lang.Same(name)
	}
	return short, shared
}

func quantName(m *Configuration) lang.Text {
	if m.Labels.Quant == "" {
		return wordUnquantized.Text()
	}
	return lang.Same(m.Labels.Quant)
}

// nameParts returns the parts of a name in either language.
func nameParts(name string) []string {
	comma := lang.Comma.In(lang.English)
	return strings.Split(strings.ReplaceAll(name, lang.Comma.In(lang.Chinese), comma), comma)
}

// cutOrigin cuts a part of a name into a label and what stands in parentheses; both are empty where nothing does.
func cutOrigin(part string) (label, origin string) {
	for _, l := range lang.All() {
		open, end, _ := strings.Cut(lang.InParens.In(l, "\x00"), "\x00")
		if label, rest, ok := strings.Cut(part, open); ok && strings.HasSuffix(rest, end) {
			return label, strings.TrimSuffix(rest, end)
		}
	}
	return "", ""
}

func (h headings) legend(a, b *Configuration) []lang.Text {
	if h != (headings{lang.Same("A"), lang.Same("B")}) {
		return nil
	}
	return []lang.Text{lang.Same("A = " + a.Name), lang.Same("B = " + b.Name)}
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
		when{has(keyRate, func(f Figure) bool { return f.Most.Known() && f.N == 0 }), legendApart.Text()},
		when{has(keyRate, func(f Figure) bool { return f.N > 0 }), legendRepeats.Text()},
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

// changeLegend explains changes from the first setup of a group. signs explains also what a verdict says.
func (c *Comparison) changeLegend(g group, signs bool) []lang.Text {
	from := c.Setups[g.members[0]].Name
	has := func(is func(Change) bool) bool {
		return slices.ContainsFunc(c.Changes, func(ch Change) bool { return ch.From == from && is(ch) })
	}
	bare := has(func(ch Change) bool { return ch.Shown == nil && !ch.Bound })
	imported := slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Imported })
	intervals, runs := has(func(ch Change) bool { return ch.Shown != nil }), c.Runs != [2]int{}
	return told(
		when{signs && has(Change.hidden), legendTilde.Text()},
		when{bare && imported, legendNoInterval.Text()},
		when{bare && !imported && !runs, legendFew.Text()},
		when{signs && has(func(ch Change) bool { return ch.Bound && (ch.Low.IsZero() || ch.High.IsZero()) }), legendBound.Text()},
		when{runs && intervals, legendRuns.Text()},
		when{runs && !intervals, legendNoSpread.Text()},
		when{!runs && intervals, legendOwn.Text()})
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
		for _, at := range []string{"sync", "50", "80", keyRate} {
			c, before, after := p.change(at)
			if c.IsZero() {
				continue
			}
			name := map[string]lang.Text{"sync": subAlone.Text(), keyRate: headSaturation.Text()}[at]
			if name.IsZero() {
				name = atShare.Text(at)
			}
			efficiency := table.Absent()
			if !c.Bound {
				share := (1 + c.Ratio.Value()) * float64(from) / float64(to)
				efficiency = table.Cell{Text: lang.Same(fmt.Sprintf("%.0f", 100*share)), Unit: "%"}
			}
			t.Rows = append(t.Rows, []table.Cell{
				{Text: gpuSteps.Text(from, to)}, {Text: name}, step(before.cell(fixed(2)), after.cell(fixed(2))),
				table.Literal(c.factor()), efficiency, times("itl@" + at), times("ttft@" + at),
				table.Literal(before.Where + " | " + after.Where),
			})
		}
	}
	return t
}

// factor is the change as a factor in a cell.
func (c Change) factor() string {
	switch low, high := times(c.Low), times(c.High); {
	case c.Bound && c.High.IsZero():
		return "> " + low + " x"
	case c.Bound && c.Low.IsZero():
		return "< " + high + " x"
	case c.Bound:
		return low + "-" + high + " x"
	case c.Shown != nil:
		return times(c.Ratio) + " x (" + low + "-" + high + ")"
	}
	return times(c.Ratio) + " x"
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
