// Package plans shows plans of capacity to people: how many replicas of which server, what they cost, how often the objectives hold, and what
// breaks first.
package plans

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/plan"
)

// JSON writes the plans.
func JSON(w io.Writer, r *plan.CapacityResult) error { return table.WriteJSON(w, r) }

// Sections returns the plans for people.
func Sections(r *plan.CapacityResult, l lang.Lang) []table.Section {
	all := []table.Section{ranking(r, l)}
	for i := range r.Ranked {
		p := &r.Ranked[i]
		all = append(all, overTime(p, i, l), sizes(p, i, l))
		if len(p.WhatIfs) > 0 {
			all = append(all, whatIfs(p, i, l))
		}
	}
	if len(r.Refused) > 0 {
		all = append(all, refused(r, l))
	}
	return all
}

// ranking has a row for each plan, the cheapest first.
func ranking(r *plan.CapacityResult, l lang.Lang) table.Section {
	s := table.Section{Title: titlePlan.In(l), Level: 1, Lines: []string{
		sayDemand.In(l, r.Demand.Requests, lang.Clock(r.Demand.Seconds), short(r.Demand.Rate), short(r.Demand.Peak), r.Demand.Prompt.Mean, r.Demand.Prompt.P99, r.Demand.Output.Mean, r.Demand.Output.P99),
		sayWish.In(l, strings.Join(r.SLO, lang.ListComma.In(l)), percent(r.Minutes), percent(r.Headroom), r.Lost, router(string(r.Router), l)),
	}}
	for _, gpu := range r.PricesUnused {
		s.Lines = append(s.Lines, sayUnused.In(l, gpu, gpu))
	}
	if len(r.Ranked) == 0 {
		s.Lines = append(s.Lines, sayNone.In(l))
		return s
	}
	p := &r.Ranked[0]
	s.Lines = append(s.Lines, answer(p, r.Draws > 0, l)...)
	priced, ranges := p.Hour != nil, r.Draws > 0
	t := table.Table{Columns: rankingColumns(priced, ranges, r.Lost > 0, l)}
	for i := range r.Ranked {
		t.Rows = append(t.Rows, row(&r.Ranked[i], i, r.Lost > 0, priced, ranges, l))
	}
	s.Table = t
	s.Notes = []string{notePredicted.In(l)}
	if ranges {
		s.Notes = append(s.Notes, noteRange.In(l))
	} else {
		s.Notes = append(s.Notes, noteNoRange.In(l))
	}
	if slices.ContainsFunc(r.Ranked, func(p plan.CapacityPlan) bool { return p.Unbounded }) {
		s.Notes = append(s.Notes, noteUnbounded.In(l))
	}
	s.Notes = append(s.Notes, noteFirst.In(l))
	if r.Lost > 0 {
		s.Notes = append(s.Notes, noteLost.In(l, r.Lost))
	}
	return s
}

// rankingColumns are the columns of the ranking: those of ranges only where other servers were simulated.
func rankingColumns(priced, ranges, lost bool, l lang.Lang) []table.Column {
	var all []table.Column
	add := func(head lang.Phrase, subs ...lang.Phrase) {
		all = append(all, table.Column{Head: head.In(l)})
		if ranges {
			all = append(all, table.Column{Head: head.In(l), Sub: subRange.In(l)})
		}
		for _, sub := range subs {
			all = append(all, table.Column{Head: head.In(l), Sub: sub.In(l)})
		}
	}
	all = append(all, table.Column{Head: headRank.In(l)}, table.Column{Head: headTwin.In(l), Left: true})
	add(headReplicas, subMean)
	all = append(all, table.Column{Head: headGPUs.In(l)})
	if priced {
		add(headHour)
		add(headMonth)
	}
	add(headHeld)
	if lost {
		all = append(all, table.Column{Head: headHeldLost.In(l)})
	}
	return append(all, table.Column{Head: headFirst.In(l), Left: true}, table.Column{Head: headCheck.In(l)})
}

func row(p *plan.CapacityPlan, i int, lost, priced, ranges bool, l lang.Lang) []table.Cell {
	cells := []table.Cell{{Text: strconv.Itoa(i + 1)}, {Text: p.Name}}
	add := func(value, span string) {
		cells = append(cells, table.Cell{Text: value})
		if ranges {
			cells = append(cells, table.Cell{Text: span})
		}
	}
	add(short(p.Replicas.Value), between(p.Replicas, p.Unbounded))
	cells = append(cells, table.Cell{Text: short(p.Mean)}, table.Cell{Text: strconv.Itoa(p.GPUs)})
	if i == 0 {
		cells[1].Tone = table.Strong
	}
	if priced {
		add(short(p.Hour.Value), between(*p.Hour, p.Unbounded))
		add(short(p.Month.Value), between(*p.Month, p.Unbounded))
	}
	add(percent(p.Held.Value), percent(p.Held.Low)+" - "+percent(p.Held.High))
	if lost {
		text := lang.Absent
		if p.HeldLost != nil {
			text = percent(p.HeldLost.Value)
		}
		cells = append(cells, table.Cell{Text: text})
	}
	check := table.Cell{Text: wordUnchecked.In(l)}
	switch {
	case p.Failed:
		check = table.Cell{Text: wordFailed.In(l), Tone: table.Bad}
	case p.Check != nil:
		check.Text = percent(*p.Check)
	}
	return append(cells, table.Cell{Text: first(p, l)}, check)
}

