package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// naturalLimit is the longest chat answer, in tokens, where the request sets no length. A real model would end by itself;
// vLLM's own limit is the model's length.
const naturalLimit = 256

// body holds the fields of a request to OpenAI's endpoints that are used.
type body struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stream              bool            `json:"stream"`
	StreamOptions       struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	ChatTemplateKwargs struct {
		EnableThinking *bool `json:"enable_thinking"`
	} `json:"chat_template_kwargs"`
	ReasoningEffort string          `json:"reasoning_effort"`
	LogProbs        json.RawMessage `json:"logprobs"` // chat: a bool; completions: a number
	TopLogProbs     int             `json:"top_logprobs"`
	tools
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, a list of parts, or null
}

// request is a parsed request, independent of its API.
type request struct {
	seq             sim.Request
	chat            bool
	stream          bool
	finish          string // "length" or "stop"
	usage           bool   // report usage at the end of the stream
	continuousUsage bool   // report usage on each chunk
	seed            uint64 // of the answer's words
	tool            string // the tool that the answer calls; empty for none
	top             int    // report the log-probabilities of so many tokens at each place; 0 for none
	told            bool   // report counts and the finish reason (Triton's vLLM backend)
}

// parseOpenAI parses the body of a request to one of OpenAI's endpoints.
func (s *server) parseOpenAI(raw []byte, chat bool) (request, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.checkModel(b.Model); err != nil {
		return request{}, err
	}
	ids, err := s.promptTokens(&b, chat)
	if err != nil {
		return request{}, err
	}
	j := request{chat: chat, stream: b.Stream}
	if chat {
		j.tool = b.called()
	}
	j.usage = (b.StreamOptions.IncludeUsage || s.options.UsageEveryChunk) && !s.options.NoUsage
	j.continuousUsage = j.usage && (b.StreamOptions.ContinuousUsageStats || s.options.UsageEveryChunk)
	j.top = s.top(b.LogProbs, b.TopLogProbs)
	w := wish{most: b.MaxTokens, forced: b.IgnoreEOS, least: b.MinTokens, otherwise: sim.DefaultOutputTokens}
	if b.MaxCompletionTokens != nil && s.flavor.name != "ollama" { // which ignores it
		w.most = b.MaxCompletionTokens
	}
	if chat {
		w.otherwise = math.MaxInt
		if !b.IgnoreEOS {
			w.otherwise = naturalLimit
		}
	}
	if s.flavor.natural {
		w.forced, w.least = false, 0
	}
	if s.flavor.name == "ollama" {
		ids = cut(ids, ollamaContext)
	}
	if err := s.settle(&j, ids, w); err != nil {
		return request{}, err
	}
	if chat && b.thinks() {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// thinks reports whether a chat's answer begins with reasoning, if the model has any.
func (b *body) thinks() bool {
	k := b.ChatTemplateKwargs.EnableThinking
	return (k == nil || *k) && b.ReasoningEffort != "none"
}

// wish is the length of an answer, in tokens, as the request asks for it.
type wish struct {
	most      *int
	otherwise int  // the most where the request sets no length
	least     int  // no natural end before it
	forced    bool // no natural end at all
}

// settle sets a request's prompt and the length of its answer. A natural end is uniformly distributed over the last four
// fifths of the allowed length, at 60 % of it on average, and depends on the prompt.
func (s *server) settle(j *request, ids []uint32, w wish) error {
	if len(ids) == 0 {
		return badRequest("the prompt is empty")
	}
	j.seq.PromptTokens = len(ids)
	j.seq.Prefix = tokenizer.BlockHashes(ids, s.config.BlockTokens)
	j.seed = promptSeed(s.config.Seed, ids)
	j.seq.Prompt = j.seed
	limit, err := s.limit(len(ids), w)
	if err != nil {
		return err
	}
	j.seq.OutputTokens, j.finish = limit, "length"
	if s.options.FullLength || w.forced && !s.options.IgnoreLength {
		return nil
	}
	own := int(math.Ceil((0.2 + 0.8*tokenizer.Fraction(tokenizer.Mix(j.seed))) * float64(limit)))
	if !s.options.IgnoreLength {
		own = max(own, w.least)
	}
	if own < limit {
		j.seq.OutputTokens, j.finish = own, "stop"
	}
	return nil
}

// limit returns the longest allowed answer.
func (s *server) limit(prompt int, w wish) (int, error) {
	cfg := s.config
	room := min(cfg.MaxModelLen, cfg.KVTokens-cfg.KVTokens%cfg.BlockTokens) - prompt
	limit := w.otherwise
	if limit > sim.DefaultOutputTokens {
		limit = min(limit, room)
	}
	if w.most != nil {
		limit = *w.most
	}
	switch {
	case limit > room || room < 1:
		return 0, badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
			"messages, %d in the completion). Please reduce the length of the messages or completion.",
			room+prompt, prompt+limit, prompt, limit)
	case limit < 1:
		return 0, badRequest("max_tokens must be at least 1, got %d.", limit)
	case w.least > limit:
		return 0, badRequest("min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, w.least)
	}
	return limit, nil
}

// cut shortens a prompt to the context's length without an error, as Ollama does.
func cut(ids []uint32, context int) []uint32 { return ids[max(0, len(ids)-context):] }

func (s *server) checkModel(name string) error {
	if name == "" || s.flavor.anyModel || name == s.options.ModelID || name+":latest" == s.options.ModelID {
		return nil
	}
	return &apiError{Status: http.StatusNotFound, Kind: "NotFoundError",
		Message: fmt.Sprintf("The model `%s` does not exist.", name)}
}

// promptTokens returns the ids of a request's prompt.
func (s *server) promptTokens(b *body, chat bool) ([]uint32, error) {
	if !chat {
		return completionPrompt(b.Prompt, s.config.Model.Vocab)
	}
	return s.chatTokens(b.Messages)
}

// chatTokens returns the ids of a conversation in the chat template.
func (s *server) chatTokens(all []chatMessage) ([]uint32, error) {
	if len(all) == 0 {
		return nil, badRequest("messages is missing or empty")
	}
	messages := make([]tokenizer.Message, len(all))
	for i, m := range all {
		text, err := contentText(m.Content)
		if err != nil {
			return nil, err
		}
		messages[i] = tokenizer.Message{Role: m.Role, Text: text}
	}
	return tokenizer.AppendChat(nil, messages, s.config.Model.Vocab), nil
}

// contentText returns a message's content: a string, or the texts in a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", badRequest("a message's content is neither a string nor a list of parts")
	}
	for _, p := range parts {
		text += p.Text
	}
	return text, nil
}

