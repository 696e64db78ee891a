package workload

import "llmsweep/client/note"

// Why a row cannot be read.
var (
	SkipNoJSONLine = note.Kind{Code: "skip.no-json-line"}
	SkipBrokenOff  = note.Kind{Code: "skip.broken-off", Args: []string{"error"}} // error absent where the file just ends
	SkipTooLong    = note.Kind{Code: "skip.row-too-long", Args: []string{"megabytes"}}
	SkipNoCSV      = note.Kind{Code: "skip.no-csv", Args: []string{"error"}}
	SkipCSVFields  = note.Kind{Code: "skip.csv-fields"}
)
