package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// witness reads the frames of an API with encoding/json, to compare.
type witness interface {
	decode(m map[string]json.RawMessage, c *Chunk)
	terminator() bool // the API has [DONE]
	complete() bool
}

// newWitness returns the witness of a dialect.
func newWitness(dialect string) witness {
	switch dialect {
	case "sglang":
		return &sglangWitness{}
	case "responses":
		return &responsesWitness{}
	case "messages":
		return &messagesWitness{}
	}
	return &openAIWitness{}
}

// fieldsOf reads one object; of keys given twice the last counts.
func fieldsOf(frame []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(frame))
	var m map[string]json.RawMessage
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF || m == nil {
		return nil, errors.New("not one object")
	}
	return m, nil
}

func inner(v json.RawMessage) map[string]json.RawMessage { m, _ := fieldsOf(v); return m }

func list(v json.RawMessage) (all []json.RawMessage) { json.Unmarshal(v, &all); return all }

func isList(v json.RawMessage) bool { return len(v) > 0 && v[0] == '[' }

// content returns a string as it stands between its quotes.
func content(v json.RawMessage) []byte {
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	return slices.Clip(v[1 : len(v)-1])
}

func plain(v json.RawMessage) (s string) { json.Unmarshal(v, &s); return s }

func number(v json.RawMessage) int {
	var f float64
	if len(v) == 0 || v[0] == 'n' || json.Unmarshal(v, &f) != nil || f < 0 || f > 1<<40 || f != math.Trunc(f) {
		return Unknown
	}
	if v[0] == '-' {
		return Unknown // -0
	}
	return int(f)
}

// repeats is the rule for cumulative texts, applied to all texts at once.
type repeats struct{ all [][]byte }

func (r *repeats) news(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	r.all = append(r.all, bytes.Clone(raw))
	grew := false
	for i := 1; i < len(r.all); i++ {
		before, now := r.all[i-1], r.all[i]
		if !bytes.HasPrefix(now, before) || len(now) == len(before) && !grew {
			return raw // pieces from here on
		}
		grew = grew || len(now) > len(before)
	}
	if n := len(r.all); n > 1 {
		return raw[len(r.all[n-2]):]
	}
	return raw
}

type openAIWitness struct {
	text, running, counts, finish, done bool
	counted                             int
}

func (w *openAIWitness) terminator() bool { w.done = true; return true }
func (w *openAIWitness) complete() bool   { return w.finish || w.done && w.counts }

func (w *openAIWitness) decode(m map[string]json.RawMessage, c *Chunk) {
	var answers, reasons, calls [][]byte
	add := func(to *[][]byte, texts ...json.RawMessage) {
		for _, v := range texts {
			if text := content(v); len(text) > 0 {
				*to = append(*to, text)
			}
		}
	}
	finish := ""
	if choices := list(m["choices"]); len(choices) > 0 {
		choice := inner(choices[0])
		delta := inner(choice["delta"])
		add(&answers, choice["text"], delta["content"], delta["refusal"])
		add(&reasons, delta["reasoning"], delta["reasoning_content"])
		for _, call := range list(delta["tool_calls"]) {
			function := inner(inner(call)["function"])
			add(&calls, function["name"], function["arguments"])
		}
		finish = plain(choice["finish_reason"])
	}
	if finish == "error" || finish == "abort" {
		c.Error = "an error"
		return
	}
	c.Text = len(answers)+len(reasons)+len(calls) > 0
	c.Reasoning = len(reasons) > 0 && len(answers)+len(calls) == 0
	if len(answers) > 0 {
		c.Raw = answers[0]
	}
	c.Finish, w.finish = finish, w.finish || finish != ""
	c.Usage = openAIUsage(m)
	known := c.Usage.Output != Unknown
	w.counts = w.counts || known
	if c.Text && !w.text {
		w.text, w.running = true, known && c.Usage.Output > 0
	}
	if c.Text && w.running && known {
		c.Tokens, w.counted = max(c.Usage.Output-w.counted, 0), c.Usage.Output
	}
}

func openAIUsage(m map[string]json.RawMessage) Usage {
	usage, timings := inner(m["usage"]), inner(m["timings"])
	u := Usage{Prompt: number(usage["prompt_tokens"]), Output: number(usage["completion_tokens"]),
		Reasoning: number(inner(usage["completion_tokens_details"])["reasoning_tokens"]),
		Cached:    number(inner(usage["prompt_tokens_details"])["cached_tokens"])}
	if u.Prompt <= 0 && u.Output <= 0 {
		u = noUsage
	}
	if n := number(timings["predicted_n"]); u.Output == Unknown && n > 0 {
		u.Output = n
	}
	if n := number(timings["prompt_n"]); u.Prompt == Unknown && n > 0 {
		u.Cached = number(timings["cache_n"])
		u.Prompt = n + max(u.Cached, 0)
	}
	return u
}

type sglangWitness struct {
	pieces, token, finish, done bool
	texts                       repeats
	counted                     int
}

func (w *sglangWitness) terminator() bool { w.done = true; return true }
func (w *sglangWitness) complete() bool   { return w.finish || w.done && w.token }

