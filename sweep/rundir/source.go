package rundir

// Source is where a result of another tool was read, so that each of its numbers can be traced to a line. In a stage with a Source,
// counts of 0 are not known: N is 0 in a [Dist] whose number of values is not known, and so are all fields of [Requests].
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
	// Responses are answers of the server that were printed with the result.
	Responses []Response `json:"responses,omitempty"`
}

// Printed is a number as it was printed, with its unit.
type Printed struct {
	File string `json:"file,omitempty"` // where it is not the Source's
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
