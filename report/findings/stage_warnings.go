package findings

import (
	"slices"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

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

type repeatedWarning struct{ texts, rows []string }

// stageWarnings returns a line for each kind of warning, with the rows that it is about. Where rows differ in its
// numbers, those of the first row stand for all.
func stageWarnings(run *rundir.Run, l lang.Lang) []string {
	kinds := map[string]*repeatedWarning{}
	var order []string
	for i := range run.Stages {
		s := &run.Stages[i]
		if s.Quick() {
			continue
		}
		for _, n := range s.Warnings {
			code := n.Code
			if _, known := Words()[code]; !known && !n.Is(note.Text) {
				continue // of another version
			}
			r := kinds[code]
			if r == nil {
				r = &repeatedWarning{}
				kinds[code], order = r, append(order, code)
			}
			r.texts, r.rows = append(r.texts, Phrase(n, l)), append(r.rows, StageName(s))
		}
	}
	var lines []string
	for _, code := range order {
		r := kinds[code]
		texts, rows := slices.Compact(r.texts), slices.Compact(r.rows)
		text := texts[0]
		if len(texts) > 1 && len(rows) > 1 {
			text = sayAlike.In(l, text, table.Clean(rows[0]))
		}
		lines = append(lines, rowNames(rows, run, l)+lang.Colon.In(l)+text+lang.Stop.In(l))
	}
	return lines
}
