package server

import (
	"encoding/json"
	"strings"
)

// tools are the tools of a request, and whether it must call one. The simulated model calls a tool only where it must, and
// then the first.
type tools struct {
	All    []tool          `json:"tools"`
	Choice json.RawMessage `json:"tool_choice"`
}

// tool is a tool's name, which OpenAI's chat puts into an object.
type tool struct {
	Name     string
	Function struct{ Name string }
}

// called returns the name of the tool that the answer must call; "" for none.
func (t *tools) called() string {
	var word string
	var choice struct {
		Type, Name string
		Function   struct{ Name string }
	}
	if len(t.All) == 0 || len(t.Choice) == 0 {
		return ""
	}
	json.Unmarshal(t.Choice, &word)
	json.Unmarshal(t.Choice, &choice)
	switch {
	case word == "required", choice.Type == "any":
		return t.All[0].Name + t.All[0].Function.Name
	case choice.Type == "function", choice.Type == "tool":
		return choice.Name + choice.Function.Name
	}
	return ""
}

// arguments returns the part of a tool call's arguments that the tokens after from, up to to, are. The first token of the call
// is its name.
func (a *answer) arguments(from, to int) string {
	first := a.request.seq.ReasoningTokens + 1
	var b strings.Builder
	if from <= first && to > first {
		b.WriteString(`{"query":"`)
	}
	b.WriteString(a.text(max(from, first), to))
	if a.last(to) && a.request.finish != "length" {
		if to <= first {
			b.WriteString("{")
		} else {
			b.WriteString(`"`)
		}
		b.WriteString("}")
	}
	return b.String()
}

// calls reports whether a token of the answer is part of a tool call.
func (a *answer) calls(token int) bool {
	return a.request.tool != "" && token > a.request.seq.ReasoningTokens
}

// ending returns the finish reason in OpenAI's words.
func (a *answer) ending() string {
	if a.request.tool != "" && a.request.finish == "stop" {
		return "tool_calls"
	}
	return a.request.finish
}
