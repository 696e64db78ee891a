package compare

import (
	"cmp"
	"fmt"
	"io"
	"math"
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

// JSON writes the comparison, indented.
func (c *Comparison) JSON(w io.Writer) error { return table.WriteJSON(w, c) }

// Sections returns the comparison as sections of a report, without its [Comparison.Answer]. Level is the level of its
// headings in Markdown.
func (c *Comparison) Sections(level int) []table.Section {
	var all []table.Section
	for _, g := range c.groups {
		title := titleCompare.Text()
		if g.run != nil {
			title = titleCompared.Text(lang.Both(func(l lang.Lang) string { return workload(g.run, l) }))
		}
		notes, details := c.legend(g)
		all = append(all, table.Section{Title: title, Level: level, Table: c.table(g), Notes: notes, Details: details})
		if t := c.changeTable(g); len(t.Columns) > 1 {
			all = append(all, table.Section{Title: titleChanges.Text(c.Setups[g.members[0]].Name), Level: level + 1, Table: t,
				Notes: c.changeLegend(g)})
		}
		if s := c.tailSection(g, level+1); len(s.Table.Rows) > 0 {
			all = append(all, s)
		}
	}
	if _, rest := c.conclusions(); len(rest) > 0 {
		all = append(all, table.Section{Title: titleMore.Text(), Level: level + 1, Lines: rest, Rest: true})
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
		if len(f.Pairs) > 0 {
			levels := table.Section{Title: titleLevels.Text(f.equal), Level: level + 1, Table: f.levelTable(), Rest: true}
			if !explained {
				levels.Notes, explained = []lang.Text{legendLevels.Text()}, true
			}
			all = append(all, levels)
		}
	}
	return append(all, Doubts(c.LeftOut, c.Marked, level+1)...)
}

func columns() []column {
	at := func(name string) lang.Text {
		if name == "sync" {
			return subAlone.Text()
		}
		return lang.Same(name + " %")
	}
	all := []column{
		{keyUsers, table.Column{Head: headUsers.Text()}, "", fixed(0)},
		{keyUsersPerGPU, table.Column{Head: headEach.Text(), Drop: 3}, "",
			func(f rundir.Number) table.Cell { return table.Number(f, "", lang.Short) }},
		{keyRate, table.Column{Head: headSaturation.Text()}, "req/s", fixed(2)},
		{keyOutput, table.Column{Head: lang.HeadOutput.Text()}, "tok/s", fixed(2)},
		{KeyPerGPU, table.Column{Head: headPerGPU.Text(), Drop: 3}, "tok/s", fixed(2)},
		{keyUncached, table.Column{Head: headUncached.Text()}, "tok/s", fixed(2)},
		{keyAnswer, table.Column{Head: headAnswer.Text(), Drop: 1}, "tok", fixed(1)},
	}
	drops := map[string]int{"50": 2, "sync": 5} // the latency near the highest load is what differs most
	for _, what := range []struct {
		key  string
		head lang.Text
	}{{"ttft", lang.Same("TTFT")}, {"itl", lang.Same("ITL")}, {"latency", lang.HeadLatency.Text()}} {
		for _, s := range operatingLoads() {
			all = append(all, column{what.key + "@" + s.name, table.Column{Head: what.head, Sub: at(s.name),
				Drop: drops[s.name]}, "", table.Seconds})
		}
	}
	percentCell := func(f rundir.Number) table.Cell { return table.Number(rundir.Exactly(f.Value()*100), "", lang.Short) }
	return append(all,
		column{keySpeed, table.Column{Head: headSpeed.Text(), Drop: 4}, "tok/s", fixed(2)},
		column{keyTTFA, table.Column{Head: lang.Same("TTFA"), Drop: 4}, "", table.Seconds},
		column{keyStalls, table.Column{Head: headStalls.Text(), Drop: 4}, "%", percentCell},
		column{keySessions, table.Column{Head: headSession.Text(), Drop: 4}, "%", percentCell},
		column{keyGoodput, table.Column{Head: headGoodput.Text(), Drop: 4}, "tok/s", fixed(2)},
		column{KeyAccuracy, table.Column{Head: headRight.Text()}, "%", percentCell},
		column{KeyErrors, table.Column{Head: headErrors.Text()}, "%", percentCell})
}

type column struct {
	key string
	table.Column
	unit string
	cell func(rundir.Number) table.Cell
}

func (f Metric) tableCell(number func(rundir.Number) table.Cell) table.Cell {
	cell := number(f.Value)
	if most := number(f.Most); f.Most.Known() && most.Text != cell.Text {
		cell.Text = cell.Whole().Plus(lang.Same("-")).Plus(most.Whole())
	}
	switch {
	case f.AtLeast:
		cell.Mark = markRising
	case f.Most.Known() && !f.Repeats:
		cell.Mark = markDisagreement
	}
	if f.Doubted {
		cell.Mark += MarkDoubted
	}
	return cell
}

func (c *column) withUnit() table.Column {
	withUnit := c.Column
	if c.unit != "" {
		withUnit.Sub = lang.Same(c.unit)
	}
	return withUnit
}

func fixed(decimals int) func(rundir.Number) table.Cell {
	return func(f rundir.Number) table.Cell { return table.Number(f, "", lang.Fixed(decimals)) }
}

func (c *Comparison) table(g group) table.Table {
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}}}
	var shown []column
	for _, col := range columns() {
		if slices.ContainsFunc(g.members, func(i int) bool { _, ok := c.Setups[i].Get(col.key); return ok }) {
			shown = append(shown, col)
			t.Columns = append(t.Columns, col.withUnit())
		}
	}
	t.Columns = append(t.Columns, table.Column{Head: headRests.Text(), Left: true, Drop: 1})
	for _, i := range g.members {
		m := &c.Setups[i]
		row := []table.Cell{{Text: lang.Same(m.Name), Tone: table.Strong}}
		for _, col := range shown {
			f, _ := m.Get(col.key)
			row = append(row, f.tableCell(col.cell))
		}
		top, _ := m.Get(keyOutput)
		t.Rows = append(t.Rows, append(row, table.Literal(cmp.Or(top.Where, m.Origin))))
	}
	return t
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

