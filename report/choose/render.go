package choose

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// JSON writes choices, indented.
func JSON(w io.Writer, all []Choice) error {
	return table.WriteJSON(w, all)
}

// Sections returns a choice as sections of a report. Level is the level of its heading in Markdown.
func (c *Choice) Sections(l lang.Lang, level int) []table.Section {
	wish := sayWish.In(l, strings.Join(c.SLO, comma.In(l)), c.Demand, trim(100*c.Headroom))
	if c.MaxGPUs > 0 {
		wish += sayMaxGPUs.In(l, GPUs(c.MaxGPUs, l))
	}
	wish += c.wanted(l)
	head := table.Section{Title: titleChoice.In(l, cmp.Or(c.Model, wordUnnamed.In(l)), compare.Workload(c.asked, l)), Level: level, Lines: append([]string{wish}, c.answer(l)...)}
	if len(c.Ranked) > 0 {
		head.Table, head.Notes = c.table(l), c.notes(l)
	}
	all := []table.Section{head}
	if len(c.Refused) > 0 {
		all = append(all, c.refused(l, level+1))
	}
	if lines := c.changing(l); len(lines) > 0 {
		all = append(all, table.Section{Title: titleChanging.In(l), Level: level + 1, Lines: lines})
	}
	if len(c.FrontSpeed) > 0 {
		all = append(all, c.front(l, level+1))
	}
	if len(c.FrontDrift) > 0 {
		all = append(all, c.drifts(l, level+1))
	}
	if len(c.Marked) > 0 {
		s := table.Section{Title: titleMarked.In(l), Level: level + 1}
		for _, o := range c.Marked {
			s.Lines = append(s.Lines, fmt.Sprintf("%s (%s, %s): %s", o.Where, o.Setup, o.Row, o.Grade.In(l)+lang.Colon.In(l)+o.Because(l)))
		}
		all = append(all, s)
	}
	if len(c.LeftOut) > 0 {
		all = append(all, c.leftOut(l, level+1))
	}
	return all
}

// answer returns the recommendation in one or two sentences.
func (c *Choice) answer(l lang.Lang) []string {
	if len(c.Ranked) == 0 {
		return []string{sayNone.In(l)}
	}
	k := &c.Ranked[0]
	what := sayFewest.In(l, k.Name, Replicas(k.Replicas, l), GPUs(k.GPUs, l))
	if c.Priced {
		what = sayCheapest.In(l, k.Name, Replicas(k.Replicas, l), GPUs(k.GPUs, l), money(k.Hour), money(k.Month))
	}
	lines := []string{what, sayRests.In(l, fmt.Sprintf("%.2f", k.Rate), limitedBy(k.limit).in(l), k.Where)}
	lines = append(lines, c.Beside(l)...)
	if k.Quantized() && len(c.Answers) == 0 {
		lines = append(lines, sayQuantized.In(l, k.Labels.Quant))
	}
	return lines
}

// Beside returns sentences to stand beside the first configuration: which others cost the same, and up to which demand one replica less is
// enough. There must be a first one.
func (c *Choice) Beside(l lang.Lang) []string {
	var lines []string
	k := &c.Ranked[0]
	if same := c.tied(l); same != "" {
		lines = append(lines, same)
	}
	if p := k.Predicted; p != nil {
		lines = append(lines, sayPredicted.In(l, p.Twin, offBy(p, l), k.Between[0], k.Between[1]))
	}
	if k.Predicted == nil && k.Between[0] != k.Between[1] {
		lines = append(lines, sayBetween.In(l, fmt.Sprintf("%.2f", k.RateLow.Value()), fmt.Sprintf("%.2f", k.RateHigh.Value()), k.Between[0], k.Between[1]))
	}
	if k.Replicas > 1 {
		less := float64(k.Replicas-1) / float64(k.Replicas) * k.Carries * (1 - c.Headroom)
		lines = append(lines, sayOneLess.In(l, fmt.Sprintf("%.2f %s", less, c.unit())))
	}
	return lines
}

