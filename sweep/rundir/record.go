package rundir

import "slices"

// Record is one line of records.jsonl: what happened to one request. Instants are seconds since the start of the stage;
// one that did not happen is absent.
type Record struct {
	Stage       string `json:"stage"`
	Seq         int    `json:"seq"`               // the place of its session in the stage, from 0
	Turn        int    `json:"turn"`              // from 0; above 0 in a conversation
	Rank        Number `json:"rank,omitzero"`     // of the process that sent it; absent where there was one
	Replica     int    `json:"replica,omitempty"` // which of several servers got it, from 1; 0 where there is one
	Due         Number `json:"due,omitzero"`
	Queued      Number `json:"queued,omitzero"` // seconds that the concurrency bound delayed it
	Sent        Number `json:"sent,omitzero"`
	Headers     Number `json:"headers,omitzero"`
	FirstToken  Number `json:"first_token,omitzero"`
	FirstAnswer Number `json:"first_answer,omitzero"`
	LastToken   Number `json:"last_token,omitzero"`
	End         Number `json:"end,omitzero"`
	Dial        Number `json:"dial,omitzero"` // seconds spent on connecting; part of the lag
	// connections that were found closed before any of the request was written
	Resent int `json:"resent,omitempty"`

	Status  string `json:"status"`
	Error   string `json:"error,omitempty"`   // the class
	Message string `json:"message,omitempty"` // the failure in words
	HTTP    int    `json:"http,omitempty"`

	AskedTokens int `json:"asked_tokens,omitempty"`
	// the length that the workload wanted, where the request did not end well
	AskedPrompt     int    `json:"asked_prompt_tokens,omitempty"`
	PromptTokens    Number `json:"prompt_tokens,omitzero"`
	OutputTokens    Number `json:"output_tokens,omitzero"`
	ReasoningTokens Number `json:"reasoning_tokens,omitzero"`
	CachedTokens    Number `json:"cached_tokens,omitzero"`
	// of the prompt that the run had sent before: what an unlimited prefix cache holds
	IdealTokens int    `json:"ideal_tokens,omitempty"`
	TokenSource string `json:"token_source,omitempty"`
	Finish      string `json:"finish,omitempty"`

	GapsUS []int64 `json:"gaps_us,omitempty"` // between token-bearing chunks, rounded cumulatively so that they add up
	Counts []int32 `json:"counts,omitempty"`  // tokens in each chunk; left out where all are 1

	// Shared are the token-bearing chunks, counted from 0, that were read together with the next one: their instant is
	// that of the last, so that single gaps around them are wrong. ReadDelay is the longest time in seconds from when
	// the kernel had received bytes to when this program read them; absent without timestamps from the kernel.
	Shared    []int32 `json:"shared,omitempty"`
	ReadDelay Number  `json:"read_delay,omitzero"`
}

// Clone returns a copy that shares nothing with r.
func (r *Record) Clone() *Record {
	c := *r
	c.GapsUS, c.Counts = slices.Clone(r.GapsUS), slices.Clone(r.Counts)
	c.Shared = slices.Clone(r.Shared)
	return &c
}

// Shifted returns a copy whose instants are later by a number of seconds: by the clock of another stage.
func (r *Record) Shifted(by float64) *Record {
	c := *r
	for _, at := range []*Number{&c.Due, &c.Sent, &c.Headers, &c.FirstToken, &c.FirstAnswer, &c.LastToken, &c.End} {
		if at.Known() {
			*at = Exactly(at.Value() + by)
		}
	}
	return &c
}
