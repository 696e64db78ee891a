package choose

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// JSON writes choices, indented.
func JSON(w io.Writer, all []Choice) error {
	return table.WriteJSON(w, all)
}

// Sections returns choices as sections of a report: where there are several, first a table of what comes first for each
// model.
func Sections(all []Choice, level int) []table.Section {
	if len(all) == 1 {
		return all[0].sections(level, true)
	}
	sections := []table.Section{summary(all, level)}
	for i := range all {
		sections = append(sections, all[i].sections(level, false)...)
	}
	return sections
}

func summary(all []Choice, level int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true},
		{Head: headRate.Text(), Sub: all[0].replicaUnit(), Drop: 1}, {Head: headReplicas.Text()}, {Head: headGPUs.Text()}}}
	priced := slices.ContainsFunc(all, func(c Choice) bool { return c.Priced })
	if priced {
		t.Columns = append(t.Columns, table.Column{Head: headCost.Text(), Sub: subHour.Text()})
	}
	for i := range all {
		c := &all[i]
		row := make([]table.Cell, len(t.Columns))
		if len(c.Ranked) == 0 {
			row[0].Text = c.Recommendation()
			t.Rows = append(t.Rows, row)
			continue
		}
		k := &c.Ranked[0]
		row[0], row[1] = table.Literal(k.Name), k.atSLO()
		row[2], row[3] = table.Count(k.Replicas), table.Absent()
		if c.Counted {
			row[3] = table.Count(k.GPUs)
		}
		if priced {
			row[4] = table.Number(k.Hour, "", lang.Fixed(2))
		}
		t.Rows = append(t.Rows, row)
	}
	return table.Section{Title: titleModels.Text(), Level: level, Lines: []lang.Text{all[0].DemandText()}, Table: t}
}

// DemandText returns what was asked for in a sentence.
func (c *Choice) DemandText() lang.Text {
	wish := sayWish.Text(lang.Comma.Join(c.SLO), c.demand.Text(), lang.Shortest(100*c.Headroom))
	if c.MaxGPUs > 0 {
		wish = wish.Plus(sayMaxGPUs.Text(GPUs(c.MaxGPUs)))
	}
	return wish
}

func (c *Choice) model() lang.Text {
	if c.Model == "" {
		return wordUnnamed.Text()
	}
	return lang.Same(c.Model)
}

// sections returns a choice as sections of a report, with what was asked for where demand says so.
func (c *Choice) sections(level int, demand bool) []table.Section {
	head := table.Section{Title: titleChoice.Text(c.model(), c.workload()), Level: level, Lines: c.answer()}
	if demand {
		head.Lines = append(head.Lines, c.DemandText())
	}
	if len(c.Ranked) > 0 {
		head.Table = c.table()
		head.Notes, head.Details = c.notes(), []lang.Text{legendColumns.Text()}
	}
	all := []table.Section{head}
	if len(c.Refused) > 0 {
		all = append(all, c.refused(level+1))
	}
	if e := c.BreakEven; e != nil {
		all = append(all, table.Section{Title: titleChanging.Text(), Level: level + 1, Lines: e.lines(c.demand), Rest: true})
	}
	return append(all, compare.Doubts(c.LeftOut, c.Marked, level+1)...)
}

func (c *Choice) workload() lang.Text {
	return lang.Both(func(l lang.Lang) string { return compare.Workload(c.run, l) })
}

// Recommendation returns the recommendation in a sentence that names a configuration, or the model and the workload
// that have none.
func (c *Choice) Recommendation() lang.Text {
	if len(c.Ranked) == 0 {
		return c.model().Plus(lang.Comma.Text()).Plus(c.workload()).Plus(lang.Colon.Text()).Plus(c.answer()[0])
	}
	return c.answer()[0]
}

// answer returns the recommendation, and sentences on what it rests on.
func (c *Choice) answer() []lang.Text {
	switch {
	case c.Undecided():
		return []lang.Text{sayUntold.Text()}
	case len(c.Ranked) == 0:
		return []lang.Text{sayNone.Text()}
	}
	k := &c.Ranked[0]
	what := sayFewest.Text(k.Name, Replicas(k.Replicas), GPUs(k.GPUs))
	switch {
	case !c.Counted:
		what = sayFewestReplicas.Text(k.Name, Replicas(k.Replicas))
	case c.Priced:
		what = sayCheapest.Text(k.Name, Replicas(k.Replicas), GPUs(k.GPUs), c.Money(k.Hour))
	}
	lines := []lang.Text{what, sayRests.Text(k.loadText(), k.Where, k.limitText())}
	lines = append(lines, c.Remarks()...)
	if k.Quantized() {
		lines = append(lines, sayQuantized.Text(k.Labels.Quant))
	}
	return lines
}

