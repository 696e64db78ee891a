package rundir

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Record is one line of records.jsonl: one request. Instants are seconds from the stage's start; what never came is
// absent.
type Record struct {
	Stage       string `json:"stage"`
	Seq         int    `json:"seq"`  // the task's place in its stage, from 0
	Turn        int    `json:"turn"` // from 0; above 0 in a conversation
	Due         Number `json:"due"`
	Queued      Number `json:"queued,omitzero"` // seconds that the concurrency bound held it back
	Sent        Number `json:"sent,omitzero"`
	Headers     Number `json:"headers,omitzero"`
	FirstToken  Number `json:"first_token,omitzero"`
	FirstAnswer Number `json:"first_answer,omitzero"`
	LastToken   Number `json:"last_token,omitzero"`
	End         Number `json:"end,omitzero"`
	Dial        Number `json:"dial,omitzero"`    // seconds spent on a new connection, part of the lag
	Resent      int    `json:"resent,omitempty"` // connections that were found closed before any of the request was written on them

	Status  string `json:"status"`
	Error   string `json:"error,omitempty"`   // the class
	Message string `json:"message,omitempty"` // the failure in words
	HTTP    int    `json:"http,omitempty"`

	AskedTokens     int    `json:"asked_tokens,omitempty"`
	PromptTokens    Number `json:"prompt_tokens,omitzero"`
	OutputTokens    Number `json:"output_tokens,omitzero"`
	ReasoningTokens Number `json:"reasoning_tokens,omitzero"`
	CachedTokens    Number `json:"cached_tokens,omitzero"`
	TokenSource     string `json:"token_source,omitempty"`
	Finish          string `json:"finish,omitempty"`

	GapsUS []int64 `json:"gaps_us,omitempty"` // between token-bearing chunks, rounded cumulatively so that they add up
	Counts []int32 `json:"counts,omitempty"`  // tokens in each chunk; left out where all are 1

	// Shared are the token-bearing chunks, from 0, that were received together with the next one: theirs is the instant of
	// the last, and the gaps around them are not to be trusted one by one. ReadDelay is how late, in seconds and at most,
	// this program read what the kernel had received; absent where the kernel did not date it.
	Shared    []int32 `json:"shared,omitempty"`
	ReadDelay Number  `json:"read_delay,omitzero"`
}

func (r *Record) clone() *Record {
	c := *r
	c.GapsUS, c.Counts = slices.Clone(r.GapsUS), slices.Clone(r.Counts)
	c.Shared = slices.Clone(r.Shared)
	return &c
}

// appendJSON writes r as encoding/json would, without its cost: a busy server ends thousands of requests a second, each
// with a gap for every token.
func (r *Record) appendJSON(b []byte) []byte {
	b = append(b, `{"stage":`...)
	b = appendString(b, r.Stage)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, int64(r.Seq), 10)
	b = append(b, `,"turn":`...)
	b = strconv.AppendInt(b, int64(r.Turn), 10)
	b = appendNumber(b, "due", r.Due)
	b = appendNumber(b, "queued", r.Queued)
	b = appendNumber(b, "sent", r.Sent)
	b = appendNumber(b, "headers", r.Headers)
	b = appendNumber(b, "first_token", r.FirstToken)
	b = appendNumber(b, "first_answer", r.FirstAnswer)
	b = appendNumber(b, "last_token", r.LastToken)
	b = appendNumber(b, "end", r.End)
	b = appendNumber(b, "dial", r.Dial)
	b = appendCount(b, "resent", r.Resent)
	b = append(b, `,"status":`...)
	b = appendString(b, r.Status)
	b = appendText(b, "error", r.Error)
	b = appendText(b, "message", r.Message)
	b = appendCount(b, "http", r.HTTP)
	b = appendCount(b, "asked_tokens", r.AskedTokens)
	b = appendNumber(b, "prompt_tokens", r.PromptTokens)
	b = appendNumber(b, "output_tokens", r.OutputTokens)
	b = appendNumber(b, "reasoning_tokens", r.ReasoningTokens)
	b = appendNumber(b, "cached_tokens", r.CachedTokens)
	b = appendText(b, "token_source", r.TokenSource)
	b = appendText(b, "finish", r.Finish)
	b = appendInts(b, "gaps_us", r.GapsUS)
	b = appendInts(b, "counts", r.Counts)
	b = appendInts(b, "shared", r.Shared)
	b = appendNumber(b, "read_delay", r.ReadDelay)
	return append(b, '}')
}

func appendKey(b []byte, key string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

// appendNumber writes seconds to the nanosecond: finer is noise.
func appendNumber(b []byte, key string, f Number) []byte {
	if !f.Known() {
		return b
	}
	b = appendKey(b, key)
	n := len(b)
	b = strconv.AppendFloat(b, f.Value(), 'f', 9, 64)
	for len(b) > n && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	return b
}

func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendString(appendKey(b, key), s)
}

func appendCount(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), int64(n), 10)
}

func appendInts[T int32 | int64](b []byte, key string, v []T) []byte {
	if len(v) == 0 {
		return b
	}
	b = append(appendKey(b, key), '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(x), 10)
	}
	return append(b, ']')
}

// appendString leaves the rare string that needs escapes to the standard library.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil { // no string fails to marshal
		return append(b, `""`...)
	}
	return append(b, q...)
}
