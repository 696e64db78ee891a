package server

// Options say how the HTTP server behaves. The zero value behaves as vLLM, and serves the model under its own name.
type Options struct {
	ModelID         string // served name; empty for the name of the configured model
	APIKey          string // if set, /v1 requires it as a bearer token
	Strict          bool   // reject unknown body fields (ignore_eos, min_tokens, ...) with a 400 that names them, as hosted APIs do
	ChunkTokens     int    // tokens in each chunk but the first, which has one (vLLM's --stream-interval); 0 for 1
	NoUsage         bool   // never report usage
	UsageEveryChunk bool   // report usage on each chunk and at the end, asked or not
	Think           int    // reasoning tokens at the head of a chat answer, unless enable_thinking is false
	ReasoningField  string // "reasoning_content" or "reasoning"; empty for the engine's own
	Natural         NaturalLength
	IgnoreLength    bool // answers end at a natural length even where ignore_eos or min_tokens forbid it
	FullLength      bool // answers are as long as allowed, even without ignore_eos
	Faults          Faults
	NoLogProbs      bool   // log-probabilities are never sent; a strict server refuses to be asked for them
	Engine          string // which engine's APIs to serve, one of [Engines]; empty for "vllm"
	Texts           string // texts in SGLang's streams: "pieces" or "cumulative"; empty for the engine's default
}