// completionPrompt returns the ids of a prompt: a string, token ids, or a list with one of them.
func completionPrompt(raw json.RawMessage, vocab int) ([]uint32, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && !isNumber(list[0]) {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return tokenizer.Append(nil, text, vocab), nil
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) != nil {
		return nil, badRequest("prompt must be a string, token ids, or a list of one of them")
	}
	if slices.ContainsFunc(ids, func(id uint32) bool { return id >= uint32(vocab) }) {
		return nil, badRequest("the prompt holds a token id that is out of vocabulary (%d)", vocab)
	}
	return ids, nil
}

func isNumber(raw json.RawMessage) bool { return raw[0] >= '0' && raw[0] <= '9' || raw[0] == '-' }

func promptSeed(seed uint64, ids []uint32) uint64 {
	for _, id := range ids {
		seed = tokenizer.Mix(seed ^ uint64(id))
	}
	return seed
}

// rejectUnknown returns an error that names the first field that a strict server does not know.
func rejectUnknown(raw []byte, known []string) error {
	var fields, options map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return badRequest("the body is not a JSON object: %v", err)
	}
	var unknown []string
	for name := range fields {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if o, ok := fields["stream_options"]; ok && json.Unmarshal(o, &options) == nil {
		for name := range options {
			if name != "include_usage" {
				unknown = append(unknown, "stream_options."+name)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	name := slices.Min(unknown)
	return &apiError{Status: http.StatusBadRequest, Kind: "invalid_request_error", Param: name, Code: "unknown_parameter",
		Message: fmt.Sprintf("Unknown parameter: '%s'.", name)}
}

// apiError is an answer with a status other than 200, in OpenAI's format.
type apiError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *apiError) Error() string { return e.Message }

func badRequest(format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// object returns the error object: {"error": {...}}.
func (e *apiError) object() any {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	return map[string]any{"error": map[string]any{"message": e.Message, "type": e.Kind, "param": param, "code": code}}
}

// asAPIError returns err as an answer: a 500 where it is not an *apiError.
func asAPIError(err error) *apiError {
	var api *apiError
	if errors.As(err, &api) {
		return api
	}
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}
