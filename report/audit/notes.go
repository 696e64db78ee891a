package audit

import "llmsweep/client/note"

// The kinds of findings. Arguments are texts as in the file or as a table prints them, except counts and shares.
var (
	noteZeros           = note.Kind{Code: "audit.zeros", Args: []string{"completed", "latency"}}
	noteUnit            = note.Kind{Code: "audit.unit", Args: []string{"metric", "printed", "unit", "would_be"}}
	noteTTFT            = note.Kind{Code: "audit.ttft", Args: []string{"ttft", "latency"}}
	noteLatency         = note.Kind{Code: "audit.latency", Args: []string{"latency", "ttft", "gaps", "gap", "sum"}}
	noteTokensAbove     = note.Kind{Code: "audit.tokens-above", Args: []string{"output", "completed", "tokens", "asked"}} // the first two absent where tokens were told
	noteTokensBelow     = note.Kind{Code: "audit.tokens-below", Args: []string{"output", "completed", "tokens", "asked"}}
	noteOffered         = note.Kind{Code: "audit.offered", Args: []string{"completed", "offered"}}
	noteOfferedDoubtful = note.Kind{Code: "audit.offered-doubtful", Args: []string{"completed", "offered", "more", "window"}}
	noteSynchronous     = note.Kind{Code: "audit.synchronous", Args: []string{"completed", "latency", "in_flight"}}
	noteOrder           = note.Kind{Code: "audit.order", Args: []string{"metric", "higher", "value", "lower", "lower_value"}}
	noteMean            = note.Kind{Code: "audit.mean-outside", Args: []string{"metric", "mean", "min", "max"}}
	noteSpread          = note.Kind{Code: "audit.spread", Args: []string{"metric", "std", "min", "max"}}
	noteRequestRate     = note.Kind{Code: "audit.request-rate", Args: []string{"printed", "requests", "time", "is"}}
	noteTokenRate       = note.Kind{Code: "audit.token-rate", Args: []string{"printed", "tokens", "time", "is"}}
	noteSum             = note.Kind{Code: "audit.sum", Args: []string{"printed", "input", "output", "is"}}
	noteTokenMean       = note.Kind{Code: "audit.token-mean", Args: []string{"printed", "tokens", "requests", "is"}}
	noteTwoDurations    = note.Kind{Code: "audit.two-durations", Args: []string{"printed", "other"}}
	noteCounts          = note.Kind{Code: "audit.counts", Args: []string{"ok", "failed", "incomplete", "all"}}
	noteShare           = note.Kind{Code: "audit.share", Args: []string{"part", "all", "printed"}}
	noteInFlight        = note.Kind{Code: "audit.in-flight", Args: []string{"printed", "requests", "latency", "time", "is"}}
	notePrinted         = note.Kind{Code: "audit.printed", Args: []string{"metric", "printed"}}
	noteCopied          = note.Kind{Code: "audit.copied", Args: []string{"same", "line", "row", "latency", "other_latency"}}      // same holds notes of kind audit.printed
	noteSame            = note.Kind{Code: "audit.same", Args: []string{"same", "line", "other_line", "latency", "other_latency"}} // as of noteCopied
	noteGrid            = note.Kind{Code: "audit.grid", Args: []string{"rate", "grid_rate"}}
	noteRetokenized     = note.Kind{Code: "audit.retokenized", Args: []string{"again", "reported", "factor"}}
	noteTPOT            = note.Kind{Code: "audit.tpot", Args: []string{"tpot", "factor", "itl"}}
	noteDefaultLimit    = note.Kind{Code: "audit.default-limit", Args: []string{"asked", "other_asked", "line", "time", "spread", "response_line", "stopped_at", "counted"}} // counted absent where it agrees
	noteClosedLoop      = note.Kind{Code: "audit.closed-loop", Args: []string{"concurrency", "requests", "latency", "at_most", "took", "in_flight"}}
	noteOnceMore        = note.Kind{Code: "audit.once-more", Args: []string{"line", "metric", "there", "here"}}
	noteTwice           = note.Kind{Code: "audit.twice", Args: []string{"times", "lines", "metric", "values"}}
	noteEven            = note.Kind{Code: "audit.even", Args: []string{"tokens", "spread", "asked"}}
	noteCeiling         = note.Kind{Code: "audit.ceiling", Args: []string{"ceiling", "offered", "completed", "less", "line"}}
	noteInstants        = note.Kind{Code: "audit.instants", Args: []string{"later", "at", "earlier", "earlier_at"}}
	noteGaps            = note.Kind{Code: "audit.gaps", Args: []string{"gaps", "sum", "passed"}}
	noteStopped         = note.Kind{Code: "audit.stopped", Args: []string{"tokens", "asked"}}
	noteEmpty           = note.Kind{Code: "audit.empty"}
	noteOffGrid         = note.Kind{Code: "audit.off-grid", Args: []string{"rate"}}
	noteTokensApart     = note.Kind{Code: "audit.tokens-apart", Args: []string{"output", "completed", "tokens", "typical"}}
	noteShifted         = note.Kind{Code: "audit.shifted", Args: []string{"metric", "first", "last", "values"}} // values: "409: 72.18 ms"
	noteShiftUnclear    = note.Kind{Code: "audit.shift-unclear", Args: []string{"metric", "other_metric", "first", "last"}}
	noteExchanged       = note.Kind{Code: "audit.exchanged", Args: []string{"metric", "first", "last", "values"}}
	noteSwapped         = note.Kind{Code: "audit.swapped", Args: []string{"rate", "other_rate", "line", "other_line", "completed"}}
	noteBacklog         = note.Kind{Code: "audit.backlog", Args: []string{"ttft", "later_ttft", "completed", "line", "zeros"}} // zeros absent without a row of zeros
	noteOutlier         = note.Kind{Code: "audit.outlier", Args: []string{"metric", "value", "low", "high"}}
	noteStuck           = note.Kind{Code: "audit.stuck", Args: []string{"tokens", "requests", "total", "spread", "asked"}}
	noteCold            = note.Kind{Code: "audit.cold", Args: []string{"slow", "requests", "longest", "median"}}
	noteLikeClosedLoop  = note.Kind{Code: "audit.like-closed-loop", Args: []string{"concurrency", "in_flight", "line"}}
	noteSeveral         = note.Kind{Code: "audit.several", Args: []string{"requests", "first"}} // first holds one note
)
