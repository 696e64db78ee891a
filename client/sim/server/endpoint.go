package server

import (
	"encoding/json"
	"net/http"
	"time"

	"llmsweep/client/sim"
)

// endpoint is one completion endpoint: how its requests are read and its answers are written.
type endpoint struct {
	Path           string
	KnownFields    []string // body fields that a strict server accepts
	Framing        framing
	Parse          func(s *Host, raw []byte) (request, error)
	Encoder        func(a *AnswerState) encoder
	Refusal        func(e *apiError) any // the error object
	Invalid        int                   // status of a request that cannot be served; 0 for 400
	Done           bool                  // [DONE] ends a stream
	DoneAfterError bool                  // [DONE] follows an error inside a stream
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

// framing is how a stream is cut into frames.
type framing struct{ media, before, after string }

// eventFraming frames objects as server-sent events.
func eventFraming() framing { return framing{"text/event-stream; charset=utf-8", "data: ", "\n\n"} }

// lineFraming frames objects as lines of JSON.
func lineFraming() framing { return framing{"application/x-ndjson", "", "\n"} }

const done = "data: [DONE]\n\n"

// appendFrame appends a frame with the given data.
func (f framing) appendFrame(buf, data []byte) []byte {
	buf = append(buf, f.before...)
	buf = append(buf, data...)
	return append(buf, f.after...)
}

// Refuse answers with an error in the API's shape.
func (to *endpoint) Refuse(w http.ResponseWriter, e *apiError) {
	status := e.Status
	if status == http.StatusBadRequest && to.Invalid != 0 {
		status = to.Invalid
	}
	writeJSON(w, status, to.Refusal(e))
}

// marshal returns v as JSON. Only values that can be encoded are passed to it.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// plainError returns an error as {"error": ".."}.
func plainError(e *apiError) any { return map[string]string{"error": e.Message} }

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
