// Draws what canaries show: of a run by stage, of candidates against a baseline, and beside cost and speed.

package page

import (
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
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
	case rundir.FidelityDiffers, fidelity.DriftDiffers:
		b.Colour, b.Shape = changedColour, draw.Triangle
	case rundir.FidelityTies:
		b.Colour, b.Shape = tiesColour, draw.Square
	case rundir.FidelitySame:
		b.Shape = draw.Circle
	}
	return b
}

// tableOf returns the table beneath a drawing, without rows.
func tableOf(name string, title lang.Text, first lang.Phrase) *Grid {
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{{Head: first.Text(), Left: true}}}}
	for _, head := range []lang.Phrase{headAnswers, headEqual, headTies, headChanged, headUnknown} {
		t.Columns = append(t.Columns, table.Column{Head: head.Text()})
	}
	t.Columns = append(t.Columns, table.Column{Head: headVerdict.Text(), Left: true})
	return t
}

// add draws answers, and adds a row of their numbers.
func add(bars []draw.Bar, t *Grid, name lang.Text, a *rundir.Agreed, verdict lang.Text) []draw.Bar {
	if !a.Same.Mean.Known() {
		return bars
	}
	count := func(n int) table.Cell { return table.Literal(strconv.Itoa(n)) }
	t.Rows = append(t.Rows, []table.Cell{
		{Text: name}, count(a.Answers), count(a.Answers - a.Differing()), count(a.Ties), count(a.Changes), count(a.Unknown), {Text: verdict},
	})
	return append(bars, bar(name, a, len(t.Rows)))
}

// figure returns a drawing of bars.
func figure(name string, title lang.Text, bars []draw.Bar, t *Grid) FigureBlock {
	svg := draw.Forest(name, axisDiffer.Text(), bars)
	return FigureBlock{Name: name, Title: title, Note: noteShapes.Text(), Variants: []Variant{{Key: "lin", SVG: Markup(svg)}}, Table: t}
}

// AnswerStages draws how many answers of each stage differ from those got alone, beneath how many did when they were asked alone again. ok is false where
// no canary was answered twice.
func AnswerStages(run *rundir.Run) (f FigureBlock, ok bool) {
	if run.Fidelity == nil {
		return f, false
	}
	const name = "answers-by-stage"
	title := answersTitleStages.Text()
	t := tableOf(name, title, lang.HeadBenchmark)
	bars := add(nil, t, wordAgain.Text(), &run.Fidelity.Alone, lang.Text{})
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Fidelity != nil {
			bars = add(bars, t, lang.Same(findings.StageName(st)), st.Fidelity, lang.Both(func(l lang.Lang) string { return findings.Agreed(st.Fidelity, l) }))
		}
	}
	if len(bars) == 0 {
		return f, false
	}
	return figure(name, title, bars, t), true
}

// CandidatePlots draws how many answers of candidates differ from those of the baseline, beneath how many of its own do when it is asked again.
func CandidatePlots(all []compare.AnswerCandidate) (f FigureBlock, ok bool) {
	if len(all) == 0 {
		return f, false
	}
	const name = "answers-by-candidate"
	title := titleCandidates.Text(all[0].Baseline)
	t := tableOf(name, title, headSetup)
	bars := add(nil, t, lang.Same(all[0].Baseline+" ").Plus(wordAgain.Text()), &all[0].Null[0], lang.Text{})
	for i := range all {
		c := &all[i]
		bars = add(bars, t, lang.Same(c.Setup), &c.Alone, lang.Both(func(l lang.Lang) string { return compare.AnswerVerdict(c.Verdict, l) }))
	}
	if len(bars) == 0 {
		return f, false
	}
	return figure(name, title, bars, t), true
}

// FrontPlot draws what configurations cost, or give for a GPU where nothing has a price, against how many of their answers are the baseline's. The table has
// their speed too.
func FrontPlot(name string, points []choose.DriftPoint) (f FigureBlock, ok bool) {
	if len(points) < 2 {
		return f, false
	}
	priced := true
	for i := range points {
		priced = priced && points[i].Cost.Known()
	}
	title, x := titleFront.Text(), answersAxisPerGPU.Text()
	if priced {
		x = axisCost.Text()
	}
	panel := draw.Panel{Y: draw.Axis{Label: axisEqual.Text(), Format: draw.Share}, Height: 220}
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{
		{Head: headSetup.Text(), Left: true}, {Head: x}, {Head: answersAxisPerUser.Text()}, {Head: axisEqual.Text()}, {Head: answersHeadFront.Text(), Left: true},
	}}}
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
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(p.Name), table.Number(rundir.Exactly(at), "", lang.Short), table.Number(rundir.Exactly(p.PerUser), "", lang.Short), table.Literal(p.Equal()), {Text: front},
		})
		panel.Series = append(panel.Series, draw.Series{
			Key: "d" + strconv.Itoa(i), Name: lang.Same(p.Name), Colour: i, Style: draw.Loose,
			Points: []draw.Point{{X: at, Y: p.Match.Value(), Shape: shape, Row: i + 1}},
		})
	}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: x, Format: draw.Number}, Panels: []draw.Panel{panel}}
	return FigureBlock{Name: name, Title: title, Note: answersNoteFront.Text(), Variants: PlotVariants(fig, false, false), Table: t}, true
}
