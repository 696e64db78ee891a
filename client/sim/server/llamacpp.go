package server

import (
	"encoding/json"
	"fmt"
	"llmsweep/client/sim"
	"net/http"
	"strings"
)

// llamacppAPI is llama-server's own /completion, after captures of b11669.
func llamacppAPI() *api {
	return &api{
		path: "/completion", known: strings.Fields("prompt n_predict stream temperature top_k top_p seed stop cache_prompt"),
		framing: events(), parse: parseLlamacpp, refusal: llamacppRefusal,
		voice: func(a *answer) voice { return &llamacppVoice{chunkWriter{answer: a}} },
	}
}

func parseLlamacpp(s *server, raw []byte) (job, error) {
	var b struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stream    bool            `json:"stream"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := completionPrompt(b.Prompt, s.config.Model.Vocab)
	if err != nil {
		return job{}, err
	}
	if b.NPredict != nil && *b.NPredict < 0 {
		b.NPredict = nil // without limit
	}
	j := job{stream: b.Stream}
	return j, s.settle(&j, ids, wish{most: b.NPredict, otherwise: naturalLimit, forced: b.IgnoreEOS})
}

// llamacppRefusal is llama-server's error object.
func llamacppRefusal(e *apiError) []byte {
	kind := "server_error"
	if e.Status < 500 {
		kind = "invalid_request_error"
	}
	return asJSON(map[string]any{"error": map[string]any{"code": e.Status, "message": e.Message, "type": kind}})
}

// llamacppVoice ends with a chunk that says "stop":true and everything about the request.
type llamacppVoice struct{ chunkWriter }

func (v *llamacppVoice) opening() []byte { return nil }

func (v *llamacppVoice) tokens(from, to int) []byte {
	v.begin()
	v.say(`{"index":0,"content":"`)
	v.words(from, to)
	v.say(`","tokens":[`)
	v.ids(from, to)
	v.say(`],"stop":false,"id_slot":-1`)
	v.counts(to)
	return v.end()
}

func (v *llamacppVoice) counts(produced int) {
	if v.server.options.NoUsage {
		return
	}
	v.say(`,"tokens_predicted":`)
	v.number(produced)
	v.say(`,"tokens_evaluated":`)
	v.number(v.job.seq.PromptTokens)
}

func (v *llamacppVoice) closing(u sim.Usage, send func([]byte) bool) {
	v.begin()
	v.summary(u, "", "")
	send(v.end())
}

// summary is the last object, but for its closing brace.
func (v *llamacppVoice) summary(u sim.Usage, text, ids string) {
	kind := map[string]string{"length": "limit", "stop": "eos"}[v.job.finish]
	v.buf = fmt.Appendf(v.buf, `{"index":0,"content":"%s","tokens":[%s],"id_slot":0,"stop":true,"model":%s`,
		text, ids, quote(v.server.options.ModelID))
	v.counts(u.OutputTokens)
	v.buf = fmt.Appendf(v.buf, `,"generation_settings":{"n_predict":%d,"stream":%t,"samplers":["top_k","temperature"]},`+
		`"has_new_line":false,"truncated":false,"stop_type":"%s","stopping_word":"","tokens_cached":%d`,
		u.OutputTokens, v.job.stream, kind, u.PromptTokens+u.OutputTokens-1)
	if !v.server.options.NoUsage {
		v.buf = appendTimings(v.buf, u)
	}
}

func (v *llamacppVoice) whole(u sim.Usage) []byte {
	v.buf = v.buf[:0]
	text := quote(v.text(0, u.OutputTokens))
	v.summary(u, string(text[1:len(text)-1]), "")
	v.say("}")
	return v.buf
}

// appendTimings writes what llama-server measures; the simulator tells counts only.
func appendTimings(buf []byte, u sim.Usage) []byte {
	return fmt.Appendf(buf, `,"timings":{"cache_n":%d,"prompt_n":%d,"predicted_n":%d}`,
		u.CachedTokens, u.PromptTokens-u.CachedTokens, u.OutputTokens)
}

func aboutLlamacpp(s *server) map[string]route {
	props := page(map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.config.MaxModelLen},
		"total_slots":                 s.config.MaxNumSeqs, "model_alias": s.options.ModelID, "model_path": s.options.ModelID,
		"build_info": "b0-sim"})
	tokenize := func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Content string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"tokens": appendTokens([]uint32{}, b.Content, s.config.Model.Vocab)})
	}
	return map[string]route{"/props": {http.MethodGet, props}, "/tokenize": {http.MethodPost, tokenize}}
}