func (c *Comparison) legend(g group) (notes, details []lang.Text) {
	has := func(key string, is func(Metric) bool) bool {
		return slices.ContainsFunc(g.members, func(i int) bool { f, _ := c.Setups[i].Get(key); return is(f) })
	}
	notes = slices.Concat(c.cautions(g), c.hitNotes, c.usersLegend(g))
	if has(keyRate, func(f Metric) bool { return f.AtLeast }) {
		notes = append(notes, legendRising.Text())
	}
	if has(keyRate, func(f Metric) bool { return f.Most.Known() && !f.Repeats }) {
		notes = append(notes, legendApart.Text())
	}
	if has(keyRate, func(f Metric) bool { return f.Repeats }) {
		notes = append(notes, legendRepeats.Text())
	}
	if has(keyRate, func(f Metric) bool { return f.Doubted }) {
		notes = append(notes, LegendDoubted.Text())
	}
	low, high := rundir.Number{}, rundir.Number{}
	for _, i := range g.members {
		f, _ := c.Setups[i].Get(keyAnswer)
		if v := f.Value; v.Known() && (!low.Known() || v.Value() < low.Value()) {
			low = v
		}
		if v := f.Value; v.Known() && (!high.Known() || v.Value() > high.Value()) {
			high = v
		}
	}
	if lengthsDiffer(low, high) {
		notes = append(notes, sayUneven.Text(lang.Number(low, lang.Fixed(1)), lang.Number(high, lang.Fixed(1))))
	}
	if slices.ContainsFunc(g.members, func(i int) bool {
		_, half := c.Setups[i].Get("ttft@50")
		_, most := c.Setups[i].Get("ttft@80")
		return half || most
	}) {
		details = append(details, legendLoads.Text())
	}
	if has(keyOutput, func(f Metric) bool { return f.Burst.Known() }) {
		notes = append(notes, legendArrivals.Text())
	}
	if lasted := c.stageTime(g); lasted.Known() {
		details = append(details, legendStages.Text(lang.Number(lasted, lang.Fixed(0))))
	}
	return notes, details
}

