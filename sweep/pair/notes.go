package pair

import "llmsweep/client/note"

// Notes on a comparison. A side is "A" or "B".
var (
	noteOtherFailed = note.Kind{Code: "pair.other-failed"}
	noteNoBlocks    = note.Kind{Code: "pair.no-blocks", Args: []string{"budget", "needed"}}
	noteLoadLeftOut = note.Kind{Code: "pair.load-left-out", Args: []string{"load"}}
	noteOfSide      = note.Kind{Code: "pair.side", Args: []string{"side", "what"}}       // what holds one note
	noteSideFailed  = note.Kind{Code: "pair.side-failed", Args: []string{"side", "why"}} // why holds one note
)
