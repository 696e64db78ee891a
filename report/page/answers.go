// Draws what canaries show: of a run by stage, of candidates against a baseline, and beside cost and speed.

package page

import (
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Colours of the drawings, by what is shown.
const (
	plainColour   = 6
	changedColour = 1
	tiesColour    = 3
)

// checkedBar draws what a check of answers found. name is its line's.
func checkedBar(name lang.Text, c findings.Checked, row int) draw.Bar {
	b := draw.Bar{
		Name: name, At: c.Change.Mean.Value(), Low: c.Change.Low.Value(), High: c.Change.High.Value(), Colour: plainColour, Shape: draw.Ring, Row: row,
		Value: lang.Same(c.Value),
	}
	switch c.Outcome {
	case findings.Changed, findings.LessRight:
		b.Colour, b.Shape = changedColour, draw.Triangle
	case findings.Tied:
		b.Colour, b.Shape = tiesColour, draw.Square
	case findings.Unchanged, findings.MoreRight:
		b.Shape = draw.Circle
	}
	return b
}

// checkedFigure returns the drawing of a check of answers; ok is false where there is nothing to draw.
func checkedFigure(t *Grid, axis, note lang.Phrase, bars []draw.Bar) (f FigureBlock, ok bool) {
	if len(bars) == 0 {
		return f, false
	}
	name := strings.TrimPrefix(t.Name, "t-")
	svg := draw.Forest(name, axis.Text(), bars)
	return FigureBlock{Name: name, Title: t.Title, Note: note.Text(), Variants: []Variant{{Key: "lin", SVG: markup(svg)}}, Table: t}, true
}

// checkedTable returns the table beneath a drawing, without rows.
func checkedTable(name string, title lang.Text, first lang.Phrase, counts ...lang.Phrase) *Grid {
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{{Head: first.Text(), Left: true}}}}
	for _, head := range counts {
		t.Columns = append(t.Columns, table.Column{Head: head.Text()})
	}
	return t
}

// agreedTable returns the table of answers to canaries, without rows.
func agreedTable(name string, title lang.Text, first lang.Phrase) *Grid {
	t := checkedTable(name, title, first, headAnswers, headEqual, headTies, headChanged, headUnknown)
	t.Columns = append(t.Columns, table.Column{Head: headVerdict.Text(), Left: true})
	return t
}

// add draws answers, and adds a row of their numbers.
func add(bars []draw.Bar, t *Grid, name lang.Text, a *rundir.Agreed, verdict lang.Text) []draw.Bar {
	if !a.Same.Mean.Known() {
		return bars
	}
	t.Add(table.Cell{Text: name}, table.Count(a.Answers), table.Count(a.Answers-a.Differing()), table.Count(a.Ties), table.Count(a.Changes), table.Count(a.Unknown),
		table.Cell{Text: verdict})
	return append(bars, checkedBar(name, findings.CheckedAgreed(a), len(t.Rows)))
}

// answerStages draws how many answers of each stage differ from those got alone, beneath how many did when they were asked alone again. ok is false where
// no canary was answered twice.
func answerStages(run *rundir.Run) (f FigureBlock, ok bool) {
	if run.Fidelity == nil {
		return f, false
	}
	t := agreedTable("answers-by-stage", answersTitleStages.Text(), lang.HeadBenchmark)
	bars := add(nil, t, wordAgain.Text(), &run.Fidelity.Alone, lang.Text{})
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Fidelity != nil {
			bars = add(bars, t, lang.Same(findings.StageName(st)), st.Fidelity, findings.CheckedAgreed(st.Fidelity).Cell().Text)
		}
	}
	return checkedFigure(t, axisDiffer, noteShapes, bars)
}

// candidatePlots draws how many answers of candidates differ from those of the baseline, beneath how many of its own do when it is asked again.
func candidatePlots(all []compare.AnswerCandidate) (f FigureBlock, ok bool) {
	if len(all) == 0 {
		return f, false
	}
	t := agreedTable("answers-by-candidate", titleCandidates.Text(all[0].Baseline), headSetup)
	bars := add(nil, t, lang.Same(all[0].Baseline+" ").Plus(wordAgain.Text()), &all[0].Null[0], lang.Text{})
	for i := range all {
		c := &all[i]
		bars = add(bars, t, lang.Same(c.Setup), &c.Alone, findings.AgreedOutcome(c.Verdict).Verdict().Text)
	}
	return checkedFigure(t, axisDiffer, noteShapes, bars)
}

// frontPlot draws what configurations cost, or give for a GPU where nothing has a price, against how many of their answers are the baseline's. The table has
// their speed too.
func frontPlot(name string, points []choose.DriftPoint) (f FigureBlock, ok bool) {
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