func (w *sglangWitness) decode(m map[string]json.RawMessage, c *Chunk) {
	info := inner(m["meta_info"])
	n, total := len(list(m["output_ids"])), number(info["completion_tokens"])
	c.Usage = Usage{Prompt: number(info["prompt_tokens"]), Output: total,
		Reasoning: number(info["reasoning_tokens"]), Cached: number(info["cached_tokens"])}
	if total != Unknown {
		w.pieces = w.pieces || isList(m["output_ids"]) && n < total
		c.Tokens = max(total-w.counted, 0)
		w.counted = max(w.counted, total)
	}
	fresh := content(m["text"])
	if !w.pieces {
		fresh = w.texts.news(fresh)
	}
	c.Text = c.Tokens > 0 || len(fresh) > 0 && total == Unknown
	c.Raw = fresh
	w.token = w.token || c.Text
	kind := plain(info["finish_reason"])
	if reason := inner(info["finish_reason"]); reason != nil {
		kind = plain(reason["type"])
	}
	switch kind {
	case "":
	case "abort", "error":
		c.Error = "an error"
	default:
		c.Finish, w.finish = kind, true
	}
}

type responsesWitness struct{ called, done bool }

func (w *responsesWitness) terminator() bool { return true }
func (w *responsesWitness) complete() bool   { return w.done }

func (w *responsesWitness) decode(m map[string]json.RawMessage, c *Chunk) {
	delta, item, whole := content(m["delta"]), inner(m["item"]), inner(m["response"])
	kind := string(content(m["type"]))
	switch {
	case kind == "error" || kind == "response.failed" || kind == "response.cancelled":
		c.Error = "an error"
	case kind == "response.completed" || kind == "response.incomplete":
		c.Done, w.done = true, true
		usage := inner(whole["usage"])
		c.Usage = Usage{Prompt: number(usage["input_tokens"]), Output: number(usage["output_tokens"]),
			Reasoning: number(inner(usage["output_tokens_details"])["reasoning_tokens"]),
			Cached:    number(inner(usage["input_tokens_details"])["cached_tokens"])}
		reason := plain(inner(whole["incomplete_details"])["reason"])
		switch {
		case reason == "max_output_tokens" || reason == "max_tokens":
			c.Finish = "length"
		case len(content(inner(whole["incomplete_details"])["reason"])) > 0:
			c.Finish = reason
		case string(content(whole["status"])) == "incomplete":
			c.Finish = "incomplete"
		case w.called:
			c.Finish = "tool_calls"
		default:
			c.Finish = "stop"
		}
	case kind == "response.output_item.added":
		c.Text = strings.HasSuffix(string(content(item["type"])), "_call") && len(content(item["name"])) > 0
		w.called = w.called || c.Text
	case strings.HasSuffix(kind, ".delta") && len(delta) > 0:
		c.Text, c.Reasoning = true, strings.HasPrefix(kind, "response.reasoning")
		w.called = w.called || strings.HasPrefix(kind, "response.function_call")
		if kind == "response.output_text.delta" || kind == "response.refusal.delta" {
			c.Raw = delta
		}
	}
}

type messagesWitness struct {
	seen map[string]int
	done bool
}

func (w *messagesWitness) terminator() bool { return false }
func (w *messagesWitness) complete() bool   { return w.done }

func (w *messagesWitness) decode(m map[string]json.RawMessage, c *Chunk) {
	kind, usage := string(content(m["type"])), inner(m["usage"])
	part := inner(m["delta"])
	if kind == "content_block_start" {
		part = inner(m["content_block"])
	}
	if w.seen == nil {
		w.seen = map[string]int{"output_tokens": Unknown, "input_tokens": Unknown, "cache_read_input_tokens": Unknown}
	}
	counts := func(usage map[string]json.RawMessage, names ...string) {
		for _, name := range names {
			if n := number(usage[name]); n != Unknown {
				w.seen[name] = n
			}
		}
		c.Usage.Output = w.seen["output_tokens"]
		sum := max(0, w.seen["input_tokens"]) + w.seen["cache_creation_input_tokens"] +
			max(0, w.seen["cache_read_input_tokens"])
		if w.seen["input_tokens"] != Unknown && sum > 0 {
			c.Usage.Prompt, c.Usage.Cached = sum, w.seen["cache_read_input_tokens"]
		}
	}
	prompt := []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}
	switch kind {
	case "message_start":
		counts(inner(inner(m["message"])["usage"]), prompt...)
	case "message_delta":
		counts(usage, append(prompt, "output_tokens")...)
		switch stop := plain(part["stop_reason"]); {
		case stop == "max_tokens":
			c.Finish = "length"
		case stop == "end_turn" || stop == "stop_sequence":
			c.Finish = "stop"
		case stop == "tool_use":
			c.Finish = "tool_calls"
		default:
			c.Finish = stop
		}
	case "message_stop":
		c.Done, w.done = true, true
	case "error":
		c.Error = "an error"
	case "content_block_start", "content_block_delta":
		text, thinking := content(part["text"]), content(part["thinking"])
		call := append(content(part["name"]), content(part["partial_json"])...)
		var hidden []byte
		if string(content(part["type"])) == "redacted_thinking" {
			hidden = content(part["data"])
		}
		c.Text = len(text)+len(thinking)+len(call)+len(hidden) > 0
		c.Reasoning = c.Text && len(text)+len(call) == 0
		c.Raw = text
	}
}
