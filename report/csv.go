package report

import (
	"encoding/csv"
	"io"
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// CSV writes one row a stage, in the order they were run, all numbers as they are stored: seconds, tokens, requests.
// Columns are named by the keys of run.json, joined by underscores: latency_s_p99 is latency_s.p99. A number that does
// not exist is empty, and so is one of which only a lower bound is known; that bound stands in the column named over,
// as in "mean=61.2 p99=58". Text that a spreadsheet would take for a formula has an apostrophe before it.
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
				record[k] = table.CSVCell(findings.Field(&columns[k], findings.StageRow{Run: &runs[i], Stage: &runs[i].Stages[j]}))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvColumns are those that a file has: all but the ones that are made for people.
func csvColumns() []findings.Column {
	return slices.DeleteFunc(findings.Columns(), func(c findings.Column) bool { return c.Number == nil && c.Word == nil })
}
