package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"llmsweep/client/sim"
)

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
		Path: path, KnownFields: strings.Fields(known), Framing: lineFraming(), Refusal: plainError,
		Parse:   func(s *Host, raw []byte) (request, error) { return parseOllama(s, raw, chat) },
		Encoder: func(a *AnswerState) encoder { return &ollamaEncoder{a} },
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

func parseOllama(s *Host, raw []byte, chat bool) (request, error) {
	var b ollamaBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("%v", err)
	}
	if s.CheckModel(b.Model) != nil || b.Model == "" {
		return request{}, &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("model '%s' not found", b.Model)}
	}
	asked := len(b.Think) > 0 && string(b.Think) != "null" && string(b.Think) != "false"
	if asked && s.Options.Think == 0 {
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
	j := request{Chat: chat, Stream: b.Stream == nil || *b.Stream}
	if b.LogProbs {
		j.TopLogProbs = s.WantedLogProbs(nil, max(1, b.TopLogs))
	}
	w := lengthLimits{Max: b.Options.NumPredict, Default: naturalLimit, Think: !b.Raw && string(b.Think) != "false"}
	if err := s.SetWork(&j, cutPrompt(ids, context), w); err != nil {
		return request{}, err
	}
	return j, nil
}

// Tokens returns the ids of the prompt, with the chat template except in raw mode.
func (b *ollamaBody) tokens(s *Host, chat bool) ([]uint32, error) {
	vocab := s.Config.Model.Vocab
	switch {
	case chat:
		return s.ChatTokens(b.Messages)
	case b.Raw:
		return Append(nil, b.Prompt, vocab), nil
	}
	return appendChat(nil, []message{{Role: "user", Text: b.Prompt}}, vocab), nil
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
	Stamp
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
type ollamaEncoder struct{ *AnswerState }

func (e *ollamaEncoder) Opening() any { return nil }

func (e *ollamaEncoder) Tokens(from, to int) []any { return []any{e.line(from, to)} }

// line returns a line with the tokens after from, up to to, which do not mix reasoning and answer.
func (e *ollamaEncoder) line(from, to int) ollamaLine {
	l := ollamaLine{Model: e.Host.Options.ModelID, CreatedAt: time.Now().UTC(), Stamp: e.Stamp()}
	text, thinking := e.Text(from, to), ""
	if from < e.Request.Work.ReasoningTokens && to > from {
		text, thinking = "", text
	}
	if e.Request.Chat {
		l.Message = &ollamaMessage{Role: "assistant", Content: text, Thinking: thinking}
	} else {
		l.Response, l.Thinking = &text, thinking
	}
	if e.Request.TopLogProbs > 0 && to > from {
		l.LogProbs = e.ChatLogProbs(from, to)
	}
	return l
}

func (e *ollamaEncoder) Closing(u sim.Usage) []any {
	return []any{e.end(e.line(u.OutputTokens, u.OutputTokens), u)}
}

// end makes a line the last.
func (e *ollamaEncoder) end(l ollamaLine, u sim.Usage) ollamaLine {
	l.Done = true
	l.ollamaEnd = &ollamaEnd{
		DoneReason: e.Request.Finish, TotalDuration: time.Since(e.Created).Nanoseconds(), LoadDuration: 1,
		PromptEvalCount: e.UsageCount(u.PromptTokens), PromptEvalDuration: e.UsageCount(1),
		EvalCount: e.UsageCount(u.OutputTokens), EvalDuration: e.UsageCount(1),
	}
	return l
}

func (e *ollamaEncoder) Whole(u sim.Usage) any {
	return e.end(e.line(e.Request.Work.ReasoningTokens, u.OutputTokens), u)
}

func aboutOllama(s *Host) map[string]route {
	model := map[string]any{"name": s.Options.ModelID, "model": s.Options.ModelID, "details": map[string]string{"format": "gguf"}}
	loaded := map[string]any{"name": s.Options.ModelID, "model": s.Options.ModelID, "context_length": ollamaContext}
	return map[string]route{
		"/api/version": {Method: http.MethodGet, Serve: fixedPage(map[string]string{"version": "0.17.4+sim"})},
		"/api/tags":    {Method: http.MethodGet, Serve: fixedPage(map[string]any{"models": []any{model}})},
		"/api/ps":      {Method: http.MethodGet, Serve: fixedPage(map[string]any{"models": []any{loaded}})},
	}
}
