// Package answers draws what canaries show: of a run by stage, of candidates against a baseline, and beside cost and speed.
package answers

import (
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/compare/answers"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/page/layout"
	"llmsweep/report/page/plots"
	"llmsweep/report/stages"
	"llmsweep/sweep/fidelity/drift"
	"llmsweep/sweep/rundir"
)

// Colours of the drawings, by what is shown.
const (
	plainColour   = 6
	changedColour = 1
	tiesColour    = 3
)

// bar draws the share of the answers that differ. name is its line's.
func bar(name lang.Text, a *rundir.Agreed, row int) draw.Bar {
	b := draw.Bar{
		Name: name, At: 1 - a.Same.Mean.Value(), Low: 1 - a.Same.High.Value(), High: 1 - a.Same.Low.Value(), Colour: plainColour, Shape: draw.Ring, Row: row,
		Value: lang.Same(lang.Percent(1 - a.Same.Mean.Value())),
	}
	switch a.Verdict {
	case rundir.FidelityDiffers, drift.Differs:
		b.Colour, b.Shape = changedColour, draw.Triangle
	case rundir.FidelityTies:
		b.Colour, b.Shape = tiesColour, draw.Square
	case rundir.FidelitySame:
		b.Shape = draw.Circle
	}
	return b
}

// tableOf returns the table beneath a drawing, without rows.
func tableOf(name string, title lang.Text, first lang.Phrase) *layout.Table {
	t := &layout.Table{Name: "t-" + name, Title: title, Columns: []layout.Column{{Head: first.Text(), Left: true}}}
	for _, head := range []lang.Phrase{headAnswers, headEqual, headTies, headChanged, headUnknown} {
		t.Columns = append(t.Columns, layout.Column{Head: head.Text()})
	}
	t.Columns = append(t.Columns, layout.Column{Head: headVerdict.Text(), Left: true})
	return t
}

// add draws answers, and adds a row of their numbers.
func add(bars []draw.Bar, t *layout.Table, name lang.Text, a *rundir.Agreed, verdict lang.Text) []draw.Bar {
	if !a.Same.Mean.Known() {
		return bars
	}
	count := func(n int) layout.Cell { return layout.Plain(strconv.Itoa(n)) }
	t.Rows = append(t.Rows, layout.Row{Cells: []layout.Cell{
		{Text: name}, count(a.Answers), count(a.Answers - a.Differing()), count(a.Ties), count(a.Changes), count(a.Unknown), {Text: verdict},
	}})
	return append(bars, bar(name, a, len(t.Rows)))
}

// figure returns a drawing of bars.
func figure(name string, title lang.Text, bars []draw.Bar, t *layout.Table) layout.Figure {
	svg := draw.Forest(name, axisDiffer.Text(), bars)
	return layout.Figure{Name: name, Title: title, Note: noteShapes.Text(), Variants: []layout.Variant{{Key: "lin", SVG: layout.Markup(svg)}}, Table: t}
}

// Stages draws how many answers of each stage differ from those got alone, beneath how many did when they were asked alone again. ok is false where
// no canary was answered twice.
func Stages(run *rundir.Run) (f layout.Figure, ok bool) {
	if run.Fidelity == nil {
		return f, false
	}
	const name = "answers-by-stage"
	title := titleStages.Text()
	t := tableOf(name, title, lang.HeadBenchmark)
	bars := add(nil, t, wordAgain.Text(), &run.Fidelity.Alone, lang.Text{})
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Fidelity != nil {
			bars = add(bars, t, lang.Same(stages.Name(st)), st.Fidelity, lang.Both(func(l lang.Lang) string { return findings.Agreed(st.Fidelity, l) }))
		}
	}
	if len(bars) == 0 {
		return f, false
	}
	return figure(name, title, bars, t), true
}

// Candidates draws how many answers of candidates differ from those of the baseline, beneath how many of its own do when it is asked again.
func Candidates(all []answers.Candidate) (f layout.Figure, ok bool) {
	if len(all) == 0 {
		return f, false
	}
	const name = "answers-by-candidate"
	title := titleCandidates.Text(all[0].Baseline)
	t := tableOf(name, title, headSetup)
	bars := add(nil, t, lang.Same(all[0].Baseline+" ").Plus(wordAgain.Text()), &all[0].Null[0], lang.Text{})
	for i := range all {
		c := &all[i]
		bars = add(bars, t, lang.Same(c.Setup), &c.Alone, lang.Both(func(l lang.Lang) string { return answers.Verdict(c.Verdict, l) }))
	}
	if len(bars) == 0 {
		return f, false
	}
	return figure(name, title, bars, t), true
}

// Front draws what configurations cost, or give for a GPU where nothing has a price, against how many of their answers are the baseline's. The table has
// their speed too.
func Front(name string, points []choose.DriftPoint) (f layout.Figure, ok bool) {
	if len(points) < 2 {
		return f, false
	}
	priced := true
	for i := range points {
		priced = priced && points[i].Cost.Known()
	}
	title, x := titleFront.Text(), axisPerGPU.Text()
	if priced {
		x = axisCost.Text()
	}
	panel := draw.Panel{Y: draw.Axis{Label: axisEqual.Text(), Format: draw.Share}, Height: 220}
	t := &layout.Table{Name: "t-" + name, Title: title, Columns: []layout.Column{
		{Head: headSetup.Text(), Left: true}, {Head: x}, {Head: axisPerUser.Text()}, {Head: axisEqual.Text()}, {Head: headFront.Text(), Left: true},
	}}
	for i := range points {
		p := &points[i]
		at := p.PerGPU
		if priced {
			at = p.Cost.Value()
		}
		shape, front := draw.Ring, lang.Text{}
		if p.Front {
			shape, front = draw.Circle, wordFront.Text()
		}
		t.Rows = append(t.Rows, layout.Row{Cells: []layout.Cell{
			layout.Plain(p.Name), layout.Number(rundir.Exactly(at), lang.Short), layout.Number(rundir.Exactly(p.PerUser), lang.Short), layout.Plain(p.Equal()), {Text: front},
		}})
		panel.Series = append(panel.Series, draw.Series{
			Key: "d" + strconv.Itoa(i), Name: lang.Same(p.Name), Colour: i, Style: draw.Loose,
			Points: []draw.Point{{X: at, Y: p.Match.Value(), Shape: shape, Row: i + 1}},
		})
	}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: x, Format: draw.Number}, Panels: []draw.Panel{panel}}
	return layout.Figure{Name: name, Title: title, Note: noteFront.Text(), Variants: plots.Variants(fig, false, false), Table: t}, true
}
