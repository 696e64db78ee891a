package report

import (
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// sloFields are the columns of what was promised; none where nothing was.
func sloFields(l lang.Lang, runs []rundir.Run) []findings.StageField {
	promised := func(run rundir.Run) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Goodput != nil })
	}
	if !slices.ContainsFunc(runs, promised) {
		return nil
	}
	return []findings.StageField{
		findings.NewStageField(table.Column{Head: headGoodput.In(l), Sub: "req/s", Drop: 2}, func(r findings.StageRow) table.Cell {
			if r.Stage.Goodput == nil {
				return table.Cell{Text: lang.Absent, Tone: table.Faint}
			}
			return table.Number(r.Stage.Goodput.Rate, "", lang.Rate)
		}),
		findings.NewStageField(table.Column{Head: headSLO.In(l), Left: true}, func(r findings.StageRow) table.Cell { return sloCell(r.Stage, l) }),
	}
}

// sloCell is the verdict of a stage.
func sloCell(s *rundir.Stage, l lang.Lang) table.Cell {
	switch g := s.Goodput; {
	case g == nil:
		return table.Cell{Text: lang.Absent, Tone: table.Faint}
	case g.Verdict == rundir.Kept:
		return table.Cell{Text: sloKept.In(l), Tone: table.Good}
	case g.Verdict == rundir.Broken:
		return table.Cell{Text: sloBroken.In(l), Tone: table.Bad}
	}
	return table.Cell{Text: sloUnsure.In(l), Tone: table.Caution}
}
