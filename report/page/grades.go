package page

import (
	"strconv"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var (
	titleGrades           = lang.Say("Accuracy by stage, against alone", "各阶段与单独询问时的正确率之差")
	answersAxisDifference = lang.Say("difference in accuracy on the same questions, with its 95 %% interval", "相同问题上的正确率之差，附 95 %% 区间")
	headRight             = lang.Say("right", "正确")
	headAccuracy          = lang.Say("accuracy", "正确率")
	answersHeadDifference = lang.Say("difference, points", "差异，百分点")
	headLost              = lang.Say("lost", "变差")
	headGained            = lang.Say("gained", "变好")
	headNone              = lang.Say("without a result", "无结果")
	headCut               = lang.Say("cut", "被截断")
	headFailed            = lang.Say("failed", "失败")
	wordAlone             = lang.Say("alone", "单独询问")
	noteGrades            = lang.Say("Triangles: answers are less often right than alone. Filled circles: as often right. Rings: undecided.", "三角：正确率低于单独询问时。实心圆：一致。空心圆：未定。")
)

// GradePlots draws how much more or less often the answers of each stage are right than alone. ok is false where none was graded.
func GradePlots(run *rundir.Run) (f FigureBlock, ok bool) {
	if run.Grades == nil {
		return f, false
	}
	const name = "accuracy-by-stage"
	title := titleGrades.Text()
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{{Head: lang.HeadBenchmark.Text(), Left: true}}}}
	for _, head := range []lang.Phrase{headAnswers, headRight, headAccuracy, answersHeadDifference, headLost, headGained, headNone, headCut, headFailed} {
		t.Columns = append(t.Columns, table.Column{Head: head.Text()})
	}
	add := func(name lang.Text, g *rundir.Graded) {
		count := func(n int) table.Cell { return table.Literal(strconv.Itoa(n)) }
		accuracy, difference := table.Literal(lang.Absent), table.Literal(lang.Absent)
		if g.Answers > 0 {
			accuracy = table.Literal(lang.Percent(g.Accuracy.Mean.Value()) + " (" + findings.ShareRange(g.Accuracy) + ")")
		}
		if g.Pairs > 0 {
			difference = table.Cell{Text: lang.Both(func(l lang.Lang) string {
				return findings.Points(g.Difference.Mean) + " (" + findings.PointsRange(g.Difference, l) + ")"
			})}
		}
		t.Rows = append(t.Rows, []table.Cell{
			{Text: name}, count(g.Answers), count(g.Right), accuracy, difference, count(g.Lost), count(g.Gained), count(g.None), count(g.Cut), count(g.Failed),
		})
	}
	add(wordAlone.Text(), &run.Grades.Alone)
	var bars []draw.Bar
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Graded == nil {
			continue
		}
		add(lang.Same(findings.StageName(st)), st.Graded)
		if st.Graded.Pairs > 0 {
			bars = append(bars, gradedBar(lang.Same(findings.StageName(st)), st.Graded, len(t.Rows)))
		}
	}
	if len(bars) == 0 {
		return f, false
	}
	svg := draw.Forest(name, answersAxisDifference.Text(), bars)
	return FigureBlock{Name: name, Title: title, Note: noteGrades.Text(), Variants: []Variant{{Key: "lin", SVG: Markup(svg)}}, Table: t}, true
}

// gradedBar is a line of the drawing.
func gradedBar(name lang.Text, g *rundir.Graded, row int) draw.Bar {
	b := draw.Bar{
		Name: name, At: g.Difference.Mean.Value(), Low: g.Difference.Low.Value(), High: g.Difference.High.Value(), Colour: plainColour, Shape: draw.Ring, Row: row,
		Value: lang.Same(lang.Percent(g.Accuracy.Mean.Value())),
	}
	switch g.Verdict {
	case rundir.GradesWorse:
		b.Colour, b.Shape = changedColour, draw.Triangle
	case rundir.GradesSame, rundir.GradesBetter:
		b.Shape = draw.Circle
	}
	return b
}
