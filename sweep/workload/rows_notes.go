package workload

import "llmsweep/client/note"

// Why a row cannot be read.
var (
	skipNoJSONLine = note.Kind{Code: "skip.no-json-line"}
	skipBrokenOff  = note.Kind{Code: "skip.broken-off", Args: []string{"error"}} // error absent where the file just ends
	skipTooLong    = note.Kind{Code: "skip.row-too-long", Args: []string{"megabytes"}}
	skipNoCSV      = note.Kind{Code: "skip.no-csv", Args: []string{"error"}}
	skipCSVFields  = note.Kind{Code: "skip.csv-fields"}
)
