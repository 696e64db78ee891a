package report

import (
	"encoding/json"
	"io"

	"llmsweep/sweep/rundir"
)

// JSON writes the content of run.json, indented; an array of them where there is more than one run.
func JSON(w io.Writer, runs []rundir.Run) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if len(runs) == 1 {
		return enc.Encode(runs[0])
	}
	return enc.Encode(runs)
}
