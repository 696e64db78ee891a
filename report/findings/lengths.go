package findings

import (
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// AnswerLengths returns the table of how long the answers of each stage were; none where lengths are forced.
func AnswerLengths(run *rundir.Run) []table.Table {
	if !run.Workload.Capped || run.Source != nil || len(run.Stages) == 0 {
		return nil
	}
	columns := Pick("name", "output_tokens_mean", "output_tokens_p50", "output_tokens_p90", "output_tokens_max",
		"output_tokens_at_limit")
	for i := range columns[1:5] {
		columns[i+1].Head, columns[i+1].Sub = columns[i+1].Sub, lang.Text{}
	}
	t := TabulateStages(columns, AllStages(run), UnitBelow)
	t.Title = titleLengths.Text(lang.Both(func(l lang.Lang) string { return AnswerText(&run.Workload, l) }))
	return []table.Table{t}
}
