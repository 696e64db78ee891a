package published

import (
	"errors"

	"llmsweep/client/note"
	"llmsweep/report/lang"
)

// Notes on a result as a whole.
var (
	// noteReadFrom is of a result that another tool printed: no records are behind its numbers.
	noteReadFrom      = note.Kind{Code: "published.read-from", Args: []string{"file", "line"}}
	noteContradiction = note.Kind{Code: "published.contradiction", Args: []string{"label", "taken", "line", "other",
		"other_line"}}
	noteFlagWins      = note.Kind{Code: "published.flag-wins", Args: []string{"label", "given", "found", "line"}}
	noteJoined        = note.Kind{Code: "published.joined", Args: []string{"tables", "lines"}}
	noteHardwareLater = note.Kind{Code: "published.hardware-later", Args: []string{"line", "at"}}
	noteOutOfOrder    = note.Kind{Code: "published.out-of-order", Args: []string{"lines", "launch", "other"}}
)

// What headings and remarks say of a result.
var (
	noteNoLength = note.Kind{Code: "published.no-length", Args: []string{"text"}}
	noteUnclear  = note.Kind{Code: "published.unclear", Args: []string{"text"}}
	noteWarmUp   = note.Kind{Code: "published.warm-up", Args: []string{"line", "text"}}
)

// Remarks on lines of a document.
var (
	noteNoHeading   = note.Kind{Code: "published.no-heading", Args: []string{"labels"}}
	noteOtherColumn = note.Kind{Code: "published.other-column", Args: []string{"column"}}
	noteReadAs      = note.Kind{Code: "published.read-as", Args: []string{"text", "as"}}
	noteUnknownHead = note.Kind{Code: "published.odd-head", Args: []string{"column", "text"}}
	noteColumnTwice = note.Kind{Code: "published.twice", Args: []string{"column"}}
	noteNoUnits     = note.Kind{Code: "published.no-units", Args: []string{"column"}}
	noteHTML        = note.Kind{Code: "published.html"}
	noteTwoBlocks   = note.Kind{Code: "published.two-blocks"}
	faultNoLoad     = note.Kind{Code: "fault.no-load", Args: []string{"row"}}
	noteTooManyRows = note.Kind{Code: "published.too-many-rows", Args: []string{"rows"}}
	noteCells       = note.Kind{Code: "published.cells", Args: []string{"cells", "wanted"}}
	faultNoName     = note.Kind{Code: "fault.no-name"}
	faultNoRate     = note.Kind{Code: "fault.no-rate", Args: []string{"row"}}
	faultBadRate    = note.Kind{Code: "fault.bad-rate", Args: []string{"row", "why"}}
	faultUnclear    = note.Kind{Code: "fault.unclear"}
	noteBadRow      = note.Kind{Code: "published.bad", Args: []string{"error"}}
	noteBadValue    = note.Kind{Code: "published.bad-value", Args: []string{"name", "value", "error"}}
	noteNoUnit      = note.Kind{Code: "published.no-unit", Args: []string{"name", "value", "unit"}}
	noteNoRow       = note.Kind{Code: "published.no-row"}
	noteLongLine    = note.Kind{Code: "published.long-line", Args: []string{"kib"}}
	noteNoTable     = note.Kind{Code: "published.no-table"}
	noteNoEnd       = note.Kind{Code: "published.no-end"}
	noteNotServing  = note.Kind{Code: "published.not-serving", Args: []string{"text"}}
	noteNothingRead = note.Kind{Code: "published.nothing-read"}
	noteNoDate      = note.Kind{Code: "published.no-date", Args: []string{"text"}}
	noteNotStress   = note.Kind{Code: "published.not-stress", Args: []string{"text"}}
	noteRepeated    = note.Kind{Code: "published.repeated", Args: []string{"text"}}
	noteNoCell      = note.Kind{Code: "published.no-cell"}
	noteOtherTable  = note.Kind{Code: "published.other-table", Args: []string{"columns"}}
)

// Remarks on what could not be read.
var (
	noteNoObject     = note.Kind{Code: "published.json-no-object"}
	noteUnknown      = note.Kind{Code: "published.json-unknown", Args: []string{"keys", "known"}}
	noteNoNumber     = note.Kind{Code: "published.json-no-number", Args: []string{"path", "text"}}
	noteNoCount      = note.Kind{Code: "published.json-no-count", Args: []string{"path", "text"}}
	noteNoMetric     = note.Kind{Code: "published.json-no-metric"}
	noteNoBenchmark  = note.Kind{Code: "published.json-no-benchmark"}
	noteLabelNoCount = note.Kind{Code: "published.label-no-count", Args: []string{"label", "text"}}
	noteLabelNoPrice = note.Kind{Code: "published.label-no-price", Args: []string{"label", "text"}}
)

// What a tool defines otherwise than llmsweep does. Each note has the tool's name; the sources are the tools' own, of
// the versions that testdata/results/README.md names.
var (
	// noteITLWeighted: the tool's inter-token latency is one mean for each request, so a stall inside a request is
	// averaged away, and each request weighs as much as it has tokens. It is kept as TPOT, which is the same.
	noteITLWeighted = note.Kind{Code: "published.itl-weighted-by-tokens", Args: []string{"tool"}}
	// noteITLPerChunk: the tool's inter-token latency is the gap between two chunks, however many tokens a chunk holds.
	noteITLPerChunk = note.Kind{Code: "published.itl-per-chunk", Args: []string{"tool"}}
	// noteTTFTEmptyChunk: the time to first token ends at the first chunk, even at one without text that only names the
	// role.
	noteTTFTEmptyChunk = note.Kind{Code: "published.ttft-empty-chunk", Args: []string{"tool"}}
	// noteTTFTZero: a request without a first token counts as a time to first token of 0.
	noteTTFTZero = note.Kind{Code: "published.ttft-missing-is-zero", Args: []string{"tool"}}
	// noteLatencyToEnd: the latency ends with the stream, after the chunk that counts tokens, not with the last token.
	noteLatencyToEnd = note.Kind{Code: "published.latency-to-end-of-stream", Args: []string{"tool"}}
	// noteRatesWhole: the rates are over the whole test, the ramp at its beginning and the drain at its end included.
	noteRatesWhole = note.Kind{Code: "published.rates-include-ramp-and-drain", Args: []string{"tool"}}
	// noteCancelled: requests that run at the end of a stage are cancelled, and no metric of a whole request counts
	// them.
	noteCancelled = note.Kind{Code: "published.cancelled-at-end", Args: []string{"tool"}}
	// noteNoWarmup: the tool's stages begin with nothing in flight, and their opening is not left out unless a warm-up
	// was set.
	noteNoWarmup = note.Kind{Code: "published.opening-not-left-out", Args: []string{"tool"}}
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

func faultOf(err error) []note.Note {
	if f := (parseFault{}); errors.As(err, &f) {
		return []note.Note{f.Note}
	}
	return []note.Note{note.Text.New(err)}
}