// tied returns the names of the candidates that cost as much as the first, or take as many GPUs where nothing has a price.
func (c *Choice) tied(l lang.Lang) string {
	var names []string
	first := c.Ranked[0]
	for _, k := range c.Ranked[1:] {
		if k.GPUs == first.GPUs && (!c.Priced || sameCost(k, first)) {
			names = append(names, k.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	say := sayTied
	if !c.Priced {
		say = sayTiedGPUs
	}
	return say.In(l, fmt.Sprintf("%.2f %s", first.Carries, c.unit()), strings.Join(names, semicolon.In(l)))
}

// table returns a table with a row for each candidate, the best first.
func (c *Choice) table(l lang.Lang) table.Table {
	heads := []table.Column{
		{Head: headRank.In(l)}, {Head: headSetup.In(l), Left: true}, {Head: headRate.In(l), Sub: "req/s"}, {Head: headOutput.In(l), Sub: "tok/s"},
		{Head: headAnswer.In(l), Sub: "tok"}, {Head: "TTFT"}, {Head: "ITL"}, {Head: headReplicas.In(l)}, {Head: headGPUs.In(l)},
		{Head: headCarries.In(l), Sub: c.unit()},
	}
	predicted := c.anyPredicted()
	if predicted {
		heads = append(heads, table.Column{Head: headBetween.In(l), Sub: subBetween.In(l)}, table.Column{Head: headBasis.In(l), Left: true})
	}
	if c.Priced {
		heads = append(heads, table.Column{Head: headCost.In(l), Sub: subHour.In(l)}, table.Column{Head: headCost.In(l), Sub: subMonth.In(l)},
			table.Column{Head: headMillion.In(l), Sub: subDemand.In(l)}, table.Column{Head: headMillion.In(l), Sub: subSLO.In(l)}, table.Column{Head: headMillion.In(l), Sub: subSaturation.In(l)})
	}
	heads = append(heads, table.Column{Head: headLimit.In(l), Left: true}, table.Column{Head: headRests.In(l), Left: true})
	t := table.Table{Columns: heads}
	for i := range c.Ranked {
		k := &c.Ranked[i]
		name := table.Cell{Text: k.Name}
		if i == 0 {
			name.Tone = table.Strong
		}
		row := []table.Cell{
			{Text: strconv.Itoa(i + 1)}, name, {Text: fmt.Sprintf("%.2f", k.Rate)}, table.Number(k.Output, "", lang.Fixed(0)),
			table.Number(k.answer(), "", lang.Fixed(0)),
			table.Seconds(k.TTFT), table.Seconds(k.ITL), {Text: strconv.Itoa(k.Replicas)}, {Text: strconv.Itoa(k.GPUs)},
			{Text: fmt.Sprintf("%.2f", k.Carries)},
		}
		if predicted {
			row = append(row, k.basis(l)...)
		}
		if c.Priced {
			row = append(row, table.Number(k.Hour, "", lang.Fixed(2)), table.Number(k.Month, "", lang.Fixed(0)), table.Number(k.MillionDemand, "", lang.Fixed(3)), table.Number(k.MillionSLO, "", lang.Fixed(3)), table.Number(k.MillionSaturation, "", lang.Fixed(3)))
		}
		t.Rows = append(t.Rows, append(row, table.Cell{Text: limitedBy(k.limit).in(l)}, table.Cell{Text: k.Where}))
	}
	return t
}

// answer returns the mean length of an answer in tokens.
func (k *Candidate) answer() rundir.Number {
	if !k.Output.Known() || k.Rate <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(k.Output.Value() / k.Rate)
}

// uneven reports whether answers were not equally long, by more than an end token or two.
func (c *Choice) uneven() bool {
	low, high := math.Inf(1), 0.0
	for i := range c.Ranked {
		if v := c.Ranked[i].answer(); v.Known() {
			low, high = min(low, v.Value()), max(high, v.Value())
		}
	}
	return high > 1.1*low
}

func (c *Choice) notes(l lang.Lang) []string {
	notes := []string{legendReplica.In(l, trim(100*c.Headroom))}
	if c.Priced {
		notes = append(notes, legendMillion.In(l))
	} else {
		notes = append(notes, legendUnpriced.In(l))
	}
	if c.anyPredicted() {
		notes = append(notes, legendPredicted.In(l, MarkPredicted))
	}
	if c.uneven() {
		notes = append(notes, legendUneven.In(l))
	}
	for _, name := range c.repeated() {
		notes = append(notes, legendRepeated.In(l, name))
	}
	if len(c.FrontCost) > 0 {
		notes = append(notes, sayFrontCost.In(l, strings.Join(c.FrontCost, semicolon.In(l))))
	}
	return append(notes, legendReplicas.In(l))
}

// repeated returns the names of configurations that several of the ranked results measured.
func (c *Choice) repeated() (names []string) {
	seen := map[string]int{}
	for i := range c.Ranked {
		k := &c.Ranked[i]
		if k.Labels.GPU == "" || k.Predicted != nil {
			continue
		}
		name := setup.Title(k.setup.Run)
		if seen[name]++; seen[name] == 2 {
			names = append(names, name)
		}
	}
	return names
}

// refused returns a table of the configurations that do not meet the demand, with reasons.
func (c *Choice) refused(l lang.Lang, level int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headSetup.In(l), Left: true}, {Head: headWhy.In(l), Left: true}, {Head: headRests.In(l), Left: true}}}
	for _, r := range c.Refused {
		t.Rows = append(t.Rows, []table.Cell{{Text: r.Name}, {Text: r.why.in(l)}, {Text: r.Where}})
	}
	return table.Section{Title: titleRefused.In(l), Level: level, Table: t}
}

