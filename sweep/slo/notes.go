package slo

import "llmsweep/client/note"

// Why the terms hold up to the rate that [Highest] returns, and no further.
var (
	noteNoneBroke    = note.Kind{Code: "slo.none-broke", Args: []string{"stage"}}
	noteWide         = note.Kind{Code: "slo.wide", Args: []string{"low", "high"}}
	noteEnds         = note.Kind{Code: "slo.ends", Args: []string{"term"}}
	noteKeptThenEnds = note.Kind{Code: "slo.kept-then-ends", Args: []string{"stage", "term"}}
	noteTooFew       = note.Kind{Code: "slo.too-few", Args: []string{"term", "stage", "needs"}}
	noteNoneJudged   = note.Kind{Code: "slo.none-judged"}
	noteNoSessions   = note.Kind{Code: "slo.no-sessions"} // why a stage does not tell a term's metric
	noteNoAnswers    = note.Kind{Code: "slo.no-answers"}
	noteNoThinking   = note.Kind{Code: "slo.no-thinking"}
	noteNoTokens     = note.Kind{Code: "slo.no-tokens"}
	notePacked       = note.Kind{Code: "slo.packed"}
	noteNoRecords    = note.Kind{Code: "slo.no-records"}
	noteBrokenAt     = note.Kind{Code: "slo.broken-at", Args: []string{"stage"}}
)
