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
	faultOddNumber   = note.Kind{Code: "fault.odd-number"}
	faultUnknownUnit = note.Kind{Code: "fault.unknown-unit", Args: []string{"unit"}}
	faultOtherUnit   = note.Kind{Code: "fault.other-unit", Args: []string{"unit"}}
	faultNoCount     = note.Kind{Code: "fault.no-count"}
)

// fault is an error in a document, as a note: a remark on it is in the language of the report.
type fault struct{ Note note.Note }

func (f fault) Error() string { return Words().Say(f.Note, lang.English) }

// faultOf returns an error as an argument of a note.
func faultOf(err error) []note.Note {
	if f := (fault{}); errors.As(err, &f) {
		return []note.Note{f.Note}
	}
	return []note.Note{note.Text.New(err)}
}

func faultWords() lang.Words {
	return lang.Words{
		"fault.empty":        lang.Say("is empty", "为空"),
		"fault.no-number":    lang.Say("is no number", "不是数"),
		"fault.odd-number":   lang.Say("is no number that a benchmark prints", "不是压测工具会输出的数"),
		"fault.unknown-unit": lang.Say("has the unknown unit \"{unit}\"", "的单位“{unit}”未知"),
		"fault.other-unit":   lang.Say("is in \"{unit}\", which measures something else", "的单位“{unit}”属于另一种量"),
		"fault.no-count":     lang.Say("is no count", "不是计数"),
		"fault.no-name":      lang.Say("the row has no name", "该行没有名称"),
		"fault.no-rate":      lang.Say("\"{row}\": no rate behind the @", "“{row}”：@ 之后没有到达率"),
		"fault.bad-rate":     lang.Say("\"{row}\": the rate {why:note}", "“{row}”：到达率{why:note}"),
		"fault.unclear":      lang.Say("is not understood", "无法理解"),
	}
}
