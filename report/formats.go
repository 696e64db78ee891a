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

// renderer writes runs in one format.
type renderer func(w io.Writer, runs []rundir.Run, o Options) error

// format is a named rendering.
type format struct {
	name   string
	render renderer
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
		{"llm-d", func(w io.Writer, runs []rundir.Run, _ Options) error { return published.WriteLLMD(w, runs) }},
		{"verdict", verdicts},
	}
}

// CSV writes one row a stage, in the order they were run, in seconds, tokens and requests; columns are named by the
// keys of run.json. Absent numbers and lower bounds are empty; bounds are in the columns named over, as "mean=61.2
// p99=58".
func CSV(w io.Writer, runs []rundir.Run) error {
	out := csv.NewWriter(w)
	columns := csvColumns()
	record := make([]string, len(columns))
	for i := range columns {
		record[i] = columns[i].ID
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for i := range runs {
		for j := range runs[i].Stages {
			for k := range columns {
				row := findings.StageRow{Run: &runs[i], Stage: &runs[i].Stages[j]}
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

// csvColumns are the columns that have a number or a word, and not only a cell for people.
func csvColumns() []findings.Column {
	return slices.DeleteFunc(findings.Columns(), func(c findings.Column) bool { return c.Number == nil && c.Word == nil })
}

// JSON writes the content of run.json, indented; an array of them where there is more than one run.
func JSON(w io.Writer, runs []rundir.Run) error {
	if len(runs) == 1 {
		return table.WriteJSON(w, runs[0])
	}
	return table.WriteJSON(w, runs)
}

// verdicts writes the conclusion of each run, for programs.
func verdicts(w io.Writer, runs []rundir.Run, _ Options) error {
	all := make([]rundir.Conclusion, len(runs))
	for i := range runs {
		all[i] = findings.Conclude(&runs[i])
	}
	return findings.WriteConclusions(w, all)
}
