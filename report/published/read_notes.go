package published

import "llmsweep/client/note"

// Remarks on lines of a document.
var (
	noteNoHeading      = note.Kind{Code: "published.no-heading", Args: []string{"labels"}}
	noteOtherColumn    = note.Kind{Code: "published.other-column", Args: []string{"column"}}
	noteReadAs         = note.Kind{Code: "published.read-as", Args: []string{"text", "as"}}
	noteUnknownHead    = note.Kind{Code: "published.odd-head", Args: []string{"column", "text"}}
	noteColumnTwice    = note.Kind{Code: "published.twice", Args: []string{"column"}}
	noteNoUnits        = note.Kind{Code: "published.no-units", Args: []string{"column"}}
	noteFootnote       = note.Kind{Code: "published.footnote", Args: []string{"column"}}
	noteHTML           = note.Kind{Code: "published.html"}
	notePart           = note.Kind{Code: "published.part", Args: []string{"text"}}
	noteErratum        = note.Kind{Code: "published.erratum", Args: []string{"text"}}
	noteOtherStatistic = note.Kind{Code: "published.other-statistic", Args: []string{"text"}}
	noteOneRow         = note.Kind{Code: "published.one-row", Args: []string{"text"}}
	noteProse          = note.Kind{Code: "published.beside", Args: []string{"text"}}
	noteTwoBlocks      = note.Kind{Code: "published.two-blocks"}
	faultNoLoad        = note.Kind{Code: "fault.no-load", Args: []string{"row"}}
	noteTooManyRows    = note.Kind{Code: "published.too-many-rows", Args: []string{"rows"}}
	noteCells          = note.Kind{Code: "published.cells", Args: []string{"cells", "wanted"}}
	faultNoName        = note.Kind{Code: "fault.no-name"}
	faultNoRate        = note.Kind{Code: "fault.no-rate", Args: []string{"row"}}
	faultBadRate       = note.Kind{Code: "fault.bad-rate", Args: []string{"row", "why"}}
	faultUnclear       = note.Kind{Code: "fault.unclear"}
	noteBadRow         = note.Kind{Code: "published.bad", Args: []string{"error"}}
	noteBadValue       = note.Kind{Code: "published.bad-value", Args: []string{"name", "value", "error"}}
	noteNoUnit         = note.Kind{Code: "published.no-unit", Args: []string{"name", "value", "unit"}}
	noteNoRow          = note.Kind{Code: "published.no-row"}
	noteLongLine       = note.Kind{Code: "published.long-line", Args: []string{"kib"}}
	noteNoTable        = note.Kind{Code: "published.no-table"}
	noteNoEnd          = note.Kind{Code: "published.no-end"}
	noteNotServing     = note.Kind{Code: "published.not-serving", Args: []string{"text"}}
	noteNothingRead    = note.Kind{Code: "published.nothing-read"}
	noteNoDate         = note.Kind{Code: "published.no-date", Args: []string{"text"}}
	noteNotStress      = note.Kind{Code: "published.not-stress", Args: []string{"text"}}
	noteRepeated       = note.Kind{Code: "published.repeated", Args: []string{"text"}}
	noteNoCell         = note.Kind{Code: "published.no-cell"}
	noteOtherTable     = note.Kind{Code: "published.other-table", Args: []string{"columns"}}
)
