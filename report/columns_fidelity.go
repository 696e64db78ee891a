package report

import (
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

var headAnswers = lang.Say("answers", "回答")

// fidelityFields are the columns of what the canaries show; none where there were none.
func fidelityFields(l lang.Lang, runs []rundir.Run) []findings.StageField {
	if !slices.ContainsFunc(runs, func(run rundir.Run) bool { return run.Fidelity != nil }) {
		return nil
	}
	return []findings.StageField{findings.NewStageField(table.Column{Head: headAnswers.In(l), Left: true}, func(r findings.StageRow) table.Cell {
		return fidelityCell(r.Stage.Fidelity, l)
	})}
}

// fidelityCell is the verdict on a stage's answers, with how many of them are the same.
func fidelityCell(a *rundir.Agreed, l lang.Lang) table.Cell {
	if a == nil || a.Answers == 0 {
		return table.Cell{Text: lang.Absent, Tone: table.Faint}
	}
	tone := map[rundir.FidelityVerdict]table.Tone{
		rundir.FidelitySame: table.Good, rundir.FidelityTies: table.Caution, rundir.FidelityDiffers: table.Bad,
	}[a.Verdict]
	if tone == table.Plain {
		tone = table.Faint
	}
	return table.Cell{Text: findings.Agreed(a, l), Tone: tone}
}
