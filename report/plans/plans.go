// Package plans shows plans of capacity to people: how many replicas of which server, what they cost, how often the objectives hold, and what
// breaks first.
package plans

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/plan"
)

// JSON writes the plans.
func JSON(w io.Writer, r *plan.CapacityResult) error { return table.WriteJSON(w, r) }

// Sections returns the plans for people.
func Sections(r *plan.CapacityResult) []table.Section {
	all := []table.Section{ranking(r)}
	for i := range r.Ranked {
		p := &r.Ranked[i]
		all = append(all, overTime(p, i), sizes(p, i))
		if len(p.WhatIfs) > 0 {
			all = append(all, whatIfs(p, i))
		}
	}
	if len(r.Refused) > 0 {
		all = append(all, refused(r))
	}
	return all
}

// ranking has a row for each plan, the cheapest first.
func ranking(r *plan.CapacityResult) table.Section {
	s := table.Section{Title: titlePlan.Text(), Level: 1}
	asked := []lang.Text{sayDemand.Text(r.Demand.Requests, lang.Clock(r.Demand.Seconds), short(r.Demand.Rate), short(r.Demand.Peak), r.Demand.Prompt.Mean, r.Demand.Prompt.P99, r.Demand.Output.Mean, r.Demand.Output.P99), sayWish.Text(lang.ListComma.Join(r.SLO), percent(r.Minutes), percent(r.Headroom), r.Lost, lang.Both(func(l lang.Lang) string { return router(string(r.Router), l) }))}
	for _, gpu := range r.PricesUnused {
		asked = append(asked, sayUnused.Text(gpu, gpu))
	}
	if len(r.Ranked) == 0 {
		s.Lines = append([]lang.Text{sayNone.Text()}, asked...)
		return s
	}
	p := &r.Ranked[0]
	s.Lines = append(answer(p, r.Draws > 0), asked...)
	priced, ranges := p.Hour != nil, r.Draws > 0
	t := table.Table{Columns: rankingColumns(priced, ranges, r.Lost > 0)}
	for i := range r.Ranked {
		t.Rows = append(t.Rows, row(&r.Ranked[i], i, r.Lost > 0, priced, ranges))
	}
	s.Table = t
	s.Notes = []lang.Text{notePredicted.Text()}
	if ranges {
		s.Notes = append(s.Notes, noteRange.Text())
	} else {
		s.Notes = append(s.Notes, noteNoRange.Text())
	}
	if slices.ContainsFunc(r.Ranked, func(p plan.CapacityPlan) bool { return p.Unbounded }) {
		s.Notes = append(s.Notes, noteUnbounded.Text())
	}
	s.Details = []lang.Text{noteFirst.Text()}
	if r.Lost > 0 {
		s.Details = append(s.Details, noteLost.Text(r.Lost))
	}
	return s
}

// rankingColumns are the columns of the ranking: those of ranges only where other servers were simulated.
func rankingColumns(priced, ranges, lost bool) []table.Column {
	var all []table.Column
	add := func(head lang.Phrase, drop int, subs ...lang.Phrase) {
		all = append(all, table.Column{Head: head.Text()})
		if ranges {
			all = append(all, table.Column{Head: head.Text(), Sub: subRange.Text(), Drop: drop})
		}
		for _, sub := range subs {
			all = append(all, table.Column{Head: head.Text(), Sub: sub.Text(), Drop: drop})
		}
	}
	all = append(all, table.Column{Head: headRank.Text()}, table.Column{Head: headTwin.Text(), Left: true})
	add(headReplicas, 3, subMean)
	all = append(all, table.Column{Head: headGPUs.Text()})
	if priced {
		add(headHour, 2)
		add(headMonth, 1)
	}
	add(headHeld, 1)
	if lost {
		all = append(all, table.Column{Head: headHeldLost.Text()})
	}
	return append(all, table.Column{Head: headFirst.Text(), Left: true, Drop: 4}, table.Column{Head: headCheck.Text()})
}

func row(p *plan.CapacityPlan, i int, lost, priced, ranges bool) []table.Cell {
	cells := []table.Cell{table.Literal(strconv.Itoa(i + 1)), table.Literal(p.Name)}
	add := func(value, span string) {
		cells = append(cells, table.Literal(value))
		if ranges {
			cells = append(cells, table.Literal(span))
		}
	}
	add(short(p.Replicas.Value), between(p.Replicas, p.Unbounded))
	cells = append(cells, table.Literal(short(p.Mean)), table.Literal(strconv.Itoa(p.GPUs)))
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
		cells = append(cells, table.Literal(text))
	}
	check := table.Cell{Text: wordUnchecked.Text()}
	switch {
	case p.Failed:
		check = table.Cell{Text: wordFailed.Text(), Tone: table.Bad}
	case p.Check != nil:
		check.Text = lang.Same(percent(*p.Check))
	}
	return append(cells, table.Cell{Text: lang.Both(func(l lang.Lang) string { return first(p, l) })}, check)
}

