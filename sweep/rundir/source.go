package rundir

import "llmsweep/client/note"

// Source is where a result of another tool was read, so that each of its numbers can be traced to a line. In a stage
// with a Source, counts of 0 are not known: N is 0 in a [Dist] whose number of values is not known, and so are all
// fields of [Requests].
type Source struct {
	File    string `json:"file"`
	Line    int    `json:"line"`              // of the heading, the row, or the block's first line; from 1
	Format  string `json:"format,omitempty"`  // "six-column", "stress", "serving", or the JSON of a tool: "guidellm"
	Tool    string `json:"tool,omitempty"`    // the tool that wrote it and its version, where the file names them
	Heading string `json:"heading,omitempty"` // the headings above it
	// Printed are the numbers as they were printed, by their key in run.json: "ttft_s.mean".
	Printed map[string]Printed `json:"figures,omitempty"`
	// Other has the numbers for which run.json has no key, by their path in the file.
	Other map[string]Printed `json:"other,omitempty"`
	// Labels are the labels of the run with the lines that they are from, by their key in run.json: "gpus"; and
	// "gpu_memory", "launch", "max_model_len", "date".
	Labels map[string]Label `json:"labels,omitempty"`
	// Windowed reports whether rates are those of a window of time, as llmsweep counts them: tokens and requests that
	// end in it are not of the same requests, so that their quotient is no length.
	Windowed bool `json:"windowed,omitempty"`
	// StageTime is how long the stages of the document lasted, in seconds, as its rows together show.
	StageTime Number `json:"stage_time_s,omitzero"`
	// Responses are answers of the server that were printed with the result.
	Responses []Response `json:"responses,omitempty"`
}

// At returns how the number of that key was printed. A nil Source has none.
func (s *Source) At(key string) (Printed, bool) {
	if s == nil {
		return Printed{}, false
	}
	p, ok := s.Printed[key]
	return p, ok
}

// Label is where a label of an imported result comes from.
type Label struct {
	Line int    `json:"line,omitempty"` // from 1; 0 for a label that the user set
	Text string `json:"text"`           // what stands there
	// Inferred reports whether the text does not say it of this result: it is of another result, or of the whole
	// machine.
	Inferred bool `json:"inferred,omitempty"`
}

// Printed is a number as it was printed, with its unit.
type Printed struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Response is the part of a server's answer that tells its lengths.
type Response struct {
	Line             int    `json:"line"`
	CompletionTokens int    `json:"completion_tokens"`
	PromptTokens     int    `json:"prompt_tokens,omitempty"`
	Finish           string `json:"finish,omitempty"`
	Latency          Number `json:"latency_s,omitzero"`
}

// Doubt is what the audit found of a stage that was read from a document: which of its figures contradict others, and
// why.
type Doubt struct {
	Rule  string `json:"rule"`
	Grade string `json:"grade"` // "impossible", "doubtful" or "remark"
	// Line is the line of the document, from 1, that the finding names.
	Line int `json:"line,omitempty"`
	// Figures are the numbers that nothing may rest on, by their key in run.json: "inter_token_s". Empty for a finding
	// that leaves all of them in use.
	Figures []string  `json:"figures,omitempty"`
	Note    note.Note `json:"note"`
}
