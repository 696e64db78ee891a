package rundir

// Source says where a result was read that another tool printed, so that each of its figures can be traced to a line.
// What was measured here has none. In a stage with a Source no counts means that none were told: N is 0 in a [Dist]
// whose number of samples nobody knows, and a [Requests] of zeros counts nothing.
type Source struct {
	File    string `json:"file"`
	Line    int    `json:"line"`              // of the heading, the row, or the block's first line; from 1
	Format  string `json:"format,omitempty"`  // "six-column", "stress", "serving", or the name of a tool's JSON: "guidellm"
	Tool    string `json:"tool,omitempty"`    // the tool that wrote it and its version, where the file names them
	Heading string `json:"heading,omitempty"` // the headings it stood under
	// Figures are what was printed, by the key that it has in run.json: "ttft_s.mean".
	Figures map[string]Printed `json:"figures,omitempty"`
	// Other has the numbers for which run.json has no key, by their path in the file.
	Other map[string]Printed `json:"other,omitempty"`
	// Responses are answers of the server that were printed next to the result.
	Responses []Response `json:"responses,omitempty"`
}

// Printed is a figure as it was printed, unit and all.
type Printed struct {
	File string `json:"file,omitempty"` // where it is not the Source's
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Response is an answer of a server as far as it says something of its lengths.
type Response struct {
	Line             int    `json:"line"`
	CompletionTokens int    `json:"completion_tokens"`
	PromptTokens     int    `json:"prompt_tokens,omitempty"`
	Finish           string `json:"finish,omitempty"`
	Latency          Number `json:"latency_s,omitzero"`
}