// answer returns the recommendation. That of a twin that failed its check begins with the caution.
func answer(p *plan.CapacityPlan, ranges bool) []lang.Text {
	replicas := lang.Same(short(p.Replicas.Value))
	if ranges {
		replicas = replicas.Plus(lang.InParens.Text(between(p.Replicas, p.Unbounded)))
	}
	lines := []lang.Text{sayFewest.Text(p.Name, replicas, p.GPUs)}
	if p.Hour != nil {
		lines[0] = sayCheapest.Text(p.Name, replicas, short(p.Hour.Value), short(p.Month.Value))
	}
	if p.Failed {
		lines[0] = sayUnreliable.Text().Plus(lines[0])
	}
	if p.ScaleAt > 0 {
		lines = append(lines, sayScale.Text(short(p.ScaleAt), short(p.Mean)))
	}
	if p.Extrapolated {
		lines = append(lines, sayExtrapolated.Text())
	}
	if p.Failed {
		lines = append(lines, sayFailed.Text())
	}
	if p.RefusedShare > 0 {
		lines = append(lines, sayRefusedShare.Text(percent(p.RefusedShare)))
	}
	if p.LostAnswers > 0 {
		lines = append(lines, sayLostAnswers.Text(p.LostAnswers))
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
func overTime(p *plan.CapacityPlan, i int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headFrom.Text(), Left: true}, {Head: lang.Same("req/s")}, {Head: headReplicas.Text(), Sub: subMean.Text()}, {Head: headReplicas.Text(), Sub: subMin.Text()},
		{Head: headReplicas.Text(), Sub: subMax.Text()}, {Head: headInFlight.Text(), Sub: subMean.Text()}, {Head: headHeld.Text()}}}
	for _, s := range p.Over {
		t.Rows = append(t.Rows, []table.Cell{table.Literal(clock(s.From)), table.Literal(short(s.Rate)), table.Literal(short(s.Mean)), table.Literal(strconv.Itoa(s.Least)), table.Literal(strconv.Itoa(s.Most)), table.Literal(short(s.InFlight)), table.Literal(percent(s.Held))})
	}
	return table.Section{Title: titleOver.Text(i+1, p.Name), Level: 2, Table: t, Rest: true}
}

// clock is the time of a day.
func clock(seconds float64) string {
	t := int(seconds / 60)
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}

// sizes is the table of the numbers of replicas that were tried.
func sizes(p *plan.CapacityPlan, i int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headReplicas.Text()}, {Head: headHeld.Text()}, {Head: headEnough.Text(), Left: true}, {Head: headHour.Text()}}}
	for _, s := range p.Sizes {
		word := wordNo
		if s.Enough {
			word = wordYes
		}
		t.Rows = append(t.Rows, []table.Cell{table.Literal(strconv.Itoa(s.Replicas)), table.Literal(percent(s.Held)), {Text: word.Text()}, table.Literal(price(s.Hour))})
	}
	return table.Section{Title: titleSizes.Text(i+1, p.Name), Level: 2, Table: t, Notes: []lang.Text{noteSizes.Text()}, Rest: true}
}

// whatIfs is the table of the changes.
func whatIfs(p *plan.CapacityPlan, i int) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headChange.Text(), Left: true}, {Head: headReplicas.Text()}, {Head: headHour.Text()}, {Head: headRemark.Text(), Left: true}}}
	for _, w := range p.WhatIfs {
		cells := []table.Cell{table.Literal(w.Change), table.Literal(lang.Absent), table.Literal(price(w.Hour)), {}}
		if w.Replicas > 0 {
			cells[1].Text = lang.Same(strconv.Itoa(w.Replicas))
		}
		switch {
		case w.Refused != "":
			cells[3].Text = lang.Both(func(l lang.Lang) string { return why(w.Refused, l) })
		case w.Extrapolated:
			cells[3].Text = wordExtrapolated.Text()
		}
		t.Rows = append(t.Rows, cells)
	}
	return table.Section{Title: titleWhatIfs.Text(i+1, p.Name), Level: 2, Table: t, Notes: []lang.Text{noteWhatIfs.Text(short(p.Replicas.Value))}}
}

// refused lists the twins without a plan.
func refused(r *plan.CapacityResult) table.Section {
	t := table.Table{Columns: []table.Column{{Head: headTwin.Text(), Left: true}, {Head: headWhy.Text(), Left: true}}}
	for _, f := range r.Refused {
		t.Rows = append(t.Rows, []table.Cell{table.Literal(f.Name), {Text: lang.Both(func(l lang.Lang) string { return why(f.Why, l) })}})
	}
	return table.Section{Title: titleRefused.Text(), Level: 2, Table: t}
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
