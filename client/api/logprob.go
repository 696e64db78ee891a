// Reads the log-probabilities of an answer's tokens, in the shapes in which the APIs send them.

package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tidwall/gjson"
)

// LogProbToken is a token of an answer.
type LogProbToken struct {
	Text string
	LogP float64 // its log-probability, in nats; NaN where it was not told
	Top  []LogProbChoice
}

// LogProbChoice is one of the most likely tokens at a place, and its log-probability in nats. The likeliest comes first.
type LogProbChoice struct {
	Text string
	LogP float64
}

// errLogProbShape is the error of log-probabilities in a shape that is not known.
var errLogProbShape = errors.New("the log-probabilities have a shape that is not known")

// ParseLogProbs reads the log-probabilities of one answer: JSON values one after the other, one for each chunk.
//
//	chat, and /v1 of llama.cpp     {"content":[{"token":" a","logprob":-0.1,"top_logprobs":[{"token":" a","logprob":-0.1}]}]}
//	completions                    {"tokens":[" a"],"token_logprobs":[-0.1],"top_logprobs":[{" a":-0.1}]}
//	llama.cpp, Ollama              [{"token":" a","logprob":-0.1,"top_logprobs":[..]}]
//	llama.cpp before 2025          [{"content":" a","probs":[{"tok_str":" a","prob":0.9}]}]
//	sgLang                         {"output_token_logprobs":[[-0.1,11," a"]],"output_top_logprobs":[[[-0.1,11," a"]]],"completion_tokens":1}
//
// sgLang's lists repeat those of the chunks before, unless the server was started otherwise: they have as many elements as tokens were
// counted so far.
func ParseLogProbs(raw []byte) ([]LogProbToken, error) {
	var all []LogProbToken
	for d := json.NewDecoder(bytes.NewReader(raw)); d.More(); {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return all, fmt.Errorf("%w: %w", errLogProbShape, err)
		}
		v := gjson.ParseBytes(value)
		switch {
		case v.IsArray():
			all = appendObjects(all, v)
		case v.Get("content").IsArray():
			all = appendObjects(all, v.Get("content"))
		case v.Get("output_token_logprobs").IsArray():
			list := v.Get("output_token_logprobs")
			if n := list.Get("#").Int(); n == v.Get("completion_tokens").Int() {
				all = all[:0]
			}
			all = appendSGLang(all, list.Array(), v.Get("output_top_logprobs").Array())
		case v.Get("tokens").IsArray():
			all = appendColumns(all, v)
		case v.Get("content").Exists(): // null: a chunk without a token
		default:
			return all, errLogProbShape
		}
	}
	return all, nil
}

// appendObjects reads a list of objects, one for each token.
func appendObjects(all []LogProbToken, list gjson.Result) []LogProbToken {
	list.ForEach(func(_, o gjson.Result) bool {
		t := LogProbToken{Text: text(o), LogP: logProbNumber(o.Get("logprob"))}
		tops := o.Get("top_logprobs")
		if probs := o.Get("probs"); probs.IsArray() {
			t.Text, tops = o.Get("content").Str, probs
		} else if probs := o.Get("top_probs"); probs.IsArray() {
			tops = probs
		}
		tops.ForEach(func(_, c gjson.Result) bool {
			choice := LogProbChoice{text(c), logProbNumber(c.Get("logprob"))}
			if p := c.Get("prob"); p.Exists() {
				choice.LogP = math.Log(p.Float())
			}
			t.Top = append(t.Top, choice)
			return true
		})
		all = append(all, t.settled())
		return true
	})
	return all
}

// text returns the text of a token. Its bytes come first: a part of a character has no text of its own.
func text(o gjson.Result) string {
	if b := o.Get("bytes"); b.IsArray() {
		var raw []byte
		b.ForEach(func(_, n gjson.Result) bool {
			raw = append(raw, byte(n.Int()))
			return true
		})
		if len(raw) > 0 {
			return string(raw)
		}
	}
	if t := o.Get("tok_str"); t.Exists() {
		return t.Str
	}
	return o.Get("token").Str
}

// logProbNumber returns a log-probability; NaN where there is none. Servers write -9999 for minus infinity.
func logProbNumber(v gjson.Result) float64 {
	if v.Type != gjson.Number {
		return math.NaN()
	}
	return v.Num
}

// appendColumns reads the lists of plain completions.
func appendColumns(all []LogProbToken, v gjson.Result) []LogProbToken {
	logs, tops := v.Get("token_logprobs").Array(), v.Get("top_logprobs").Array()
	for i, tok := range v.Get("tokens").Array() {
		t := LogProbToken{Text: tok.Str, LogP: math.NaN()}
		if i < len(logs) {
			t.LogP = logProbNumber(logs[i])
		}
		if i < len(tops) {
			tops[i].ForEach(func(name, p gjson.Result) bool {
				t.Top = append(t.Top, LogProbChoice{name.Str, logProbNumber(p)})
				return true
			})
		}
		all = append(all, t.settled())
	}
	return all
}

// appendSGLang reads sgLang's lists of [log-probability, id, text].
func appendSGLang(all []LogProbToken, list, tops []gjson.Result) []LogProbToken {
	for i, e := range list {
		t := LogProbToken{Text: named(e), LogP: logProbNumber(e.Get("0"))}
		if i < len(tops) {
			tops[i].ForEach(func(_, c gjson.Result) bool {
				t.Top = append(t.Top, LogProbChoice{named(c), logProbNumber(c.Get("0"))})
				return true
			})
		}
		all = append(all, t.settled())
	}
	return all
}

// named returns the text of sgLang's token, or its id where the server sent no text.
func named(e gjson.Result) string {
	if t := e.Get("2"); t.Type == gjson.String {
		return t.Str
	}
	return "#" + e.Get("1").Raw
}

// settled returns the token with its choices in order, and with its log-probability taken from them where it has none.
func (t LogProbToken) settled() LogProbToken {
	t.Top = slices.DeleteFunc(t.Top, func(c LogProbChoice) bool { return math.IsNaN(c.LogP) })
	slices.SortStableFunc(t.Top, func(a, b LogProbChoice) int {
		switch {
		case a.LogP > b.LogP:
			return -1
		case a.LogP < b.LogP:
			return 1
		}
		return 0
	})
	if math.IsNaN(t.LogP) {
		for _, c := range t.Top {
			if c.Text == t.Text {
				t.LogP = c.LogP
			}
		}
	}
	return t
}
