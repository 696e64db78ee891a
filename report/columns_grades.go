package report

import (
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var headAccuracy = lang.Say("accuracy", "正确率")

// gradedFields are the columns of graded answers; none where there were none.
func gradedFields(l lang.Lang, runs []rundir.Run) []findings.StageField {
	if !slices.ContainsFunc(runs, func(run rundir.Run) bool { return run.Grades != nil }) {
		return nil
	}
	return []findings.StageField{findings.NewStageField(table.Column{Head: headAccuracy.In(l), Left: true}, func(r findings.StageRow) table.Cell {
		return gradedCell(r.Stage.Graded, l)
	})}
}

// gradedCell is the accuracy of a stage, with the verdict on it.
func gradedCell(g *rundir.Graded, l lang.Lang) table.Cell {
	if g == nil || g.Answers == 0 {
		return table.Cell{Text: lang.Absent, Tone: table.Faint}
	}
	tone := map[rundir.GradesVerdict]table.Tone{rundir.GradesSame: table.Good, rundir.GradesWorse: table.Bad, rundir.GradesBetter: table.Caution}[g.Verdict]
	if tone == table.Plain {
		tone = table.Faint
	}
	return table.Cell{Text: findings.Graded(g, l), Tone: tone}
}
