package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
)

// naturalLimit bounds a chat answer whose length the request left open. A real model would have come to its end; vLLM
// itself would only stop at the model's length.
const naturalLimit = 256

// body is what the completion endpoints read of a request.
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
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, a list of parts, or null
}

// knownFields are the parameters of the OpenAI API, which a strict server stops at.
var knownFields = strings.Fields(`model messages prompt max_tokens max_completion_tokens temperature top_p n stream
	stream_options stop seed presence_penalty frequency_penalty logprobs top_logprobs logit_bias user response_format
	tools tool_choice parallel_tool_calls echo best_of suffix store metadata reasoning_effort service_tier`)

// job is a request understood.
type job struct {
	seq             Seq
	chat            bool
	stream          bool
	finish          string // "length" or "stop"
	usage           bool   // report it at the end of the stream
	continuousUsage bool   // and on each chunk
	seed            uint64 // of the answer's words
}

// parseJob understands the body of a request to one of the completion endpoints, or returns an *apiError.
func (s *server) parseJob(raw []byte, chat bool) (job, error) {
	if s.options.Strict {
		if err := rejectUnknown(raw); err != nil {
			return job{}, err
		}
	}
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.checkModel(b.Model); err != nil {
		return job{}, err
	}
	ids, err := s.promptTokens(&b, chat)
	if err != nil {
		return job{}, err
	}
	if len(ids) == 0 {
		return job{}, badRequest("the prompt is empty")
	}
	j := job{chat: chat, stream: b.Stream}
	j.usage = (b.StreamOptions.IncludeUsage || s.options.UsageEveryChunk) && !s.options.NoUsage
	j.continuousUsage = j.usage && (b.StreamOptions.ContinuousUsageStats || s.options.UsageEveryChunk)
	j.seq.PromptTokens = len(ids)
	j.seq.Prefix = blockHashes(ids, s.live.cfg.BlockTokens)
	j.seed = promptSeed(s.live.cfg.Seed, ids)
	if err := s.setLength(&j, &b); err != nil {
		return job{}, err
	}
	thinks := b.ChatTemplateKwargs.EnableThinking == nil || *b.ChatTemplateKwargs.EnableThinking
	if chat && thinks {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// setLength decides how long the answer gets. Left alone, a model ends somewhere in the last four fifths of what
// is allowed, by a chance that hangs on the prompt: 60 % of it on average.
func (s *server) setLength(j *job, b *body) error {
	cfg := s.live.cfg
	room := min(cfg.MaxModelLen, cfg.KVTokens-cfg.KVTokens%cfg.BlockTokens) - j.seq.PromptTokens
	limit := DefaultOutputTokens
	if j.chat {
		limit = room
		if !b.IgnoreEOS {
			limit = min(room, naturalLimit)
		}
	}
	for _, asked := range []*int{b.MaxTokens, b.MaxCompletionTokens} {
		if asked != nil {
			limit = *asked
		}
	}
	switch {
	case limit > room || room < 1:
		return badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
			"messages, %d in the completion). Please reduce the length of the messages or completion.",
			room+j.seq.PromptTokens, j.seq.PromptTokens+limit, j.seq.PromptTokens, limit)
	case limit < 1:
		return badRequest("max_tokens must be at least 1, got %d.", limit)
	case b.MinTokens > limit:
		return badRequest("min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, b.MinTokens)
	}
	j.seq.OutputTokens, j.finish = limit, "length"
	if s.options.FullLength || b.IgnoreEOS && !s.options.IgnoreLength {
		return nil
	}
	own := int(math.Ceil((0.2 + 0.8*fraction(mix(j.seed))) * float64(limit)))
	if !s.options.IgnoreLength {
		own = max(own, b.MinTokens)
	}
	if own < limit {
		j.seq.OutputTokens, j.finish = own, "stop"
	}
	return nil
}

func (s *server) checkModel(name string) error {
	if name == "" || name == s.options.ModelID {
		return nil
	}
	return &apiError{Status: http.StatusNotFound, Kind: "NotFoundError",
		Message: fmt.Sprintf("The model `%s` does not exist.", name)}
}

// promptTokens returns the ids of a request's prompt.
func (s *server) promptTokens(b *body, chat bool) ([]uint32, error) {
	vocab := s.live.cfg.Model.Vocab
	if !chat {
		return completionPrompt(b.Prompt, vocab)
	}
	if len(b.Messages) == 0 {
		return nil, badRequest("messages is missing or empty")
	}
	messages := make([]message, len(b.Messages))
	for i, m := range b.Messages {
		text, err := contentText(m.Content)
		if err != nil {
			return nil, err
		}
		messages[i] = message{m.Role, text}
	}
	return appendChat(nil, messages, vocab), nil
}

// contentText reads a message's content: a string, or a list of parts of which the texts count.
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

// completionPrompt reads a string, token ids, or a list of one of either.
func completionPrompt(raw json.RawMessage, vocab int) ([]uint32, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && !isNumber(list[0]) {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return appendTokens(nil, text, vocab), nil
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
		seed = mix(seed ^ uint64(id))
	}
	return seed
}

// rejectUnknown names the first field that a strict server does not know.
func rejectUnknown(raw []byte) error {
	var fields, options map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return badRequest("the body is not a JSON object: %v", err)
	}
	var unknown []string
	for name := range fields {
		if !slices.Contains(knownFields, name) {
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

// apiError is an answer other than 200, in OpenAI's shape.
type apiError struct {
	Status               int
	Message, Kind, Param string
	Code                 string // "": the status, as vLLM has it
}

func (e *apiError) Error() string { return e.Message }

func badRequest(format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Kind: "BadRequestError", Message: fmt.Sprintf(format, args...)}
}

// json is the error object: {"error": {...}}.
func (e *apiError) json() []byte {
	var param, code any = nil, e.Status
	if e.Param != "" {
		param = e.Param
	}
	if e.Code != "" {
		code = e.Code
	}
	raw, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": e.Message, "type": e.Kind, "param": param, "code": code}})
	if err != nil {
		panic(err) // strings and numbers do not fail
	}
	return raw
}

// asAPIError makes an answer of an error; what is not an answer already is the server's own fault.
func asAPIError(err error) *apiError {
	var api *apiError
	if errors.As(err, &api) {
		return api
	}
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: err.Error()}
}
