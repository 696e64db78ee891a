package server

import (
	"encoding/json"
	"fmt"
	"llmsweep/client/sim"
	"net/http"
	"strings"
	"time"
)

// ollamaContext is Ollama's num_ctx where nobody sets another.
const ollamaContext = 4096

// ollamaChatAPI and ollamaGenerateAPI are Ollama's own, after captures of 0.17.4 and ollama/ollama, docs/api.md;
// thinking was not seen on a running engine.
func ollamaChatAPI() *api {
	return ollamaAPI("/api/chat", "model messages stream think options format keep_alive")
}
func ollamaGenerateAPI() *api {
	return ollamaAPI("/api/generate", "model prompt raw stream think options format keep_alive system")
}

func ollamaAPI(path, known string) *api {
	chat := path == "/api/chat"
	return &api{
		path: path, known: strings.Fields(known), framing: lines(), refusal: plainRefusal,
		parse: func(s *server, raw []byte) (job, error) { return parseOllama(s, raw, chat) },
		voice: func(a *answer) voice {
			return &ollamaVoice{chunkWriter{answer: a}, quote(a.server.options.ModelID)}
		},
	}
}

// ollamaBody is a request to either.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []chatMessage   `json:"messages"`
	Prompt   string          `json:"prompt"`
	Raw      bool            `json:"raw"`
	Stream   *bool           `json:"stream"`
	Think    json.RawMessage `json:"think"` // a bool, or how much
	Truncate *bool           `json:"truncate"`
	Options  struct {
		NumPredict *int `json:"num_predict"`
		NumCtx     int  `json:"num_ctx"`
	} `json:"options"`
}

func parseOllama(s *server, raw []byte, chat bool) (job, error) {
	var b ollamaBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("%v", err)
	}
	if s.checkModel(b.Model) != nil || b.Model == "" {
		return job{}, &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("model '%s' not found", b.Model)}
	}
	asked := len(b.Think) > 0 && string(b.Think) != "null" && string(b.Think) != "false"
	if asked && s.options.Think == 0 {
		return job{}, badRequest("%q does not support thinking", b.Model)
	}
	ids, err := b.tokens(s, chat)
	if err != nil {
		return job{}, err
	}
	context := ollamaContext
	if b.Options.NumCtx > 0 {
		context = b.Options.NumCtx
	}
	if b.Truncate != nil && !*b.Truncate && len(ids) > context {
		return job{}, badRequest("the input length exceeds the context length")
	}
	if p := b.Options.NumPredict; p != nil && *p < 1 {
		b.Options.NumPredict = nil // without limit
	}
	j := job{chat: chat, stream: b.Stream == nil || *b.Stream}
	if err := s.settle(&j, cut(ids, context), wish{most: b.Options.NumPredict, otherwise: naturalLimit}); err != nil {
		return job{}, err
	}
	if !b.Raw && string(b.Think) != "false" {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// tokens are the prompt's: with the chat template but in raw mode.
func (b *ollamaBody) tokens(s *server, chat bool) ([]uint32, error) {
	vocab := s.config.Model.Vocab
	switch {
	case chat:
		return s.chatTokens(b.Messages)
	case b.Raw:
		return appendTokens(nil, b.Prompt, vocab), nil
	}
	return appendChat(nil, []message{{"user", b.Prompt}}, vocab), nil
}

// ollamaVoice sends one object a line; the last has the counts and no text.
type ollamaVoice struct {
	chunkWriter
	model []byte
}

func (v *ollamaVoice) opening() []byte { return nil }

func (v *ollamaVoice) tokens(from, to int) []byte {
	v.begin()
	v.line(from, to)
	v.say(`,"done":false`)
	return v.end()
}

// line is an object with the tokens after from, up to to, thoughts where they are thoughts.
func (v *ollamaVoice) line(from, to int) {
	v.say(`{"model":`)
	v.buf = append(v.buf, v.model...)
	v.say(`,"created_at":"`)
	v.buf = time.Now().UTC().AppendFormat(v.buf, time.RFC3339Nano)
	text := `","response":"`
	if v.job.chat {
		text = `","message":{"role":"assistant","content":"`
	}
	v.say(text)
	if from < v.job.seq.ReasoningTokens && to > from {
		v.say(`","thinking":"`)
	}
	v.words(from, to)
	v.say(`"`)
	if v.job.chat {
		v.say("}")
	}
}

func (v *ollamaVoice) closing(u sim.Usage, send func([]byte) bool) {
	v.begin()
	v.line(u.OutputTokens, u.OutputTokens)
	v.counts(u)
	send(v.end())
}

func (v *ollamaVoice) counts(u sim.Usage) {
	v.buf = fmt.Appendf(v.buf, `,"done":true,"done_reason":"%s","total_duration":%d,"load_duration":1`,
		v.job.finish, time.Since(v.created).Nanoseconds())
	if !v.server.options.NoUsage {
		v.buf = fmt.Appendf(v.buf, `,"prompt_eval_count":%d,"prompt_eval_duration":1,"eval_count":%d,"eval_duration":1`,
			u.PromptTokens, u.OutputTokens)
	}
}

func (v *ollamaVoice) whole(u sim.Usage) []byte {
	v.buf = v.buf[:0]
	v.line(v.job.seq.ReasoningTokens, u.OutputTokens)
	v.counts(u)
	v.say("}")
	return v.buf
}

func aboutOllama(s *server) map[string]route {
	model := map[string]any{"name": s.options.ModelID, "model": s.options.ModelID, "details": map[string]string{"format": "gguf"}}
	loaded := map[string]any{"name": s.options.ModelID, "model": s.options.ModelID, "context_length": ollamaContext}
	return map[string]route{
		"/api/version": {http.MethodGet, page(map[string]string{"version": "0.17.4+sim"})},
		"/api/tags":    {http.MethodGet, page(map[string]any{"models": []any{model}})},
		"/api/ps":      {http.MethodGet, page(map[string]any{"models": []any{loaded}})},
	}
}
