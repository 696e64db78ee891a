package server

import (
	"encoding/json"
	"strings"
)

// Tools are the tools of a request, and whether it must call one. The simulated model calls a tool only where it must, and
// then the first.
type Tools struct {
	All    []tool          `json:"tools"`
	Choice json.RawMessage `json:"tool_choice"`
}

// tool is a tool's name, which OpenAI's chat puts into an object.
type tool struct {
	Name     string
	Function struct{ Name string }
}

// Called returns the name of the tool that the answer must call; empty for none.
func (t *Tools) Called() string {
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

// Arguments returns the part of a tool call's arguments that the tokens after from, up to to, are. The first token of the call
// is its name.
func (a *AnswerState) Arguments(from, to int) string {
	first := a.Request.Work.ReasoningTokens + 1
	var b strings.Builder
	if from <= first && to > first {
		b.WriteString(`{"query":"`)
	}
	b.WriteString(a.Text(max(from, first), to))
	if a.IsLast(to) && a.Request.Finish != "length" {
		if to <= first {
			b.WriteString("{")
		} else {
			b.WriteString(`"`)
		}
		b.WriteString("}")
	}
	return b.String()
}

// IsToolCall reports whether a token of the answer is part of a tool call.
func (a *AnswerState) IsToolCall(token int) bool {
	return a.Request.Tool != "" && token > a.Request.Work.ReasoningTokens
}

// FinishReason returns the finish reason in OpenAI's words.
func (a *AnswerState) FinishReason() string {
	if a.Request.Tool != "" && a.Request.Finish == "stop" {
		return "tool_calls"
	}
	return a.Request.Finish
}
