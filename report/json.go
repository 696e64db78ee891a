package report

import (
	"io"

	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// JSON writes the content of run.json, indented; an array of them where there is more than one run.
func JSON(w io.Writer, runs []rundir.Run) error {
	if len(runs) == 1 {
		return table.WriteJSON(w, runs[0])
	}
	return table.WriteJSON(w, runs)
}
