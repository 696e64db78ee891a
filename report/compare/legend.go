package compare

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/report/lang"
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
