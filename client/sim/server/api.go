package server

import (
	"encoding/json"
	"llmsweep/client/sim"
	"net/http"
	"strconv"
	"time"
)

// api is one completion endpoint: how its requests are read and its answers are written.
type api struct {
	path           string
	known          []string // body fields that a strict server takes
	framing        framing
	parse          func(s *server, raw []byte) (job, error)
	voice          func(a *answer) voice
	refusal        func(e *apiError) []byte
	invalid        int  // status of a request that cannot be served; 0 for 400
	doneAfterError bool // [DONE] follows an error inside a stream
}

// voice writes one answer. What its methods return is valid until the next call.
type voice interface {
	// opening is what goes out before the first token; nil for nothing.
	opening() []byte
	// tokens is the chunk that carries the tokens after from, up to to.
	tokens(from, to int) []byte
	// closing sends what comes after the last token.
	closing(u sim.Usage, send func([]byte) bool)
	// whole is the answer in one piece.
	whole(u sim.Usage) []byte
}

// framing is how a stream is cut.
type framing struct{ media, before, after string }

func events() framing { return framing{"text/event-stream; charset=utf-8", "data: ", "\n\n"} }
func lines() framing  { return framing{"application/x-ndjson", "", "\n"} }

const done = "data: [DONE]\n\n"

// frame makes a frame of an object, with the terminator behind it or not.
func (f framing) frame(raw []byte, end bool) []byte {
	b := append([]byte(f.before), raw...)
	b = append(b, f.after...)
	if end {
		b = append(b, done...)
	}
	return b
}

// refuse answers with an error in the API's shape.
func (to *api) refuse(w http.ResponseWriter, e *apiError) {
	status := e.Status
	if status == http.StatusBadRequest && to.invalid != 0 {
		status = to.invalid
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(to.refusal(e), '\n'))
}

// asJSON writes what cannot fail to be written.
func asJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and lists of them
	}
	return raw
}

// plainRefusal is {"error": ".."}.
func plainRefusal(e *apiError) []byte { return asJSON(map[string]string{"error": e.Message}) }

// chunkWriter is what voices have in common. It appends to one buffer: nothing is allocated per token.
type chunkWriter struct {
	*answer
	buf []byte
}

// begin starts a frame.
func (w *chunkWriter) begin() { w.buf = append(w.buf[:0], w.api.framing.before...) }

func (w *chunkWriter) say(s string) { w.buf = append(w.buf, s...) }

func (w *chunkWriter) number(n int) { w.buf = strconv.AppendInt(w.buf, int64(n), 10) }

// words appends the tokens after from, up to to, as they stand inside a JSON string.
func (w *chunkWriter) words(from, to int) {
	for n := from + 1; n <= to; n++ {
		w.buf = append(w.buf, w.server.words[wordAt(w.job.seed, n)]...)
	}
}

// ids appends the ids of those tokens, between commas.
func (w *chunkWriter) ids(from, to int) {
	for n := from + 1; n <= to; n++ {
		if n > from+1 {
			w.buf = append(w.buf, ',')
		}
		w.number(int(w.idAt(n)))
	}
}

func (a *answer) idAt(n int) uint32 {
	return tokenID(words[wordAt(a.job.seed, n)], a.server.config.Model.Vocab)
}

// end closes the frame's object, and stamps it where that was asked for.
func (w *chunkWriter) end() []byte {
	if w.stamps {
		w.say(`,"sim_sent_ns":`)
		w.buf = strconv.AppendInt(w.buf, time.Now().UnixNano(), 10)
	}
	w.say("}")
	w.say(w.api.framing.after)
	return w.buf
}
