package report

import (
	"encoding/csv"
	"io"
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

type format struct {
	name   string
	render func(w io.Writer, runs []rundir.Run, o Options) error
}

func formats() []format {
	return []format{
		{"console", console},
		{"markdown", markdown},
		{"csv", func(w io.Writer, runs []rundir.Run, _ Options) error { return CSV(w, runs) }},
		{"json", func(w io.Writer, runs []rundir.Run, _ Options) error { return JSON(w, runs) }},
		{"stress", func(w io.Writer, runs []rundir.Run, o Options) error {
			return published.WriteStress(w, runs, o.Nearest, o.Lang)
		}},
		{"serving", func(w io.Writer, runs []rundir.Run, o Options) error { return published.WriteServing(w, runs, o.Lang) }},
	}
}

// CSV writes one row a stage, in run order, in seconds, tokens and requests, with columns named by the keys of run.json.
// Absent numbers and lower bounds are empty; columns named over have the bounds, as "mean=61.2 p99=58".
func CSV(w io.Writer, runs []rundir.Run) error {
	out := csv.NewWriter(w)
	columns := slices.DeleteFunc(findings.Columns(), func(c findings.Column) bool {
		return c.Number == nil && c.Word == nil // it has cells for people alone
	})
	record := make([]string, len(columns))
	for i := range columns {
		record[i] = columns[i].ID
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for i := range runs {
		for j := range runs[i].Stages {
			row := findings.StageRow{Run: &runs[i], Stage: &runs[i].Stages[j]}
			if row.Stage.Quick() {
				continue
			}
			for k := range columns {
				record[k] = table.CSVCell(findings.Field(&columns[k], row))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// JSON writes the content of run.json, indented; an array of them where there is more than one run.
func JSON(w io.Writer, runs []rundir.Run) error {
	if len(runs) == 1 {
		return table.WriteJSON(w, runs[0])
	}
	return table.WriteJSON(w, runs)
}
