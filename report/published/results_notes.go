package published

import "llmsweep/client/note"

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
	noteLLMDVersion  = note.Kind{Code: "published.llm-d-version", Args: []string{"version"}}
	noteLLMDUnit     = note.Kind{Code: "published.llm-d-unit", Args: []string{"path", "unit", "wanted"}}
)
