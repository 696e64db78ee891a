package findings

import (
	"math"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/rundir"
)

var (
	sayGradedAhead = lang.Say("%s graded questions are asked alone first. Asked once in a stage, they show a difference in accuracy of %s; to show a difference of %s. Answers that change by chance raise these numbers",
		"先单独询问 %s 个计分问题。在一个阶段中各问一次，可显示%s的正确率差异；要显示%s。偶然变化的回答会使所需数目增加")
	sayGradedNone   = lang.Say("no size", "任何大小都不")
	sayGradedPoints = lang.Say("%s points", "%s 个百分点")
	sayGradedTakes  = lang.Say("%s takes %s of them", "%s需要 %s 个")
	sayGradedAnd    = lang.Say(", ", "，")

	sayGradesAlone = lang.Say("Alone, %s of %s graded answers are right: %s (95 %%: %s)%s.", "单独询问时，%[2]s 个计分回答中有 %[1]s 个正确：%[3]s（95 %%：%[4]s）%[5]s。")
	sayGradesApart = lang.Say("; not counted: %s", "；未计入：%s")
	sayGradesCut   = lang.Say("%s cut by their limit", "%s 个被长度上限截断")
	sayGradesLost  = lang.Say("%s failed", "%s 个失败")

	sayGradesSame = lang.Say("Under load answers are as often right as alone: %s of %s (%s). On the same %s questions the difference is %s points (95 %%: %s).",
		"负载下的正确率与单独询问时一致：%[2]s 个中有 %[1]s 个正确（%[3]s）。在相同的 %[4]s 个问题上差异为 %[5]s 个百分点（95 %%：%[6]s）。")
	sayGradesWorse = lang.Say("Answers are less often right under load%s: %s of %s (%s). On the same %s questions the difference is %s points (95 %%: %s); %s were lost and %s gained.",
		"负载下的正确率更低%[1]s：%[3]s 个中有 %[2]s 个正确（%[4]s）。在相同的 %[5]s 个问题上差异为 %[6]s 个百分点（95 %%：%[7]s）；%[8]s 个变差，%[9]s 个变好。")
	sayGradesBetter = lang.Say("Answers are more often right under load%s: %s of %s (%s). On the same %s questions the difference is %s points (95 %%: %s); %s were lost and %s gained.",
		"负载下的正确率更高%[1]s：%[3]s 个中有 %[2]s 个正确（%[4]s）。在相同的 %[5]s 个问题上差异为 %[6]s 个百分点（95 %%：%[7]s）；%[8]s 个变差，%[9]s 个变好。")
	sayGradesOpen = lang.Say("Whether answers under load are as often right as alone is undecided: %s of %s are right (%s). On the same %s questions the difference is %s points (95 %%: %s).",
		"负载下的正确率是否与单独询问时一致尚未定论：%[2]s 个中有 %[1]s 个正确（%[3]s）。在相同的 %[4]s 个问题上差异为 %[5]s 个百分点（95 %%：%[6]s）。")
	sayGradesNone  = lang.Say("No graded question was answered both alone and under load, so that accuracy cannot be compared.", "没有计分问题既单独又在负载下得到回答，因此无法比较正确率。")
	sayGradesNeeds = lang.Say("To show a difference of %s, each asked once; these show one of %s.", "要显示%s（各问一次）；现有的可显示%s的差异。")

	sayGradedUnsure = lang.Say("%s: %s %% of %s answers to %s questions are not right (95 %%: %s-%s %%)", "%[1]s：%[4]s 个问题的 %[3]s 个回答中有 %[2]s %% 不正确（95 %%：%[5]s-%[6]s %%）")

	sayRange = lang.Say("%s to %s", "%s 至 %s")
)