// stageTime returns how long the stages of the documents of a group lasted; absent where that is unknown or differs.
func (c *Comparison) stageTime(g group) (lasted rundir.Number) {
	for _, i := range g.members {
		n := c.Setups[i].StageTime
		if lasted.Known() && n != lasted {
			return rundir.Number{}
		}
		if n.Known() {
			lasted = n
		}
	}
	return lasted
}

func (c *Comparison) usersLegend(g group) []lang.Text {
	var all []string
	for _, i := range g.members {
		if f, ok := c.Setups[i].Get(keyUsers); ok && !slices.Contains(all, f.Terms) {
			all = append(all, f.Terms)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) > 1:
		for i := range all {
			all[i] = cmp.Or(all[i], "-")
		}
		return []lang.Text{legendUnlike.Text(strings.Join(all, " / "))}
	case all[0] == "":
		return []lang.Text{legendGrowing.Text()}
	}
	return []lang.Text{legendUsers.Text(all[0])}
}

// changeTable returns the differences from the first setup of a group, without shares that are 0 on both sides. It has
// no columns where more than two setups have several models: their differences from one of them tell nothing.
func (c *Comparison) changeTable(g group) table.Table {
	if len(g.members) > 2 && len(c.models(g)) > 1 {
		return table.Table{}
	}
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}}}
	var shown []column
	for _, col := range columns() {
		from := c.Setups[g.members[0]].Name
		if slices.ContainsFunc(c.Changes, func(ch Change) bool {
			return ch.Key == col.key && ch.From == from && (!isShare(ch.Key) || ch.Ratio.Value() != 0 || ch.Shown != nil)
		}) {
			shown = append(shown, col)
			t.Columns = append(t.Columns, col.Column) // in per cent
		}
	}
	for _, i := range g.members[1:] {
		m := &c.Setups[i]
		row := []table.Cell{{Text: lang.Same(m.Name), Tone: table.Strong}}
		for _, col := range shown {
			i := slices.IndexFunc(c.Changes, func(ch Change) bool { return ch.Setup == m.Name && ch.Key == col.key })
			if i < 0 {
				row = append(row, table.Absent())
				continue
			}
			row = append(row, table.Literal(c.Changes[i].String()))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// String is a change in percent with its interval; ~ where the interval shows none.
func (c Change) String() string {
	unit := " %"
	if isShare(c.Key) {
		unit = " pp"
	}
	switch c.Bound {
	case BoundLow:
		return "> " + percent(c.Ratio.Value()) + unit
	case BoundHigh:
		return "< " + percent(c.Ratio.Value()) + unit
	case BoundRange:
		return percent(c.Low.Value()) + ".." + percent(c.High.Value()) + unit
	}
	if c.Shown == nil {
		return percent(c.Ratio.Value()) + unit
	}
	span := fmt.Sprintf(" (%s..%s)", percent(c.Low.Value()), percent(c.High.Value()))
	if !*c.Shown {
		return markNoDifference + span
	}
	return percent(c.Ratio.Value()) + unit + span
}

// Percent returns a ratio, minus 1, in per cent with its interval.
func Percent(ratio, low, high rundir.Number) string {
	return fmt.Sprintf("%s %% (%s..%s)", percent(ratio.Value()), percent(low.Value()), percent(high.Value()))
}

// percent is a signed percentage of three digits at most.
func percent(v float64) string {
	v *= 100
	switch {
	case math.Abs(v) < 0.05:
		return "0"
	case math.Abs(v) < 100:
		return fmt.Sprintf("%+.1f", v)
	}
	return fmt.Sprintf("%+.0f", v)
}

func (c *Comparison) changeLegend(g group) []lang.Text {
	from := c.Setups[g.members[0]].Name
	all := slices.DeleteFunc(slices.Clone(c.Changes), func(ch Change) bool { return ch.From != from })
	var notes []lang.Text
	if slices.ContainsFunc(all, func(ch Change) bool { return ch.Shown != nil && !*ch.Shown }) {
		notes = append(notes, legendTilde.Text())
	}
	bare := slices.ContainsFunc(all, func(ch Change) bool { return ch.Shown == nil && ch.Bound == "" })
	imported := slices.ContainsFunc(g.members, func(i int) bool { return c.Setups[i].Imported })
	if bare && imported {
		notes = append(notes, legendNoInterval.Text())
	} else if bare && c.Runs == [2]int{} {
		notes = append(notes, legendFew.Text())
	}
	if slices.ContainsFunc(all, func(ch Change) bool { return ch.Bound == BoundLow || ch.Bound == BoundHigh }) {
		notes = append(notes, legendBound.Text())
	}
	intervals := slices.ContainsFunc(all, func(ch Change) bool { return ch.Shown != nil })
	switch {
	case c.Runs != [2]int{} && intervals:
		notes = append(notes, legendRuns.Text())
	case c.Runs != [2]int{}:
		notes = append(notes, legendNoSpread.Text())
	case intervals:
		notes = append(notes, legendOwn.Text())
	}
	return notes
}

// stepTable has a row for each step and load at which something is known of the speed-up.
func (f *Factor) stepTable() table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: headGPUs.Text(), Left: true}, {Head: headLoad.Text(), Left: true},
		{Head: lang.HeadOutput.Text(), Sub: lang.Same("tok/s")},
		{Head: headSpeedUp.Text()}, {Head: headEfficiency.Text()}, {Head: lang.Same("ITL")}, {Head: lang.Same("TTFT")},
		{Head: headRests.Text(), Left: true, Drop: 1},
	}}
	for _, s := range f.Steps {
		for _, p := range s.Loads {
			if p.Unknown {
				continue
			}
			name := map[string]lang.Text{"sync": subAlone.Text(), keyRate: headSaturation.Text()}[p.At]
			if name.IsZero() {
				name = atShare.Text(p.At)
			}
			efficiency := table.Absent()
			if p.Efficiency.Known() {
				efficiency = table.Cell{Text: lang.Same(fmt.Sprintf("%.0f", 100*p.Efficiency.Value())), Unit: "%"}
			}
			t.Rows = append(t.Rows, []table.Cell{
				{Text: gpuSteps.Text(s.From, s.To)}, {Text: name},
				stepCell(p.Before.tableCell(fixed(2)), p.After.tableCell(fixed(2))),
				table.Literal(p.speedUpText()), efficiency, durationStep(p.ITL), durationStep(p.TTFT),
				table.Literal(p.Before.Where + " | " + p.After.Where),
			})
		}
	}
	return t
}