// changing returns where the first two cost the same, and what would put another first.
func (c *Choice) changing(l lang.Lang) []string {
	var lines []string
	if e := c.BreakEven; e != nil {
		lines = append(lines, e.lines(l, c.unit())...)
	}
	var steady []string
	for _, s := range c.Sensitive {
		if s.Lower.Known() {
			lines = append(lines, s.line(l, c.unit(), sayBelow, sayBelowNone, s.Lower, s.Then))
		}
		if s.Upper.Known() {
			lines = append(lines, s.line(l, c.unit(), sayAbove, sayAboveNone, s.Upper, s.Else))
		}
		if !s.Lower.Known() && !s.Upper.Known() {
			steady = append(steady, s.name(l))
		}
	}
	if len(steady) > 0 {
		lines = append(lines, saySteady.In(l, strings.Join(steady, comma.In(l))))
	}
	return lines
}

// unit returns the unit of the demand.
func (c *Choice) unit() string { return strings.TrimLeft(c.Demand, "0123456789.") }

func (e *BreakEven) lines(l lang.Lang, unit string) []string {
	var lines []string
	if e.FirstPrice.Known() {
		lines = append(lines, sayEvenPrice.In(l, e.Second, e.firstGPU, money(e.FirstPrice), e.secondGPU, money(e.SecondPrice)))
	}
	amount := func(f rundir.Number) string { return fmt.Sprintf("%.2f %s", f.Value(), unit) }
	switch {
	case e.Above.Known() && e.Below.Known():
		lines = append(lines, sayEvenBoth.In(l, e.Second, amount(e.Below), amount(e.Above)))
	case e.Above.Known():
		lines = append(lines, sayEvenAbove.In(l, e.Second, amount(e.Above)))
	case e.Below.Known():
		lines = append(lines, sayEvenBelow.In(l, e.Second, amount(e.Below)))
	default:
		lines = append(lines, sayEvenNever.In(l, e.Second))
	}
	return lines
}

// name returns the quantity that changes, in words.
func (s Sensitivity) name(l lang.Lang) string {
	if gpu, ok := strings.CutPrefix(s.What, "price "); ok {
		return wordPrice.In(l, gpu)
	}
	if s.What == "demand" {
		return wordDemand.In(l)
	}
	return s.What
}

func (s Sensitivity) line(l lang.Lang, unit string, say, none lang.Phrase, at rundir.Number, then string) string {
	amount := func(v float64) string {
		if strings.HasPrefix(s.What, "price ") {
			return money(rundir.Exactly(v))
		}
		if s.What == "demand" {
			return fmt.Sprintf("%.2f %s", v, unit)
		}
		metric, _, _ := strings.Cut(s.What, ":")
		return slo.Term{Metric: metric}.Amount(v)
	}
	if then == "" {
		return none.In(l, s.name(l), amount(at.Value()), amount(s.Now))
	}
	return say.In(l, s.name(l), amount(at.Value()), amount(s.Now), then)
}

// front returns a table of the Pareto front of rows.
func (c *Choice) front(l lang.Lang, level int) table.Section {
	t := table.Table{Columns: []table.Column{
		{Head: headSetup.In(l), Left: true}, {Head: headPerUser.In(l), Sub: "tok/s"}, {Head: headPerGPU.In(l), Sub: "tok/s"}, {Head: headRests.In(l), Left: true},
	}}
	for _, p := range c.FrontSpeed {
		t.Rows = append(t.Rows, []table.Cell{{Text: p.Name}, {Text: fmt.Sprintf("%.1f", p.PerUser)}, {Text: fmt.Sprintf("%.1f", p.PerGPU)}, {Text: p.Where}})
	}
	return table.Section{Title: titleFront.In(l), Level: level, Lines: []string{sayFront.In(l)}, Table: t}
}

func (c *Choice) leftOut(l lang.Lang, level int) table.Section {
	s := table.Section{Title: titleLeftOut.In(l), Level: level}
	for _, o := range c.LeftOut {
		s.Lines = append(s.Lines, o.Where+" ("+o.Setup+", "+o.Row+")"+lang.Colon.In(l)+o.Because(l))
	}
	return s
}

// money prints an amount in whatever currency the prices were in.
func money(f rundir.Number) string {
	if !f.Known() {
		return "n/a"
	}
	return strconv.FormatFloat(f.Value(), 'f', 2, 64)
}

func trim(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
