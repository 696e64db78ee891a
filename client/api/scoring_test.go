package api

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// vllm is an answer of vLLM 0.32.0 to both of its ways at once, shortened.
const vllm = `{"choices":[{"index":0,"text":"f中 {\n ","logprobs":{"text_offset":[0,1,1,1,2,3],"token_logprobs":[null,-6.27,-14.9,-8.3,-2.73,-1.53],
"tokens":["f","","","中"," {","\n "],"top_logprobs":[null,{},{},{},{},{}]},"finish_reason":"length",
"prompt_logprobs":[null,{"884":{"logprob":-6.27,"rank":75,"decoded_token":""},"16":{"logprob":-1.4,"rank":1,"decoded_token":"."}},
{"223":{"logprob":-14.9,"rank":160,"decoded_token":""}},{"163":{"logprob":-8.3,"rank":1948,"decoded_token":"中"}},{"517":{"logprob":-2.73,"rank":2,"decoded_token":" {"}}]}],
"usage":{"prompt_tokens":5,"total_tokens":6,"completion_tokens":1,"prompt_tokens_details":null}}`

// scoreLlamacpp is an answer of llama-server b10434, which knows neither way.
const scoreLlamacpp = `{"choices":[{"text":"\n","index":0,"logprobs":{"content":[{"id":201,"token":"\n","bytes":[10],"logprob":-0.94,"top_logprobs":[]}]},"finish_reason":"length"}],
"usage":{"completion_tokens":1,"prompt_tokens":18,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":0}}}`

func TestTokens(t *testing.T) {
	const sgl = `{"text":"x","meta_info":{"prompt_tokens":3,"completion_tokens":1,"cached_tokens":0,"input_token_logprobs":[[null,1,"A"],[-0.5,11," a"],[-0.25,12,null]]}}`
	for name, tc := range map[string]struct {
		way, answer, want string
		usage             string
		err               error
	}{
		"prompt_logprobs":        {PromptLogProbs, vllm, `"" NaN, "" -6.27, "" -14.9, "中" -8.3, " {" -2.73`, "5 1", nil},
		"echo":                   {echo, vllm, `"f" NaN, "" -6.27, "" -14.9, "中" -8.3, " {" -2.73`, "5 1", nil},
		"sglang":                 {sgLang, sgl, `"A" NaN, " a" -0.5, "" -0.25`, "3 1", nil},
		"at the top":             {PromptLogProbs, `{"prompt_logprobs":[null,{"1":{"logprob":-9999.0,"decoded_token":"a"}}]}`, `"" NaN, "a" -Inf`, "-1 -1", nil},
		"llama.cpp":              {PromptLogProbs, scoreLlamacpp, "", "18 1", ErrIgnored},
		"llama.cpp, echo":        {echo, scoreLlamacpp, "", "18 1", ErrIgnored},
		"llama.cpp, sglang":      {sgLang, scoreLlamacpp, "", "-1 -1", ErrIgnored},
		"only the answer's":      {echo, `{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[-1]}}],"usage":{"completion_tokens":1}}`, "", "-1 1", ErrIgnored},
		"NaN":                    {echo, `{"choices":[{"logprobs":{"tokens":["a","b"],"token_logprobs":[NaN,-1]}}]}`, "", "-1 -1", errScoreShape},
		"columns of two lengths": {echo, `{"choices":[{"logprobs":{"tokens":["a","b"],"token_logprobs":[-1]}}]}`, "", "-1 -1", errScoreShape},
		"numbers as tokens":      {echo, `{"choices":[{"logprobs":{"tokens":[1,2],"token_logprobs":[-1,-2]}}]}`, "", "-1 -1", errScoreShape},
		"texts as places":        {PromptLogProbs, `{"prompt_logprobs":["a"]}`, "", "-1 -1", errScoreShape},
		"empty places":           {PromptLogProbs, `{"prompt_logprobs":[{}]}`, "", "-1 -1", errScoreShape},
		"pairs":                  {sgLang, `{"meta_info":{"input_token_logprobs":[1,2]}}`, "", "-1 -1", errScoreShape},
		"nothing":                {echo, ``, "", "-1 -1", errScoreShape},
		"texts as numbers":       {sgLang, `{"meta_info":{"prompt_tokens":"3","input_token_logprobs":[["-1",1,"A"]]}}`, `"A" NaN`, "-1 -1", nil},
		"absurd counts":          {echo, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":1e300}}`, "", "-1 -1", ErrIgnored},
	} {
		way := ScoringWay(tc.way)
		tokens, err := way.Tokens([]byte(tc.answer))
		var got []string
		for _, tok := range tokens {
			got = append(got, fmt.Sprintf("%q %v", tok.Text, tok.LogP))
		}
		if !errors.Is(err, tc.err) || err == nil && strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %s, %v", name, strings.Join(got, ", "), err)
		}
		if u := way.Usage([]byte(tc.answer)); fmt.Sprint(u.Prompt, u.Output) != tc.usage {
			t.Errorf("%s: %+v", name, u)
		}
	}
	if ScoringWay("guess") != nil || Scorings("sglang")[0].Name != sgLang || Scorings("")[0].Name != PromptLogProbs {
		t.Error("the ways are others")
	}
}

// FuzzTokens has each way read any answer: it never panics, and every log-probability is a number, NaN or minus infinity.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{vllm, scoreLlamacpp, `{"meta_info":{"input_token_logprobs":[[null,1,"A"]]}}`, `[]`, `{"prompt_logprobs":[null,1e999]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, w := range Scorings("") {
			tokens, err := w.Tokens(answer)
			for _, tok := range tokens {
				if math.IsInf(tok.LogP, 1) && err == nil {
					t.Errorf("%s: %v", w.Name, tok)
				}
			}
			if u := w.Usage(answer); u.Prompt < Unknown || u.Output < Unknown {
				t.Errorf("%s: %+v", w.Name, u)
			}
		}
	})
}
