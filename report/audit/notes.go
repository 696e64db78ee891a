package audit

import "llmsweep/client/note"

// The kinds of findings. Arguments are texts as in the file or as a table prints them, except counts and shares.
var (
	noteZeros   = note.Kind{Code: "audit.zeros", Args: []string{"completed", "latency"}}
	noteUnit    = note.Kind{Code: "audit.unit", Args: []string{"metric", "printed", "unit", "would_be"}}
	noteTTFT    = note.Kind{Code: "audit.ttft", Args: []string{"ttft", "latency"}}
	noteLatency = note.Kind{Code: "audit.latency", Args: []string{"latency", "ttft", "gaps", "gap", "sum"}}
	// without output and completed where the tokens per request were printed
	noteTokensAbove     = note.Kind{Code: "audit.tokens-above", Args: []string{"output", "completed", "tokens", "asked"}}
	noteTokensBelow     = note.Kind{Code: "audit.tokens-below", Args: []string{"output", "completed", "tokens", "asked"}}
	noteOffered         = note.Kind{Code: "audit.offered", Args: []string{"completed", "offered"}}
	noteOfferedDoubtful = note.Kind{Code: "audit.offered-doubtful", Args: []string{"completed", "offered", "more",
		"window"}}
	noteOrder = note.Kind{Code: "audit.order", Args: []string{"metric", "higher", "value", "lower",
		"lower_value"}}
	noteMean    = note.Kind{Code: "audit.mean-outside", Args: []string{"metric", "mean", "min", "max"}}
	notePrinted = note.Kind{Code: "audit.printed", Args: []string{"metric", "printed"}}
	// same holds notes of kind audit.printed
	noteCopied         = note.Kind{Code: "audit.copied", Args: []string{"same", "line", "row", "latency", "other_latency"}}
	noteReprint        = note.Kind{Code: "audit.reprint", Args: []string{"line"}}
	noteReprinted      = note.Kind{Code: "audit.reprinted", Args: []string{"line", "metric", "there", "here"}}
	noteMisprintedRate = note.Kind{Code: "audit.misprinted-rate", Args: []string{
		"offered", "completed", "missing", "window", "latency", "most", "served", "line",
	}}
	noteAlone       = note.Kind{Code: "audit.alone", Args: []string{"completed", "latency", "in_flight"}}
	noteCold        = note.Kind{Code: "audit.cold", Args: []string{"slow", "requests", "longest", "median"}}
	noteGrid        = note.Kind{Code: "audit.grid", Args: []string{"rate", "grid_rate"}}
	noteArithmetic  = note.Kind{Code: "audit.arithmetic", Args: []string{"metric", "printed", "made_of", "is"}}
	noteRetokenized = note.Kind{Code: "audit.retokenized", Args: []string{"again", "reported", "factor"}}
	noteTPOT        = note.Kind{Code: "audit.tpot", Args: []string{"tpot", "factor", "itl"}}
	// without counted where it agrees
	noteDefaultLimit = note.Kind{Code: "audit.default-limit", Args: []string{"asked", "other_asked", "line", "time",
		"response_line", "stopped_at", "counted"}}
	noteClosedLoop = note.Kind{Code: "audit.closed-loop", Args: []string{"concurrency", "requests", "latency", "at_most",
		"took", "in_flight"}}
	noteEven    = note.Kind{Code: "audit.even", Args: []string{"tokens", "spread", "asked"}}
	noteCeiling = note.Kind{Code: "audit.ceiling", Args: []string{"ceiling", "offered", "completed", "less",
		"line"}}
	noteInstants        = note.Kind{Code: "audit.instants", Args: []string{"later", "at", "earlier", "earlier_at"}}
	noteGaps            = note.Kind{Code: "audit.gaps", Args: []string{"gaps", "sum", "passed"}}
	noteStopped         = note.Kind{Code: "audit.stopped", Args: []string{"tokens", "asked"}}
	noteEmpty           = note.Kind{Code: "audit.empty"}
	noteTokensOtherRows = note.Kind{Code: "audit.tokens-apart", Args: []string{"output", "completed", "tokens", "typical"}}
	noteBacklog         = note.Kind{Code: "audit.backlog", Args: []string{"ttft", "later_ttft", "line"}}
	noteSeveral         = note.Kind{Code: "audit.several", Args: []string{"requests", "first"}} // first holds one note
)