// Remarks returns sentences on the first configuration, which must exist: which others cost the same, and up to which
// demand one replica less is enough.
func (c *Choice) Remarks() []lang.Text {
	var lines []lang.Text
	k := &c.Ranked[0]
	if same := c.tiedText(); !same.IsZero() {
		lines = append(lines, same)
	}
	if k.ReplicaRange[0] != k.ReplicaRange[1] {
		say, print, unit := sayBetween, lang.Fixed(2), reqPerS
		if k.limit.Doubted {
			say = sayDoubted
		}
		if k.Users.Known() {
			print, unit = lang.Fixed(0), unitUsers.Text()
		}
		low, high := lang.Number(k.RateLow, print), lang.Number(k.RateHigh, print)
		lines = append(lines, say.Text(low, high, unit, k.ReplicaRange[0], k.ReplicaRange[1]))
	}
	if k.Replicas > 1 {
		less := float64(k.Replicas-1) / float64(k.Replicas) * k.Carries * (1 - c.Headroom)
		lines = append(lines, sayOneLess.Text(c.demand.floorText(less)))
	}
	return lines
}

func (c *Choice) tiedText() lang.Text {
	var others []lang.Text
	first := c.Ranked[0]
	for _, k := range c.Ranked[1:] {
		if k.size() == first.size() && (!c.Priced || sameCost(k, first)) {
			others = append(others, lang.Same(k.Name).Plus(lang.InParens.Text(c.demand.amountText(k.Carries))))
		}
	}
	if len(others) == 0 {
		return lang.Text{}
	}
	say := sayTied
	switch {
	case !c.Counted:
		say = sayTiedReplicas
	case !c.Priced:
		say = sayTiedGPUs
	}
	return say.Text(lang.Joined(others, lang.Semicolon))
}

func (c *Choice) table() table.Table {
	answerDrop := 2
	if c.converted() { // the rates are converted by the lengths of the answers
		answerDrop = 0
	}
	heads := []table.Column{
		{Head: headRank.Text()}, {Head: headSetup.Text(), Left: true}, {Head: headRate.Text(), Sub: c.replicaUnit()},
		{Head: headAnswer.Text(), Sub: lang.Same("tok"), Drop: answerDrop},
		{Head: lang.Same("TTFT"), Drop: 6}, {Head: lang.Same("ITL"), Drop: 6},
		{Head: headReplicas.Text()},
	}
	if c.Counted {
		heads = append(heads, table.Column{Head: headGPUs.Text()})
	}
	heads = append(heads, table.Column{Head: headCarries.Text(), Sub: c.demand.UnitText(), Drop: 4})
	if c.Priced {
		heads = append(heads, table.Column{Head: headCost.Text(), Sub: subHour.Text()},
			table.Column{Head: headCost.Text(), Sub: subMonth.Text(), Drop: 1}, table.Column{Head: headMillion.Text(), Drop: 4})
	}
	heads = append(heads, table.Column{Head: headLimit.Text(), Left: true, Drop: 5},
		table.Column{Head: headRests.Text(), Left: true, Drop: 3})
	decimals := lang.Fixed(2)
	if c.demand.Unit == Users {
		decimals = lang.Fixed(0)
	}
	t := table.Table{Columns: heads}
	for i := range c.Ranked {
		k := &c.Ranked[i]
		name := table.Literal(k.Name)
		if i == 0 {
			name.Tone = table.Strong
		}
		row := []table.Cell{
			table.Literal(strconv.Itoa(i + 1)), name, k.atSLO(), k.answer(), table.Seconds(k.TTFT),
			table.Seconds(k.ITL), table.Count(k.Replicas),
		}
		if c.Counted {
			row = append(row, table.Count(k.GPUs))
		}
		row = append(row, table.Number(rundir.Exactly(k.Carries), "", decimals))
		if c.Priced {
			row = append(row, table.Number(k.Hour, "", lang.Fixed(2)), table.Number(k.Month, "", lang.Fixed(0)),
				table.Number(k.MillionDemand, "", lang.Fixed(3)))
		}
		t.Rows = append(t.Rows, append(row, table.Cell{Text: k.limitText()}, table.Literal(k.Where)))
	}
	return t
}

var reqPerS = lang.Same("req/s")

func (c *Choice) replicaUnit() lang.Text {
	if c.demand.Unit == Users {
		return c.demand.UnitText()
	}
	return reqPerS
}

func (k *Candidate) atSLO() table.Cell {
	cell := table.Literal(fmt.Sprintf("%.2f", k.Rate))
	if !k.Users.IsZero() {
		cell = table.Number(k.Users, "", lang.Fixed(0))
	}
	if k.doubted() {
		cell.Mark = compare.MarkDoubted
	}
	return cell
}

func (k *Candidate) doubted() bool {
	return k.limit.Doubted || k.setup.Doubtful(k.limit.Point.Low, k.limit.Point.High)
}

func (k *Candidate) loadText() lang.Text {
	if !k.Users.IsZero() {
		return sayUsers.Text(lang.Number(k.Users, lang.Fixed(0)))
	}
	if k.Asked.Known() {
		whole := lang.Fixed(0)
		rate, measured := fmt.Sprintf("%.2f", k.Rate), lang.Number(k.Measured, lang.Fixed(2))
		return sayConverted.Text(rate, lang.Number(k.Asked, whole), measured, lang.Number(k.Answer, whole))
	}
	return lang.Same(fmt.Sprintf("%.2f req/s", k.Rate))
}