// answer returns the recommendation. That of a twin that failed its check begins with the caution.
func answer(p *plan.CapacityPlan, ranges bool, l lang.Lang) []string {
	replicas := short(p.Replicas.Value)
	if ranges {
		replicas += lang.InParens.In(l, between(p.Replicas, p.Unbounded))
	}
	lines := []string{sayFewest.In(l, p.Name, replicas, p.GPUs)}
	if p.Hour != nil {
		lines[0] = sayCheapest.In(l, p.Name, replicas, short(p.Hour.Value), short(p.Month.Value))
	}
	if p.Failed {
		lines[0] = sayUnreliable.In(l) + lines[0]
	}
	if p.ScaleAt > 0 {
		lines = append(lines, sayScale.In(l, short(p.ScaleAt), short(p.Mean)))
	}
	if p.Extrapolated {
		lines = append(lines, sayExtrapolated.In(l))
	}
	if p.Failed {
		lines = append(lines, sayFailed.In(l))
	}
	if p.RefusedShare > 0 {
		lines = append(lines, sayRefusedShare.In(l, percent(p.RefusedShare)))
	}
	if p.LostAnswers > 0 {
		lines = append(lines, sayLostAnswers.In(l, p.LostAnswers))
	}
	return lines
}

// First is what breaks first, in a sentence.
func First(p *plan.CapacityPlan, l lang.Lang) string {
	return headFirst.In(l) + lang.Colon.In(l) + first(p, l) + lang.Stop.In(l)
}

// first is what breaks first.
func first(p *plan.CapacityPlan, l lang.Lang) string {
	if p.First.Times == 0 {
		return sayNothing.In(l)
	}
	return sayBreaks.In(l, p.First.Term, short(p.First.Times), cause(p.First.Cause, l))
}

// overTime is the table of the replicas through the time.
func overTime(p *plan.CapacityPlan, i int, l lang.Lang) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headFrom.In(l), Left: true}, {Head: "req/s"}, {Head: headReplicas.In(l), Sub: subMean.In(l)}, {Head: headReplicas.In(l), Sub: subMin.In(l)},
		{Head: headReplicas.In(l), Sub: subMax.In(l)}, {Head: headInFlight.In(l), Sub: subMean.In(l)}, {Head: headHeld.In(l)}}}
	for _, s := range p.Over {
		t.Rows = append(t.Rows, []table.Cell{{Text: clock(s.From)}, {Text: short(s.Rate)}, {Text: short(s.Mean)}, {Text: strconv.Itoa(s.Least)}, {Text: strconv.Itoa(s.Most)}, {Text: short(s.InFlight)}, {Text: percent(s.Held)}})
	}
	return table.Section{Title: titleOver.In(l, i+1, p.Name), Level: 2, Table: t}
}

// clock is the time of a day.
func clock(seconds float64) string {
	t := int(seconds / 60)
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}

// sizes is the table of the numbers of replicas that were tried.
func sizes(p *plan.CapacityPlan, i int, l lang.Lang) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headReplicas.In(l)}, {Head: headHeld.In(l)}, {Head: headEnough.In(l), Left: true}, {Head: headHour.In(l)}}}
	for _, s := range p.Sizes {
		word := wordNo
		if s.Enough {
			word = wordYes
		}
		t.Rows = append(t.Rows, []table.Cell{{Text: strconv.Itoa(s.Replicas)}, {Text: percent(s.Held)}, {Text: word.In(l)}, {Text: price(s.Hour)}})
	}
	return table.Section{Title: titleSizes.In(l, i+1, p.Name), Level: 2, Table: t, Notes: []string{noteSizes.In(l)}}
}

// whatIfs is the table of the changes.
func whatIfs(p *plan.CapacityPlan, i int, l lang.Lang) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headChange.In(l), Left: true}, {Head: headReplicas.In(l)}, {Head: headHour.In(l)}, {Head: headRemark.In(l), Left: true}}}
	for _, w := range p.WhatIfs {
		cells := []table.Cell{{Text: w.Change}, {Text: lang.Absent}, {Text: price(w.Hour)}, {}}
		if w.Replicas > 0 {
			cells[1].Text = strconv.Itoa(w.Replicas)
		}
		switch {
		case w.Refused != "":
			cells[3].Text = why(w.Refused, l)
		case w.Extrapolated:
			cells[3].Text = wordExtrapolated.In(l)
		}
		t.Rows = append(t.Rows, cells)
	}
	return table.Section{Title: titleWhatIfs.In(l, i+1, p.Name), Level: 2, Table: t, Notes: []string{noteWhatIfs.In(l, short(p.Replicas.Value))}}
}

// refused lists the twins without a plan.
func refused(r *plan.CapacityResult, l lang.Lang) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headTwin.In(l), Left: true}, {Head: headWhy.In(l), Left: true}}}
	for _, f := range r.Refused {
		t.Rows = append(t.Rows, []table.Cell{{Text: f.Name}, {Text: why(f.Why, l)}})
	}
	return table.Section{Title: titleRefused.In(l), Level: 2, Table: t}
}

// why is the reason for which a twin has no plan.
func why(code string, l lang.Lang) string {
	switch code {
	case plan.RefusedCheck:
		return whyCheck.In(l)
	case plan.RefusedMost:
		return whyMost.In(l)
	case plan.RefusedPrice:
		return whyPrice.In(l)
	}
	return choose.TwinRefusal(code, l)
}

// price is a cost that may not be known.
func price(v float64) string {
	if v == 0 {
		return lang.Absent
	}
	return short(v)
}

// between is a range; its upper end is a lower bound where open.
func between(r plan.RateRange, open bool) string {
	if open {
		return short(r.Low) + " - > " + short(r.High)
	}
	return short(r.Low) + " - " + short(r.High)
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return lang.Absent
	}
	return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + " %"
}

// short writes a number with three digits, or all digits before the point.
func short(v float64) string {
	switch {
	case v == math.Trunc(v) || math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case math.Abs(v) >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
