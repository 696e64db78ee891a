package workload

import "llmsweep/client/note"

// What is known of the length of made-up prompts.
var (
	noteLengthGuess   = note.Kind{Code: "prompts.length-guess", Args: []string{"error"}}
	noteLengthUnknown = note.Kind{Code: "prompts.not-checked", Args: []string{"error"}}
	noteLengthOff     = note.Kind{Code: "prompts.length-differs", Args: []string{"asked", "counted"}}
)

// What a reader should know of a data file. Notes with the argument file are about that file.
var (
	// drawn_from absent where all are taken
	noteRows      = note.Kind{Code: "dataset.rows", Args: []string{"file", "rows", "drawn_from"}}
	noteEstimated = note.Kind{Code: "dataset.token-estimate", Args: []string{"file", "texts", "source"}}
	// error absent where no server was asked
	noteGuessed   = note.Kind{Code: "dataset.token-guess", Args: []string{"file", "error"}}
	noteBuiltIn   = note.Kind{Code: "dataset.built-in", Args: []string{"tokens"}}
	noteLongTexts = note.Kind{Code: "dataset.long-texts", Args: []string{"file", "rows", "asked"}}
	// speed absent where it is 1
	noteTrace    = note.Kind{Code: "trace.requests", Args: []string{"file", "requests", "time", "rate", "speed"}}
	noteDisorder = note.Kind{Code: "trace.sorted", Args: []string{"file", "requests"}}
	// lines: the first few; why: one note
	noteSkipped    = note.Kind{Code: "file.skipped", Args: []string{"file", "rows", "lines", "why"}}
	noteNoDataset  = note.Kind{Code: "dataset.unusable", Args: []string{"file", "line", "rows", "why"}}
	noteNoTrace    = note.Kind{Code: "trace.unusable", Args: []string{"file", "line", "rows", "why"}}
	noteNoPrompts  = note.Kind{Code: "dataset.empty", Args: []string{"file"}}
	noteNoRequests = note.Kind{Code: "trace.empty", Args: []string{"file"}}
)

// Why a row is left out.
var (
	skipNoJSONLine   = note.Kind{Code: "skip.no-json-line"}
	skipBrokenOff    = note.Kind{Code: "skip.broken-off", Args: []string{"error"}} // error absent where the file just ends
	skipTooLong      = note.Kind{Code: "skip.row-too-long", Args: []string{"megabytes"}}
	skipNoCSV        = note.Kind{Code: "skip.no-csv", Args: []string{"error"}}
	skipCSVFields    = note.Kind{Code: "skip.csv-fields"}
	skipNoObject     = note.Kind{Code: "skip.no-object"}
	skipEmptyPrompt  = note.Kind{Code: "skip.empty-prompt"}
	skipNoPrompt     = note.Kind{Code: "skip.no-prompt"}
	skipOutput       = note.Kind{Code: "skip.output-tokens", Args: []string{"field"}}
	skipSpeaker      = note.Kind{Code: "skip.unknown-speaker"}
	skipOneTurn      = note.Kind{Code: "skip.one-turn"}
	skipNoAnswer     = note.Kind{Code: "skip.no-answer"}
	skipRole         = note.Kind{Code: "skip.unknown-role"}
	skipNotText      = note.Kind{Code: "skip.not-text"}
	skipNoUser       = note.Kind{Code: "skip.no-user-message"}
	skipShort        = note.Kind{Code: "skip.too-short", Args: []string{"min_prompt", "min_output"}}
	skipGrade        = note.Kind{Code: "skip.grade", Args: []string{"error"}}
	skipGradedTurns  = note.Kind{Code: "skip.graded-turns"}
	skipTime         = note.Kind{Code: "skip.no-timestamp"}
	skipFar          = note.Kind{Code: "skip.far-timestamp"}
	skipPromptTokens = note.Kind{Code: "skip.no-prompt-tokens"}
	skipOutputTokens = note.Kind{Code: "skip.no-output-tokens"}
)
