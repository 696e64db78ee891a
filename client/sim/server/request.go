package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"llmsweep/client/sim"
)

// naturalLimit is the longest chat answer, in tokens, where the request sets no length. A real model would end by itself;
// vLLM's own limit is the model's length.
const naturalLimit = 256

// chatMessage is a message of a conversation, in OpenAI's format.
type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string, a list of parts, or null
}

// request is a parsed request, independent of its API.
type request struct {
	Work            sim.Request // what the engine is asked for
	Chat            bool
	Stream          bool
	Finish          string // "length" or "stop"
	Usage           bool   // report usage at the end of the stream
	ContinuousUsage bool   // report usage on each chunk
	seed            uint64 // of the answer's words
	Tool            string // the tool that the answer calls; empty for none
	TopLogProbs     int    // number of tokens at each place whose log-probabilities are reported; 0 for none
	Sum             int64  // that the answer ends with; only with Sums
	Sums            bool   // the prompt asks for a sum
}

// lengthLimits is the length of an answer, in tokens, as the request asks for it.
type lengthLimits struct {
	Max     *int // the most, as the request sets it; nil: it does not
	Default int  // the most where the request sets no length
	Min     int  // no natural end before it
	Exact   bool // no natural end at all
	Think   bool // the answer begins with reasoning, if the model has any
}

// SetWork sets a request's prompt and the length of its answer. A natural end depends on the prompt.
func (s *Host) SetWork(j *request, ids []uint32, w lengthLimits) error {
	if len(ids) == 0 {
		return badRequest("the prompt is empty")
	}
	j.Work.PromptTokens = len(ids)
	j.Work.Prefix = blockHashes(ids, s.Config.BlockTokens)
	j.seed = promptSeed(s.Config.Seed, ids)
	limit, err := s.limit(len(ids), w)
	if err != nil {
		return err
	}
	reasoning := 0
	if w.Think {
		reasoning = s.Options.Think
	}
	j.Work.OutputTokens, j.Finish = limit, "length"
	if own, ends := s.ownLength(j.seed, limit, reasoning, w); ends && own < limit {
		j.Work.OutputTokens, j.Finish = own, "stop"
	}
	j.Work.ReasoningTokens = min(reasoning, j.Work.OutputTokens)
	return nil
}

// ownLength returns the length at which an answer ends by itself; ends is false where it does not.
func (s *Host) ownLength(seed uint64, limit, reasoning int, w lengthLimits) (own int, ends bool) {
	if s.Options.FullLength || w.Exact && !s.Options.IgnoreLength {
		return 0, false
	}
	own = s.Options.Natural.draw(Fraction(mix(seed)), limit, reasoning)
	if !s.Options.IgnoreLength {
		own = max(own, w.Min)
	}
	return own, true
}

// limit returns the longest allowed answer.
func (s *Host) limit(prompt int, w lengthLimits) (int, error) {
	cfg := s.Config
	room := min(cfg.MaxModelLen, cfg.KVTokens-cfg.KVTokens%cfg.BlockTokens) - prompt
	limit := w.Default
	if limit == naturalLimit && s.Options.Natural.Tokens > 0 {
		limit = room
	}
	if limit > sim.DefaultOutputTokens {
		limit = min(limit, room)
	}
	if w.Max != nil {
		limit = *w.Max
	}
	switch {
	case limit > room || room < 1:
		return 0, badRequest("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the "+
			"messages, %d in the completion). Please reduce the length of the messages or completion.",
			room+prompt, prompt+limit, prompt, limit)
	case limit < 1:
		return 0, badRequest("max_tokens must be at least 1, got %d.", limit)
	case w.Min > limit:
		return 0, badRequest("min_tokens must be less than or equal to max_tokens=%d, got %d.", limit, w.Min)
	}
	return limit, nil
}

// CheckModel returns an error where the server has no model of a name.
func (s *Host) CheckModel(name string) error {
	if name == "" || s.AnyModel || name == s.Options.ModelID {
		return nil
	}
	return &apiError{Status: http.StatusNotFound, Kind: "NotFoundError",
		Message: fmt.Sprintf("The model `%s` does not exist.", name)}
}

// ChatTokens returns the ids of a conversation in the chat template.
func (s *Host) ChatTokens(all []chatMessage) ([]uint32, error) {
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
	return appendChat(nil, messages, s.Config.Model.Vocab), nil
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

func promptSeed(seed uint64, ids []uint32) uint64 {
	for _, id := range ids {
		seed = mix(seed ^ uint64(id))
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
