// Asks a server how likely it finds a text, in the ways that servers have for that, and reads the log-probabilities of the text's
// tokens.
//
//	prompt_logprobs   POST /v1/completions, vLLM's own member: {"prompt_logprobs":[null,{"11":{"logprob":-0.1,"decoded_token":" a"}}]}
//	echo              POST /v1/completions, as OpenAI's first models had it: the log-probabilities of an answer that begins with the prompt
//	sglang            POST /generate of sgLang: {"meta_info":{"input_token_logprobs":[[null,1,"A"],[-0.1,11," a"]]}}

package api

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/tidwall/gjson"
)

// Names of the ways.
const (
	PromptLogProbs = "prompt_logprobs"
	echo           = "echo"
	sgLang         = "sglang"
)

// Errors of answers.
var (
	// ErrIgnored is the error of an answer without the log-probabilities of the prompt: the server does not know what was asked.
	ErrIgnored = errors.New("the answer has no log-probabilities of the prompt")
	// errScoreShape is the error of an answer that is no JSON, or has another shape.
	errScoreShape = errors.New("the log-probabilities of the prompt have a shape that is not known")
)

// Scoring is a way to ask. It implements [Scorer].
type Scoring struct {
	Name   string
	path   string
	encode func(model, text string) any
	usage  func(answer gjson.Result) Usage
	tokens func(answer gjson.Result) ([]LogProbToken, error)
}

// scoreObject is a JSON object.
type scoreObject map[string]any

// Scorings returns all ways, in the order in which they are tried at a server of an engine; "" for an unknown one.
func Scorings(engine string) []*Scoring {
	all := []*Scoring{
		{PromptLogProbs, "/v1/completions", func(model, text string) any {
			return scoreObject{"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
		}, usageOf, promptLogProbs},
		{echo, "/v1/completions", func(model, text string) any {
			return scoreObject{"model": model, "prompt": text, "max_tokens": 1, "temperature": 0, "echo": true, "logprobs": 1}
		}, usageOf, echoed},
		{sgLang, "/generate", func(_, text string) any {
			return scoreObject{
				"text": text, "sampling_params": scoreObject{"max_new_tokens": 1, "temperature": 0}, "return_logprob": true, "logprob_start_len": 0,
				"return_text_in_logprobs": true,
			}
		}, sglangUsage, scoreSGLang},
	}
	if engine == "sglang" {
		slices.Reverse(all)
	}
	return all
}

// ScoringWay returns a way; nil for none of that name.
func ScoringWay(name string) *Scoring {
	for _, w := range Scorings("") {
		if w.Name == name {
			return w
		}
	}
	return nil
}

// Path implements [Scorer].
func (w *Scoring) Path() string { return w.path }

// Encode implements [Scorer].
func (w *Scoring) Encode(model, text string) ([]byte, error) {
	return json.Marshal(w.encode(model, text))
}

// Usage implements [Scorer].
func (w *Scoring) Usage(answer []byte) Usage {
	if !json.Valid(answer) {
		return noUsage
	}
	return w.usage(gjson.ParseBytes(answer))
}

// Tokens returns the tokens of the prompt, of which a first one that nothing precedes has no log-probability: NaN. The error is [ErrIgnored] or
// [ErrShape].
func (w *Scoring) Tokens(answer []byte) ([]LogProbToken, error) {
	if !json.Valid(answer) { // NaN and Infinity, too, are no JSON
		return nil, errScoreShape
	}
	return w.tokens(gjson.ParseBytes(answer))
}

// scoreNumber returns a log-probability: NaN where there is none, and minus infinity where the server wrote its number for that.
func scoreNumber(v gjson.Result) float64 {
	switch {
	case v.Type != gjson.Number:
		return math.NaN()
	case v.Num <= impossible:
		return math.Inf(-1)
	}
	return v.Num
}

// impossible is the log-probability below which a server means minus infinity: vLLM writes -9999, float32's lowest value is lower yet.
const impossible = -9000

func scoreCount(v gjson.Result) int {
	if v.Type != gjson.Number || v.Num < 0 || v.Num > math.MaxInt32 {
		return Unknown
	}
	return int(v.Num)
}

// usageOf reads OpenAI's counts.
func usageOf(v gjson.Result) Usage {
	u := noUsage
	u.Prompt, u.Output, u.Cached = scoreCount(v.Get("usage.prompt_tokens")), scoreCount(v.Get("usage.completion_tokens")), scoreCount(v.Get("usage.prompt_tokens_details.cached_tokens"))
	return u
}

// sglangUsage reads sgLang's counts.
func sglangUsage(v gjson.Result) Usage {
	u := noUsage
	u.Prompt, u.Output, u.Cached = scoreCount(v.Get("meta_info.prompt_tokens")), scoreCount(v.Get("meta_info.completion_tokens")), scoreCount(v.Get("meta_info.cached_tokens"))
	return u
}

// promptLogProbs reads vLLM's member: an object for each token, of which the first entry is the prompt's.
func promptLogProbs(v gjson.Result) (all []LogProbToken, err error) {
	list := v.Get("choices.0.prompt_logprobs")
	if !list.IsArray() {
		if list = v.Get("prompt_logprobs"); !list.IsArray() {
			return nil, ErrIgnored
		}
	}
	list.ForEach(func(_, place gjson.Result) bool {
		t := LogProbToken{LogP: math.NaN()}
		switch {
		case place.IsObject():
			found := false
			place.ForEach(func(_, entry gjson.Result) bool {
				t.Text, t.LogP, found = entry.Get("decoded_token").Str, scoreNumber(entry.Get("logprob")), true
				return false
			})
			if !found {
				err = errScoreShape
			}
		case place.Type != gjson.Null:
			err = errScoreShape
		}
		all = append(all, t)
		return err == nil
	})
	return all, err
}

// echoed reads an answer that begins with the prompt. Tokens that were generated behind it are left out.
func echoed(v gjson.Result) ([]LogProbToken, error) {
	choice := v.Get("choices.0")
	names, logs := choice.Get("logprobs.tokens"), choice.Get("logprobs.token_logprobs")
	if !names.IsArray() || !logs.IsArray() {
		return nil, ErrIgnored
	}
	tokens, values := names.Array(), logs.Array()
	if len(tokens) != len(values) {
		return nil, errScoreShape
	}
	u := usageOf(v)
	generated := 1
	if u.Output != Unknown {
		generated = u.Output
	}
	n := len(tokens) - generated
	if n <= 0 {
		return nil, ErrIgnored
	}
	all := make([]LogProbToken, n)
	for i := range all {
		if tokens[i].Type != gjson.String {
			return nil, errScoreShape
		}
		all[i] = LogProbToken{Text: tokens[i].Str, LogP: scoreNumber(values[i])}
	}
	return all, nil
}

// scoreSGLang reads sgLang's triples.
func scoreSGLang(v gjson.Result) (all []LogProbToken, err error) {
	list := v.Get("meta_info.input_token_logprobs")
	if !list.IsArray() {
		return nil, ErrIgnored
	}
	list.ForEach(func(_, triple gjson.Result) bool {
		if !triple.IsArray() {
			err = errScoreShape
			return false
		}
		all = append(all, LogProbToken{Text: triple.Get("2").Str, LogP: scoreNumber(triple.Get("0"))})
		return true
	})
	return all, err
}