// answer returns the mean length of an answer in tokens, with that of the requests that the rate counts.
func (k *Candidate) answer() table.Cell {
	cell := table.Number(k.Answer, "", lang.Fixed(0))
	if k.Asked.Known() {
		cell.Text = sayOf.Text(cell.Text, lang.Number(k.Asked, lang.Fixed(0)))
	}
	return cell
}

// converted reports whether the rate of a candidate is of longer answers than were measured.
func (c *Choice) converted() bool {
	return slices.ContainsFunc(c.Ranked, func(k Candidate) bool { return k.Asked.Known() })
}

// lengthsDiffer reports whether the requests that rates count were not equally long, by more than an end token or two.
func (c *Choice) lengthsDiffer() bool {
	low, high := math.Inf(1), 0.0
	for i := range c.Ranked {
		if v := rundir.Max(c.Ranked[i].Answer, c.Ranked[i].Asked); v.Known() {
			low, high = min(low, v.Value()), max(high, v.Value())
		}
	}
	return high > 1.1*low
}

// repeatRatio is the ratio of the repeats of a row above which their range is printed.
const repeatRatio = 1.15

func (c *Choice) notes() (notes []lang.Text) {
	switch {
	case !c.Counted:
		notes = append(notes, legendUncounted.Text())
	case !c.Priced:
		notes = append(notes, legendUnpriced.Text())
	}
	if c.converted() {
		notes = append(notes, legendConverted.Text())
	}
	if slices.ContainsFunc(c.Ranked, func(k Candidate) bool { return k.doubted() }) {
		notes = append(notes, compare.LegendDoubted.Text())
	}
	if c.demand.Unit != Tokens && c.lengthsDiffer() {
		notes = append(notes, legendUneven.Text())
	}
	for i := range c.Ranked {
		l := &c.Ranked[i].limit
		if l.LowerMiss != nil {
			row, term := l.LowerMiss.Row, l.LowerMiss.Term
			value, _ := term.Of(row.Stage)
			notes = append(notes, legendMissed.Text(c.Ranked[i].Name, term.String(), row.Name(), term.Least(value)))
		}
		row := l.Point.High
		if low, high := setup.CompletedRange(row.Measurements()); high > repeatRatio*low {
			from, to := fmt.Sprintf("%.2f", low), fmt.Sprintf("%.2f", high)
			notes = append(notes, legendWorst.Text(c.Ranked[i].Name, len(row.Repeats), from, to))
		}
	}
	for _, name := range c.repeatedNames() {
		notes = append(notes, legendRepeated.Text(name))
	}
	return notes
}

func (c *Choice) repeatedNames() (names []lang.Text) {
	seen := map[string]int{}
	for i := range c.Ranked {
		k := &c.Ranked[i]
		if k.Labels.GPU == "" {
			continue
		}
		key := setup.Description(k.setup.Run, lang.English)
		if seen[key]++; seen[key] == 2 {
			names = append(names, lang.Both(func(l lang.Lang) string { return setup.Title(k.setup.Run, l) }))
		}
	}
	return names
}

func (c *Choice) refused(level int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headSetup.Text(), Left: true}, {Head: headWhy.Text(), Left: true},
		{Head: headRests.Text(), Left: true, Drop: 1}}}
	for _, r := range c.Refused {
		t.Rows = append(t.Rows, []table.Cell{table.Literal(r.Name), {Text: lang.Both(r.why.text)}, table.Literal(r.Where)})
	}
	return table.Section{Title: titleRefused.Text(), Level: level, Table: t}
}

func (e *BreakEven) lines(d Demand) []lang.Text {
	var lines []lang.Text
	if e.FirstPrice.Known() {
		lines = append(lines, sayEvenPrice.Text(e.Other, e.firstGPU, money(e.FirstPrice), e.otherGPU, money(e.OtherPrice)))
	}
	if e.Below.Known() {
		lines = append(lines, sayEvenBelow.Text(e.BelowFirst, d.floorText(e.Below.Value())))
	}
	if e.Above.Known() {
		lines = append(lines, sayEvenAbove.Text(e.AboveFirst, d.amountText(e.Above.Value())))
	}
	if !e.Below.Known() && !e.Above.Known() {
		lines = append(lines, sayEvenNever.Text(d.amountText(d.Amount/demandRange), d.amountText(d.Amount*demandRange)))
	}
	return lines
}

// Money prints an amount with the currency of the prices, where that is known.
func (c *Choice) Money(f rundir.Number) string {
	return strings.TrimSpace(money(f) + " " + c.Currency)
}

// money prints an amount in whatever currency the prices were in.
func money(f rundir.Number) string {
	if !f.Known() {
		return "n/a"
	}
	return strconv.FormatFloat(f.Value(), 'f', 2, 64)
}