// Points is a difference of shares in percentage points, with its sign where it is negative.
func Points(n rundir.Number) string {
	if !n.Known() {
		return lang.Absent
	}
	v := math.Round(n.Value()*1000) / 10
	if v == 0 {
		return "0"
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', 1, 64), "-", "−", 1)
}

// PointsSpread is a difference in percentage points with its interval.
func PointsSpread(e rundir.Estimate) lang.Text {
	return lang.Both(func(l lang.Lang) string { return Points(e.Mean) + " (" + PointsRange(e, l) + ")" })
}

// PointsRange is an interval of percentage points.
func PointsRange(e rundir.Estimate, l lang.Lang) string {
	return sayRange.In(l, Points(e.Low), Points(e.High))
}

// GradedAhead returns what a number of graded questions can show, before they are asked.
func GradedAhead(questions, hypotheses int, l lang.Lang) string {
	return gradedAhead(questions, hypotheses, l) + lang.Stop.In(l)
}

func gradedAhead(questions, hypotheses int, l lang.Lang) string {
	return sayGradedAhead.In(l, strconv.Itoa(questions), detectable(grade.Detects(questions, 0, hypotheses), l), needed(grade.Needs(0, hypotheses), l))
}

// detectable is the smallest difference that shows.
func detectable(share float64, l lang.Lang) string {
	if math.IsNaN(share) {
		return sayGradedNone.In(l)
	}
	return sayGradedPoints.In(l, Points(rundir.Exactly(share)))
}

// needed returns a sentence on how many questions show differences.
func needed(all []rundir.Needed, l lang.Lang) string {
	var parts []string
	for _, n := range all {
		parts = append(parts, sayGradedTakes.In(l, detectable(n.Difference.Value(), l), strconv.Itoa(n.Items)))
	}
	return strings.Join(parts, sayGradedAnd.In(l))
}

// grades returns what the graded questions of a run show; none where there were none.
func grades(run *rundir.Run, l lang.Lang) []string {
	g := run.Grades
	if g == nil {
		return nil
	}
	lines := []string{gradesUnderLoad(g, l)}
	if a := &g.Alone; a.Answers > 0 {
		lines = append(lines, sayGradesAlone.In(l, strconv.Itoa(a.Right), strconv.Itoa(a.Answers), lang.Percent(a.Accuracy.Mean.Value()), ShareRange(a.Accuracy)+" %", uncounted(a, l)))
	}
	if len(g.Needs) > 0 {
		lines = append(lines, GradesNeed(g.Needs, g.Detects, l))
	}
	return lines
}

// GradesNeed returns how many questions show differences, and which difference those of a run show; empty where that is not known.
func GradesNeed(needs []rundir.Needed, detects rundir.Number, l lang.Lang) string {
	if len(needs) == 0 {
		return ""
	}
	share := math.NaN()
	if detects.Known() {
		share = detects.Value()
	}
	return sayGradesNeeds.In(l, needed(needs, l), detectable(share, l))
}

// uncounted returns a sentence on answers that are neither right nor wrong.
func uncounted(g *rundir.Graded, l lang.Lang) string {
	var parts []string
	if g.Cut > 0 {
		parts = append(parts, sayGradesCut.In(l, strconv.Itoa(g.Cut)))
	}
	if g.Failed > 0 {
		parts = append(parts, sayGradesLost.In(l, strconv.Itoa(g.Failed)))
	}
	if len(parts) == 0 {
		return ""
	}
	return sayGradesApart.In(l, strings.Join(parts, sayGradedAnd.In(l)))
}

// gradesUnderLoad is the verdict on the answers under load.
func gradesUnderLoad(g *rundir.Grades, l lang.Lang) string {
	a := &g.Load
	if a.Pairs == 0 {
		return sayGradesNone.In(l)
	}
	begins := ""
	if g.Stage != "" {
		begins = sayAnswersFrom.In(l, table.Clean(lang.Row(g.Stage)))
	}
	right, all, share := strconv.Itoa(a.Right), strconv.Itoa(a.Answers), lang.Percent(a.Accuracy.Mean.Value())
	pairs, difference, interval := strconv.Itoa(a.Pairs), Points(a.Difference.Mean), PointsRange(a.Difference, l)
	switch g.Verdict {
	case rundir.GradesSame:
		return sayGradesSame.In(l, right, all, share, pairs, difference, interval)
	case rundir.GradesWorse:
		return sayGradesWorse.In(l, begins, right, all, share, pairs, difference, interval, strconv.Itoa(a.Lost), strconv.Itoa(a.Gained))
	case rundir.GradesBetter:
		return sayGradesBetter.In(l, begins, right, all, share, pairs, difference, interval, strconv.Itoa(a.Lost), strconv.Itoa(a.Gained))
	}
	return sayGradesOpen.In(l, right, all, share, pairs, difference, interval)
}

// ShareRange is an interval of shares in whole per cent.
func ShareRange(e rundir.Estimate) string {
	return strconv.FormatFloat(100*e.Low.Value(), 'f', 0, 64) + "-" + strconv.FormatFloat(100*e.High.Value(), 'f', 0, 64)
}
