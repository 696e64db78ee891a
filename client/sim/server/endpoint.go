package server

import (
	"encoding/json"
	"net/http"
	"time"

	"llmsweep/client/sim"
)

// endpoint is one completion endpoint: how its requests are read and its answers are written.
type endpoint struct {
	Path        string
	KnownFields []string // body fields that a strict server accepts
	Parse       func(s *Host, raw []byte) (request, error)
	Encoder     func(a *AnswerState) encoder
	Refusal     func(e *apiError) any // the error object
	Done        bool                  // [DONE] ends a stream, also after an error
}

// encoder makes the JSON objects of one answer.
type encoder interface {
	// Opening returns the object that is sent before the first token; nil for none.
	Opening() any
	// Tokens returns the objects with the tokens after from, up to to. They are sent in one write.
	Tokens(from, to int) []any
	// Closing returns the objects that are sent after the last token.
	Closing(u sim.Usage) []any
	// Whole returns the answer in one piece.
	Whole(u sim.Usage) any
}

const done = "data: [DONE]\n\n"

// appendFrame appends an event with the given data.
func appendFrame(buf, data []byte) []byte {
	buf = append(buf, "data: "...)
	buf = append(buf, data...)
	return append(buf, "\n\n"...)
}

// Refuse answers with an error in the API's shape.
func (to *endpoint) Refuse(w http.ResponseWriter, e *apiError) {
	writeJSON(w, e.Status, to.Refusal(e))
}

// marshal returns v as JSON. Only values that can be encoded are passed to it.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// Stamp is the simulator's own member of each chunk, where the request asked for it.
type Stamp struct {
	SentNS int64 `json:"sim_sent_ns,omitempty"` // when the chunk was sent, Unix time in ns
}

// Stamp returns the time stamp of a chunk that is sent now; zero where none was asked for.
func (a *AnswerState) Stamp() (s Stamp) {
	if a.stamps {
		s.SentNS = time.Now().UnixNano()
	}
	return s
}

// jsonNull is the value of a member that is null. Members of type any that are nil are left out, where their tag says
// omitzero; null is not nil.
func jsonNull() any { return (*int)(nil) }

// UsageCount returns a count; nil, which omitempty leaves out, where usage is never reported.
func (a *AnswerState) UsageCount(n int) *int {
	if a.Host.Options.NoUsage {
		return nil
	}
	return &n
}

// TokenIDs returns the ids of the tokens after from, up to to.
func (a *AnswerState) TokenIDs(from, to int) []uint32 {
	ids := make([]uint32, 0, to-from)
	for n := from + 1; n <= to; n++ {
		ids = append(ids, id(a.said.Word(n), a.Host.Config.Model.Vocab))
	}
	return ids
}
