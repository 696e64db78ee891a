package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"llmsweep/client/sim"
)

// naturalLimit is the longest chat answer, in tokens, where the request sets no length. A real model would end by
// itself; vLLM's own limit is the model's length.
const naturalLimit = 256

type request struct {
	work       sim.Request // what the engine is asked for
	stream     bool
	finish     string // "length" or "stop"
	usage      bool   // report usage at the end of the stream
	continuous bool   // report usage on each chunk
	seed       uint64 // of the answer's words
}

// lengthLimits is what a request asks for the length of its answer, in tokens.
type lengthLimits struct {
	max      *int // nil: not set
	fallback int  // in place of max where that is not set
	min      int  // no natural end before it
	exact    bool // no natural end at all
	think    bool // reasoning is allowed
}

// read unmarshals a body into b, and checks the model.
func (s *server) read(raw []byte, b interface{ modelName() string }) error {
	if err := json.Unmarshal(raw, b); err != nil {
		return badRequest("the body is not a valid request: %v", err)
	}
	if name := b.modelName(); name != "" && name != s.model() && s.Engine != sglang { // which ignores it
		return &apiError{Status: http.StatusNotFound, Kind: "NotFoundError",
			Message: fmt.Sprintf("The model `%s` does not exist.", name)}
	}
	return nil
}

type modelMember struct {
	Model string `json:"model"`
}

func (n modelMember) modelName() string { return n.Model }

// newRequest draws a natural end by the prompt alone.
func (s *server) newRequest(stream bool, ids []uint32, l lengthLimits) (request, error) {
	if len(ids) == 0 {
		return request{}, badRequest("the prompt is empty")
	}
	limit, err := s.limit(len(ids), l)
	if err != nil {
		return request{}, err
	}
	r := request{stream: stream, finish: "length", seed: s.config.Seed}
	for _, id := range ids {
		r.seed = mix(r.seed ^ uint64(id))
	}
	reasoning := 0
	if l.think {
		reasoning = s.Think
	}
	length := limit
	if !s.FullLength && !l.exact {
		natural := max(l.min, s.Natural.draw(Fraction(mix(r.seed)), limit, reasoning))
		if natural < limit {
			length, r.finish = natural, "stop"
		}
	}
	r.work = sim.Request{
		PromptTokens: len(ids), Prefix: blockHashes(ids, s.config.BlockTokens), OutputTokens: length,
		ReasoningTokens: min(reasoning, length),
	}
	return r, nil
}

func (s *server) limit(prompt int, l lengthLimits) (int, error) {
	room := min(s.config.MaxModelLen, s.config.KVTokens-s.config.KVTokens%s.config.BlockTokens) - prompt
	limit := l.fallback
	if limit == naturalLimit && s.Natural.Tokens > 0 {
		limit = room
	}
	if limit > sim.DefaultOutputTokens {
		limit = min(limit, room)
	}
	if l.max != nil {
		limit = *l.max
	}
	switch {
	case limit > room || room < 1:
		return 0, badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
			"messages, %d in the completion). Please reduce the length of the messages or completion.",
			room+prompt, prompt+limit, prompt, limit)
	case limit < 1:
		return 0, badRequest("max_tokens must be at least 1, got %d.", limit)
	case l.min > limit:
		return 0, badRequest("min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, l.min)
	}
	return limit, nil
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, a list of parts, or null
}

func (s *server) chatTokens(all []chatMessage) ([]uint32, error) {
	if len(all) == 0 {
		return nil, badRequest("messages is missing or empty")
	}
	messages := make([]message, len(all))
	for i, m := range all {
		text, err := contentText(m.Content)
		if err != nil {
			return nil, err
		}
		messages[i] = message{Role: m.Role, Text: text}
	}
	return appendChat(nil, messages, s.config.Model.Vocab), nil
}

// contentText reads a string, or the texts in a list of parts.
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

// completionPrompt reads a string, token ids, or a list with one of them.
func completionPrompt(raw json.RawMessage, vocab int) ([]uint32, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && (list[0][0] == '"' || list[0][0] == '[') {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Append(nil, text, vocab), nil
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

// rejectUnknown returns the error of a strict server, which names the first unknown field.
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
	json.Unmarshal(fields["stream_options"], &options)
	for name := range options {
		if name != "include_usage" {
			unknown = append(unknown, "stream_options."+name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	name := slices.Min(unknown)
	return &apiError{Status: http.StatusBadRequest, Kind: "invalid_request_error", Param: name, Code: "unknown_parameter",
		Message: fmt.Sprintf("Unknown parameter: '%s'.", name)}
}

var sums = regexp.MustCompile(`([0-9]{1,9}) \+ ([0-9]{1,9})`)

// lastSum returns the result of the last sum in a request's body; -1 for none.
func lastSum(body []byte) (sum int64) {
	if !bytes.Contains(body, []byte(" + ")) {
		return -1
	}
	all := sums.FindAllSubmatch(body, -1)
	if len(all) == 0 {
		return -1
	}
	for _, digits := range all[len(all)-1][1:] {
		n, _ := strconv.ParseInt(string(digits), 10, 64)
		sum += n
	}
	return sum
}
