package rundir

import "llmsweep/client/note"

// Perplexity is how likely the server finds a text of the user, window by window, before the first stage. Without NLL it is not known, and the notes
// say why.
type Perplexity struct {
	File    string `json:"file"`    // the text's name
	Text    string `json:"text"`    // its fingerprint: runs with the same text and Window can be compared
	Length  int    `json:"bytes"`   // of the text
	Window  int    `json:"window"`  // bytes of a window, of which the second half is scored
	Planned int    `json:"planned"` // windows
	Way     string `json:"way,omitempty"`
	Windows int    `json:"windows"` // that were scored
	Tokens  int    `json:"tokens"`  // that were scored
	Scored  int    `json:"scored_bytes"`

	NLL         Estimate `json:"nll_nats_per_token,omitzero"`
	Perplexity  Estimate `json:"perplexity,omitzero"`    // its exponential
	BitsPerByte Estimate `json:"bits_per_byte,omitzero"` // does not depend on how a tokenizer divides the text

	Scores []WindowScore `json:"scores,omitempty"`
	Notes  []note.Note   `json:"notes,omitempty"`
}

// WindowScore is how likely the server finds the scored part of a window.
type WindowScore struct {
	At           int    `json:"at"` // the window's first byte in the text
	Tokens       int    `json:"tokens"`
	Bytes        int    `json:"bytes"`
	NLL          Number `json:"nll_nats"`     // of these tokens, in all
	Tokenization string `json:"tokenization"` // a fingerprint of the tokens' texts
}
