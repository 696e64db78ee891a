package server

import (
	"encoding/json"
	"fmt"
	"llmsweep/client/sim"
	"net/http"
	"strings"
)

// tgiDefault is how many tokens TGI gives where none were asked for.
const tgiDefault = 100

// tgiAPI is TGI's own /generate_stream, after huggingface/text-generation-inference, docs/openapi.json 2.4.1; not seen
// on a running engine. It always streams.
func tgiAPI() *api {
	return &api{
		path: "/generate_stream", known: strings.Fields("inputs parameters"), framing: events(), refusal: tgiRefusal,
		invalid: http.StatusUnprocessableEntity, parse: parseTGI,
		voice: func(a *answer) voice { return &tgiVoice{chunkWriter{answer: a}} },
	}
}

func parseTGI(s *server, raw []byte) (job, error) {
	var b struct {
		Inputs     string `json:"inputs"`
		Parameters struct {
			MaxNewTokens *int     `json:"max_new_tokens"`
			Details      bool     `json:"details"`
			Temperature  *float64 `json:"temperature"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("Failed to deserialize the JSON body into the target type: %v", err)
	}
	if t := b.Parameters.Temperature; t != nil && *t <= 0 {
		return job{}, badRequest("Input validation error: `temperature` must be strictly positive")
	}
	j := job{stream: true, usage: b.Parameters.Details && !s.options.NoUsage}
	ids := appendTokens(nil, b.Inputs, s.config.Model.Vocab)
	return j, s.settle(&j, ids, wish{most: b.Parameters.MaxNewTokens, otherwise: tgiDefault})
}

// tgiRefusal is TGI's error object.
func tgiRefusal(e *apiError) []byte {
	kind := "generation"
	switch e.Status {
	case http.StatusBadRequest:
		kind = "validation"
	case http.StatusTooManyRequests:
		kind = "overloaded"
	}
	return asJSON(map[string]string{"error": e.Message, "error_type": kind})
}

// tgiVoice sends an event a token, however many come at once; the last has the whole text and the details.
type tgiVoice struct{ chunkWriter }

func (v *tgiVoice) opening() []byte { return nil }

func (v *tgiVoice) tokens(from, to int) []byte {
	v.buf = v.buf[:0]
	for n := from + 1; n <= to; n++ {
		v.say(v.api.framing.before)
		v.event(n)
		v.end()
	}
	return v.buf
}

func (v *tgiVoice) event(n int) {
	v.say(`{"index":`)
	v.number(n)
	v.say(`,"token":{"id":`)
	v.number(int(v.idAt(n)))
	v.say(`,"text":"`)
	v.words(n-1, n)
	v.say(`","logprob":-0.5,"special":false},"generated_text":`)
	if !v.last(n) {
		v.say(`null,"details":null`)
		return
	}
	v.buf = append(v.buf, quote(v.text(0, n))...)
	v.say(`,"details":`)
	if !v.job.usage {
		v.say("null")
		return
	}
	finish := map[string]string{"length": "length", "stop": "eos_token"}[v.job.finish]
	v.buf = fmt.Appendf(v.buf, `{"finish_reason":"%s","generated_tokens":%d,"seed":null,"input_length":%d}`,
		finish, n, v.job.seq.PromptTokens)
}

func (v *tgiVoice) closing(sim.Usage, func([]byte) bool) {}

func (v *tgiVoice) whole(u sim.Usage) []byte { return v.tokens(0, u.OutputTokens) }

func aboutTGI(s *server) map[string]route {
	info := page(map[string]any{
		"model_id": s.options.ModelID, "max_total_tokens": s.config.MaxModelLen, "max_input_tokens": s.config.MaxModelLen - 1,
		"max_concurrent_requests": 128, "router": "text-generation-router", "version": "2.4.1-sim"})
	tokenize := func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Inputs string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("%v", err))
			return
		}
		tokens := []map[string]any{}
		for _, id := range appendTokens(nil, b.Inputs, s.config.Model.Vocab) {
			tokens = append(tokens, map[string]any{"id": id})
		}
		writeJSON(w, http.StatusOK, tokens)
	}
	return map[string]route{"/info": {http.MethodGet, info}, "/tokenize": {http.MethodPost, tokenize}}
}
