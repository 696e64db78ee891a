package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func gradesSentences(run *rundir.Run, l lang.Lang) []string {
	if run.Grades == nil {
		return nil
	}
	g := &run.Grades.All
	var excluded []string
	if g.Cut > 0 {
		excluded = append(excluded, sayCut.In(l, strconv.Itoa(g.Cut)))
	}
	if g.Failed > 0 {
		excluded = append(excluded, sayFailed.In(l, strconv.Itoa(g.Failed)))
	}
	rest := ""
	if len(excluded) > 0 {
		rest = sayNotCounted.In(l, strings.Join(excluded, lang.ListComma.In(l)))
	}
	if g.Answers == 0 {
		return []string{sayUngraded.In(l, rest)}
	}
	return []string{sayGrades.In(l, strconv.Itoa(g.Right), strconv.Itoa(g.Answers), lang.Percent(g.Accuracy.Mean.Value()),
		shareRange(g.Accuracy)+" %", rest)}
}

// gradesCell is "81 % (77-85)".
func gradesCell(g *rundir.Graded) table.Cell {
	if g == nil || g.Answers == 0 {
		return table.Absent()
	}
	return table.Literal(lang.Percent(g.Accuracy.Mean.Value()) + " (" + shareRange(g.Accuracy) + ")")
}

func shareRange(e rundir.Estimate) string {
	return strconv.FormatFloat(100*e.Low.Value(), 'f', 0, 64) + "-" + strconv.FormatFloat(100*e.High.Value(), 'f', 0, 64)
}
