package audit

import (
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Cautions returns what a reader must know before trusting the table of a run: the warnings of the run, and what the
// audit found when it was read from a document.
func Cautions(run *rundir.Run, l lang.Lang) []string {
	lines := findings.Warnings(run, l)
	for i := range run.Stages {
		r := row{result: &result{run: run}, stage: &run.Stages[i]}
		for _, d := range r.stage.Doubts {
			lines = append(lines, sayCaution.In(l, lang.StageName(r.name()), d.Line, Grade(d.Grade).In(l),
				Words().Say(d.Note, l))+lang.Stop.In(l))
		}
	}
	return lines
}
