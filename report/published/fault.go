package published

import (
	"errors"

	"llmsweep/client/note"
	"llmsweep/report/lang"
)

// Why a printed value was not read.
var (
	faultEmpty       = note.Kind{Code: "fault.empty"}
	faultNoNumber    = note.Kind{Code: "fault.no-number"}
	faultNumberRange = note.Kind{Code: "fault.odd-number"}
	faultUnknownUnit = note.Kind{Code: "fault.unknown-unit", Args: []string{"unit"}}
	faultOtherUnit   = note.Kind{Code: "fault.other-unit", Args: []string{"unit"}}
	faultUnknownText = note.Kind{Code: "fault.odd", Args: []string{"text"}}
	faultNoUnit      = note.Kind{Code: "fault.no-unit"}
	faultComma       = note.Kind{Code: "fault.comma"}
	faultNoCount     = note.Kind{Code: "fault.no-count"}
)

// parseFault is an error in a document, as a note: a remark on it is in the language of the report.
type parseFault struct{ Note note.Note }

func (f parseFault) Error() string { return Words().Say(f.Note, lang.English) }

// faultOf returns an error as an argument of a note.
func faultOf(err error) []note.Note {
	if f := (parseFault{}); errors.As(err, &f) {
		return []note.Note{f.Note}
	}
	return []note.Note{note.Text.New(err)}
}