func (l *Load) speedUpText() string {
	switch {
	case l.Bound == BoundLow:
		return fmt.Sprintf("> %.2f x", l.Low.Value())
	case l.Bound == BoundHigh:
		return fmt.Sprintf("< %.2f x", l.High.Value())
	case l.Bound == BoundRange:
		return fmt.Sprintf("%.2f-%.2f x", l.Low.Value(), l.High.Value())
	case l.Low.Known():
		return fmt.Sprintf("%.2f x (%.2f-%.2f)", l.SpeedUp.Value(), l.Low.Value(), l.High.Value())
	}
	return fmt.Sprintf("%.2f x", l.SpeedUp.Value())
}

func durationStep(d [2]rundir.Number) table.Cell {
	if d[0].IsZero() && d[1].IsZero() {
		return table.None()
	}
	return stepCell(table.Seconds(d[0]), table.Seconds(d[1]))
}

func stepCell(before, after table.Cell) table.Cell {
	return table.Cell{Text: before.Whole().Plus(lang.Same(" -> ")).Plus(after.Whole())}
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
	add := func(o setup.RowMark, unused lang.Text) {
		t.Rows = append(t.Rows, []table.Cell{table.Literal(o.Setup), table.Literal(o.Row), table.Literal(o.Where),
			{Text: unused}, {Text: lang.Both(o.Reason)}})
	}
	for _, o := range leftOut {
		add(o, wordWholeRow.Text())
	}
	for _, o := range marked {
		unused := lang.Same("-")
		if o.Figures {
			unused = lang.Both(o.UnusedFigures)
		}
		add(o, unused)
	}
	s := table.Section{Title: titleDoubts.Text(), Level: level, Table: t, Rest: true, Rows: true}
	if setup.LimitedByClient(leftOut) {
		s.Notes = append(s.Notes, findings.ClientRemedy.Text())
	}
	return []table.Section{s}
}
