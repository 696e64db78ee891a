package api

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	want := []LogProbToken{
		{Text: " a", LogP: -0.25, Top: []LogProbChoice{{" a", -0.25}, {" b", -2}}},
		{Text: "\xe4", LogP: -0.5, Top: []LogProbChoice{{"\xe4", -0.5}, {"c", -1.5}}},
	}
	whole := []LogProbToken{want[0], {Text: "d", LogP: -0.5, Top: []LogProbChoice{{"d", -0.5}, {"c", -1.5}}}}
	for name, c := range map[string]struct {
		raw  string
		want []LogProbToken
	}{
		"chat, a part of a character": {`{"content":[{"token":" a","logprob":-0.25,"bytes":[32,97],"top_logprobs":[{"token":" a","logprob":-0.25},{"token":" b","logprob":-2}]}]}
			{"content":null} {"content":[{"token":"\ufffd","logprob":-0.5,"bytes":[228],"top_logprobs":[{"token":"c","logprob":-1.5},{"token":"\ufffd","bytes":[228],"logprob":-0.5}]}]}`, want},
		"completions": {`{"tokens":[" a","d"],"token_logprobs":[-0.25,null],"top_logprobs":[{" b":-2," a":-0.25},{"d":-0.5,"c":-1.5}],"text_offset":[0,1]}`, whole},
		"llama.cpp":   {`[{"id":1,"token":" a","logprob":-0.25,"top_logprobs":[{"token":" a","logprob":-0.25},{"token":" b","logprob":-2}]}][{"token":"d","logprob":-0.5,"top_logprobs":[{"token":"d","logprob":-0.5},{"token":"c","logprob":-1.5}]}]`, whole},
		"sglang, repeating": {`{"output_token_logprobs":[[-0.25,7," a"]],"output_top_logprobs":[[[-0.25,7," a"],[-2,8," b"]]],"completion_tokens":1}
			{"output_token_logprobs":[[-0.25,7," a"],[-0.5,9,"d"]],"output_top_logprobs":[[[-0.25,7," a"],[-2,8," b"]],[[-0.5,9,"d"],[-1.5,3,"c"]]],"completion_tokens":2}`, whole},
		"sglang, pieces": {`{"output_token_logprobs":[[-0.25,7," a"]],"output_top_logprobs":[[[-0.25,7," a"],[-2,8," b"]]],"completion_tokens":1}
			{"output_token_logprobs":[[-0.5,9,"d"]],"output_top_logprobs":[[[-0.5,9,"d"],[-1.5,3,"c"]]],"completion_tokens":2}`, whole},
		"none": {"", nil},
	} {
		got, err := ParseLogProbs([]byte(c.raw))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	old, err := ParseLogProbs([]byte(`[{"content":" a","probs":[{"tok_str":" a","prob":0.5},{"tok_str":" b","prob":0.25}]}]`))
	if err != nil || len(old) != 1 || math.Abs(old[0].LogP-math.Log(0.5)) > 1e-12 {
		t.Errorf("llama.cpp before 2025: %+v %v", old, err)
	}
	for _, raw := range []string{`{"a":1}`, `{"content":`, `7`} {
		if _, err := ParseLogProbs([]byte(raw)); !errors.Is(err, errLogProbShape) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
