package page

import (
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var (
	titleGrades           = lang.Say("Accuracy by stage, against alone", "各阶段与单独询问时的正确率之差")
	answersAxisDifference = lang.Say("difference in accuracy on the same questions, with its 95 % interval", "相同问题上的正确率之差，附 95 % 区间")
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

// gradePlots draws how much more or less often the answers of each stage are right than alone. ok is false where none was graded.
func gradePlots(run *rundir.Run) (f FigureBlock, ok bool) {
	if run.Grades == nil {
		return f, false
	}
	t := checkedTable("accuracy-by-stage", titleGrades.Text(), lang.HeadBenchmark,
		headAnswers, headRight, headAccuracy, answersHeadDifference, headLost, headGained, headNone, headCut, headFailed)
	add := func(name lang.Text, g *rundir.Graded) findings.Checked {
		c := findings.CheckedGraded(g)
		accuracy, difference := table.Literal(lang.Absent), table.Literal(lang.Absent)
		if c.Share != "" {
			accuracy = table.Literal(c.Share)
		}
		if c.Change.Mean.Known() {
			difference = table.Cell{Text: findings.PointsSpread(c.Change)}
		}
		t.Add(table.Cell{Text: name}, table.Count(g.Answers), table.Count(g.Right), accuracy, difference, table.Count(g.Lost), table.Count(g.Gained),
			table.Count(g.None), table.Count(g.Cut), table.Count(g.Failed))
		return c
	}
	add(wordAlone.Text(), &run.Grades.Alone)
	var bars []draw.Bar
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Graded == nil {
			continue
		}
		name := lang.Same(findings.StageName(st))
		if c := add(name, st.Graded); st.Graded.Pairs > 0 {
			bars = append(bars, checkedBar(name, c, len(t.Rows)))
		}
	}
	return checkedFigure(t, answersAxisDifference, noteGrades, bars)
}
