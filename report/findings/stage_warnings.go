package findings

import (
	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// clientWarning returns that the client was the limit: in all rows, or in some that the answer does not rest on.
func clientWarning(run *rundir.Run, l lang.Lang) string {
	valid := 0
	for i := range run.Stages {
		if run.Stages[i].Invalid.IsZero() {
			valid++
		}
	}
	if valid <= len(run.Stages)/2 {
		return warnClient.In(l)
	}
	return warnClientRows.In(l, valid, len(run.Stages))
}

// repeatedWarning is a warning of several stages.
type repeatedWarning struct {
	texts []string // that differ, in the order of the stages
	rows  []string
	first string // the first stage
}

// stageWarnings returns the warnings of stages: one line for each kind, with the rows that it is about. Where rows
// differ in its numbers, those of the first row stand for all.
func stageWarnings(run *rundir.Run, l lang.Lang) []string {
	kinds := map[string]*repeatedWarning{}
	var order []string
	for i := range run.Stages {
		s := &run.Stages[i]
		for _, n := range s.Warnings {
			code := n.Code
			if _, known := Words()[code]; !known && !n.Is(note.Text) {
				continue // of another version
			}
			r := kinds[code]
			if r == nil {
				r = &repeatedWarning{first: lang.StageName(s.Name)}
				kinds[code], order = r, append(order, code)
			}
			r.add(Phrase(n, l), lang.StageName(s.Name))
		}
	}
	var lines []string
	for _, code := range order {
		r := kinds[code]
		text := r.texts[0]
		if len(r.texts) > 1 && len(r.rows) > 1 {
			text = sayAlike.In(l, text, table.Clean(r.first))
		}
		lines = append(lines, rowNames(r.rows, run, l)+lang.Colon.In(l)+text+lang.Stop.In(l))
	}
	return lines
}

// add adds the warning of a stage.
func (r *repeatedWarning) add(text, row string) {
	if len(r.texts) == 0 || r.texts[len(r.texts)-1] != text {
		r.texts = append(r.texts, text)
	}
	if len(r.rows) == 0 || r.rows[len(r.rows)-1] != row {
		r.rows = append(r.rows, row)
	}
}
