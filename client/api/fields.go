package api

import "github.com/tidwall/gjson"

// fields are the parts of a chunk that matter.
type fields struct {
	failed  bool // it is an error object
	texts   int  // strings with text in them
	reasons int  // those that are reasoning
	only    gjson.Result
	answer  gjson.Result // content, text or refusal, where it has text
	finish  string
	usage   gjson.Result
	timings gjson.Result // llama.cpp's
}

// parseFields reads a chunk once, from front to back. Of keys given twice the last counts, as in most JSON readers.
func parseFields(v gjson.Result) fields {
	var f fields
	var choices, err, object gjson.Result
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "error":
			err = v
		case "object":
			object = v
		case "choices":
			choices = v
		case "usage":
			f.usage = v
		case "timings":
			f.timings = v
		}
		return true
	})
	f.failed = isError(err, object)
	if choices.IsArray() {
		choices.ForEach(func(_, choice gjson.Result) bool {
			f.choice(choice)
			return false // one choice is asked for
		})
	}
	return f
}

// choice reads the first choice.
func (f *fields) choice(v gjson.Result) {
	var text, delta, finish gjson.Result
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "text":
			text = v
		case "delta":
			delta = v
		case "finish_reason":
			finish = v
		}
		return true
	})
	f.say(text, true)
	if delta.IsObject() {
		f.delta(delta)
	}
	if finish.Type == gjson.String {
		f.finish = finish.Str
	}
}

// delta reads a chat chunk's news.
func (f *fields) delta(v gjson.Result) {
	var content, refusal, reasoning, reasoningContent, calls gjson.Result
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "content":
			content = v
		case "refusal":
			refusal = v
		case "reasoning":
			reasoning = v
		case "reasoning_content":
			reasoningContent = v
		case "tool_calls":
			calls = v
		}
		return true
	})
	f.say(content, true)
	f.say(refusal, true)
	f.reason(reasoning)
	f.reason(reasoningContent)
	if calls.IsArray() {
		calls.ForEach(func(_, call gjson.Result) bool {
			f.say(last(last(call, "function"), "name"), false)
			f.say(last(last(call, "function"), "arguments"), false)
			return true
		})
	}
}

// last is an object's value for a key, the last of several.
func last(v gjson.Result, key string) (found gjson.Result) {
	if v.IsObject() {
		v.ForEach(func(k, v gjson.Result) bool {
			if k.Str == key {
				found = v
			}
			return true
		})
	}
	return found
}

// say counts a string that has text in it.
func (f *fields) say(s gjson.Result, answer bool) {
	if s.Type != gjson.String || s.Str == "" {
		return
	}
	f.texts++
	f.only = s
	if answer && !f.answer.Exists() {
		f.answer = s
	}
}

func (f *fields) reason(s gjson.Result) {
	before := f.texts
	f.say(s, false)
	f.reasons += f.texts - before
}

// counts are the token counts that the chunk tells. Ollama sends zeros until it knows: a prompt of no tokens and an
// answer of none are no count. llama.cpp can be told to leave usage out; its timings tell the same.
func (f *fields) counts() Usage {
	u := Usage{
		Prompt:    number(last(f.usage, "prompt_tokens")),
		Output:    number(last(f.usage, "completion_tokens")),
		Reasoning: number(last(last(f.usage, "completion_tokens_details"), "reasoning_tokens")),
		Cached:    number(last(last(f.usage, "prompt_tokens_details"), "cached_tokens")),
	}
	if u.Prompt <= 0 && u.Output <= 0 {
		u = NoUsage
	}
	if n := number(last(f.timings, "predicted_n")); u.Output == Unknown && n > 0 {
		u.Output = n
	}
	if n := number(last(f.timings, "prompt_n")); u.Prompt == Unknown && n > 0 {
		u.Cached = number(last(f.timings, "cache_n"))
		u.Prompt = n + max(u.Cached, 0)
	}
	return u
}

// number is a count; Unknown where there is none, or one that cannot be.
func number(v gjson.Result) int {
	if v.Type != gjson.Number || v.Num < 0 || v.Num > 1<<40 || v.Num != float64(int64(v.Num)) {
		return Unknown
	}
	return int(v.Num)
}
