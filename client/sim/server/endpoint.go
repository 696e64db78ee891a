package server

import (
	"encoding/json"
	"net/http"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// endpoint is one completion endpoint: how its requests are read and its answers are written.
type endpoint struct {
	path           string
	known          []string // body fields that a strict server accepts
	framing        framing
	parse          func(s *server, raw []byte) (request, error)
	encoder        func(a *answer) encoder
	refusal        func(e *apiError) any // the error object
	invalid        int                   // status of a request that cannot be served; 0 for 400
	done           bool                  // [DONE] ends a stream
	doneAfterError bool                  // [DONE] follows an error inside a stream
}

// encoder makes the JSON objects of one answer.
type encoder interface {
	// opening returns the object that is sent before the first token; nil for none.
	opening() any
	// tokens returns the objects with the tokens after from, up to to. They are sent in one write.
	tokens(from, to int) []any
	// closing returns the objects that are sent after the last token.
	closing(u sim.Usage) []any
	// whole returns the answer in one piece.
	whole(u sim.Usage) any
}

// framing is how a stream is cut into frames.
type framing struct{ media, before, after string }

func events() framing { return framing{"text/event-stream; charset=utf-8", "data: ", "\n\n"} }
func lines() framing  { return framing{"application/x-ndjson", "", "\n"} }

const done = "data: [DONE]\n\n"

// appendFrame appends a frame with the given data.
func (f framing) appendFrame(buf, data []byte) []byte {
	buf = append(buf, f.before...)
	buf = append(buf, data...)
	return append(buf, f.after...)
}

// refuse answers with an error in the API's shape.
func (to *endpoint) refuse(w http.ResponseWriter, e *apiError) {
	status := e.Status
	if status == http.StatusBadRequest && to.invalid != 0 {
		status = to.invalid
	}
	writeJSON(w, status, to.refusal(e))
}

// marshal returns v as JSON. Only values that can be encoded are passed to it.
func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// plainRefusal is {"error": ".."}.
func plainRefusal(e *apiError) any { return map[string]string{"error": e.Message} }

// stamp is the simulator's own member of each chunk, where the request asked for it.
type stamp struct {
	SentNS int64 `json:"sim_sent_ns,omitempty"` // when the chunk was sent, Unix time in ns
}

func (a *answer) stamp() (s stamp) {
	if a.stamps {
		s.SentNS = time.Now().UnixNano()
	}
	return s
}

// null is the value of a member that is null. Members of type any that are nil are left out, where their tag says
// omitzero; null is not nil.
func null() any { return (*int)(nil) }

// reported returns a count; nil, which omitempty leaves out, where usage is never reported.
func (a *answer) reported(n int) *int {
	if a.server.options.NoUsage {
		return nil
	}
	return &n
}

// ids returns the ids of the tokens after from, up to to.
func (a *answer) ids(from, to int) []uint32 {
	ids := make([]uint32, 0, to-from)
	for n := from + 1; n <= to; n++ {
		ids = append(ids, tokenizer.ID(a.said.Word(n), a.server.config.Model.Vocab))
	}
	return ids
}
