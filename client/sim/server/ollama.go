package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// ollamaContext is Ollama's default num_ctx.
const ollamaContext = 4096

// ollamaChatEndpoint and ollamaGenerateEndpoint are Ollama's own, after captures of 0.17.4 and ollama/ollama, docs/api.md;
// thinking was not checked against a running engine.
func ollamaChatEndpoint() *endpoint {
	return ollamaEndpoint("/api/chat", "model messages stream think options format keep_alive logprobs top_logprobs")
}
func ollamaGenerateEndpoint() *endpoint {
	return ollamaEndpoint("/api/generate", "model prompt raw stream think options format keep_alive system logprobs top_logprobs")
}

func ollamaEndpoint(path, known string) *endpoint {
	chat := path == "/api/chat"
	return &endpoint{
		path: path, known: strings.Fields(known), framing: lines(), refusal: plainRefusal,
		parse:   func(s *server, raw []byte) (request, error) { return parseOllama(s, raw, chat) },
		encoder: func(a *answer) encoder { return &ollamaEncoder{a} },
	}
}

// ollamaBody is a request to either.
type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []chatMessage   `json:"messages"`
	Prompt   string          `json:"prompt"`
	Raw      bool            `json:"raw"`
	Stream   *bool           `json:"stream"`
	Think    json.RawMessage `json:"think"` // a bool, or a level
	Truncate *bool           `json:"truncate"`
	LogProbs bool            `json:"logprobs"`
	TopLogs  int             `json:"top_logprobs"`
	Options  struct {
		NumPredict *int `json:"num_predict"`
		NumCtx     int  `json:"num_ctx"`
	} `json:"options"`
}

func parseOllama(s *server, raw []byte, chat bool) (request, error) {
	var b ollamaBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("%v", err)
	}
	if s.checkModel(b.Model) != nil || b.Model == "" {
		return request{}, &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("model '%s' not found", b.Model)}
	}
	asked := len(b.Think) > 0 && string(b.Think) != "null" && string(b.Think) != "false"
	if asked && s.options.Think == 0 {
		return request{}, badRequest("%q does not support thinking", b.Model)
	}
	ids, err := b.tokens(s, chat)
	if err != nil {
		return request{}, err
	}
	context := ollamaContext
	if b.Options.NumCtx > 0 {
		context = b.Options.NumCtx
	}
	if b.Truncate != nil && !*b.Truncate && len(ids) > context {
		return request{}, badRequest("the input length exceeds the context length")
	}
	if p := b.Options.NumPredict; p != nil && *p < 1 {
		b.Options.NumPredict = nil // without limit
	}
	j := request{chat: chat, stream: b.Stream == nil || *b.Stream}
	if b.LogProbs {
		j.top = s.top(nil, max(1, b.TopLogs))
	}
	if err := s.settle(&j, cut(ids, context), wish{most: b.Options.NumPredict, otherwise: naturalLimit}); err != nil {
		return request{}, err
	}
	if !b.Raw && string(b.Think) != "false" {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// tokens returns the ids of the prompt, with the chat template except in raw mode.
func (b *ollamaBody) tokens(s *server, chat bool) ([]uint32, error) {
	vocab := s.config.Model.Vocab
	switch {
	case chat:
		return s.chatTokens(b.Messages)
	case b.Raw:
		return tokenizer.Append(nil, b.Prompt, vocab), nil
	}
	return tokenizer.AppendChat(nil, []tokenizer.Message{{Role: "user", Text: b.Prompt}}, vocab), nil
}

// ollamaLine is one line of a stream, or an answer in one piece.
type ollamaLine struct {
	Model     string         `json:"model"`
	CreatedAt time.Time      `json:"created_at"`
	Response  *string        `json:"response,omitempty"`
	Thinking  string         `json:"thinking,omitempty"`
	Message   *ollamaMessage `json:"message,omitempty"`
	Done      bool           `json:"done"`
	LogProbs  any            `json:"logprobs,omitempty"`
	*ollamaEnd
	stamp
}

// ollamaMessage is the message of /api/chat. In /api/generate its fields are in the line itself.
type ollamaMessage struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`
}

// ollamaEnd holds the further fields of the last line. Durations are in nanoseconds; unknown ones are 1.
type ollamaEnd struct {
	DoneReason         string `json:"done_reason"`
	TotalDuration      int64  `json:"total_duration"`
	LoadDuration       int64  `json:"load_duration"`
	PromptEvalCount    *int   `json:"prompt_eval_count,omitempty"`
	PromptEvalDuration *int   `json:"prompt_eval_duration,omitempty"`
	EvalCount          *int   `json:"eval_count,omitempty"`
	EvalDuration       *int   `json:"eval_duration,omitempty"`
}

// ollamaEncoder sends one object a line. The last one has the counts and no text.
type ollamaEncoder struct{ *answer }

func (e *ollamaEncoder) opening() any { return nil }

func (e *ollamaEncoder) tokens(from, to int) []any { return []any{e.line(from, to)} }

// line returns a line with the tokens after from, up to to, which do not mix reasoning and answer.
func (e *ollamaEncoder) line(from, to int) ollamaLine {
	l := ollamaLine{Model: e.server.options.ModelID, CreatedAt: time.Now().UTC(), stamp: e.stamp()}
	text, thinking := e.text(from, to), ""
	if from < e.request.seq.ReasoningTokens && to > from {
		text, thinking = "", text
	}
	if e.request.chat {
		l.Message = &ollamaMessage{Role: "assistant", Content: text, Thinking: thinking}
	} else {
		l.Response, l.Thinking = &text, thinking
	}
	if e.request.top > 0 && to > from {
		l.LogProbs = e.places(from, to)
	}
	return l
}

func (e *ollamaEncoder) closing(u sim.Usage) []any {
	return []any{e.end(e.line(u.OutputTokens, u.OutputTokens), u)}
}

// end makes a line the last.
func (e *ollamaEncoder) end(l ollamaLine, u sim.Usage) ollamaLine {
	l.Done = true
	l.ollamaEnd = &ollamaEnd{
		DoneReason: e.request.finish, TotalDuration: time.Since(e.created).Nanoseconds(), LoadDuration: 1,
		PromptEvalCount: e.reported(u.PromptTokens), PromptEvalDuration: e.reported(1),
		EvalCount: e.reported(u.OutputTokens), EvalDuration: e.reported(1),
	}
	return l
}

func (e *ollamaEncoder) whole(u sim.Usage) any {
	return e.end(e.line(e.request.seq.ReasoningTokens, u.OutputTokens), u)
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
