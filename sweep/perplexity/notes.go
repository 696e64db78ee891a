package perplexity

import "llmsweep/client/note"

// Notes on why there is no perplexity, or what limits it.
var (
	noteIgnored    = note.Kind{Code: "perplexity.ignored", Args: []string{"ways"}}
	noteRefused    = note.Kind{Code: "perplexity.refused", Args: []string{"ways", "message"}}
	noteText       = note.Kind{Code: "perplexity.other-text", Args: []string{"windows", "all"}}
	noteCount      = note.Kind{Code: "perplexity.other-count", Args: []string{"windows", "all"}}
	noteMissing    = note.Kind{Code: "perplexity.missing", Args: []string{"windows", "all"}}
	noteImpossible = note.Kind{Code: "perplexity.impossible", Args: []string{"windows", "all"}}
	notePositive   = note.Kind{Code: "perplexity.positive", Args: []string{"windows", "all"}}
	noteConstant   = note.Kind{Code: "perplexity.constant", Args: []string{"windows", "all"}}
	noteShape      = note.Kind{Code: "perplexity.shape", Args: []string{"windows", "all"}}
	noteFailed     = note.Kind{Code: "perplexity.failed", Args: []string{"windows", "all", "message"}}
	noteShort      = note.Kind{Code: "perplexity.budget", Args: []string{"windows", "all"}}
)

// noteOf returns the note of a fault.
func noteOf(f fault) note.Kind {
	return map[fault]note.Kind{
		faultText: noteText, faultCount: noteCount, faultMissing: noteMissing, faultImpossible: noteImpossible, faultPositive: notePositive,
		faultConstant: noteConstant, faultShape: noteShape,
	}[f]
}
