package client

import (
	"math"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/sim/server"
)

// TestLogProbabilities asks each simulated engine for the most likely answer. Its tokens must be those of the text, each with its
// log-probability and the likeliest tokens in its place.
func TestLogProbabilities(t *testing.T) {
	each(t, func(t *testing.T, engine, name string) {
		for _, texts := range []string{"", "pieces"} {
			if texts != "" && name != "sglang" {
				continue
			}
			url := simulated(t, server.Options{Engine: engine, Texts: texts})
			res := greedy(t, Options{URL: url, API: name, Params: api.Params{Model: "Qwen2-7B", Fields: api.AllFields, Extra: []byte(`{"top_p":0.5}`)}})
			tokens, err := api.ParseLogProbs(res.LogProbs)
			if err != nil {
				t.Fatal(err)
			}
			d, err := api.DialectsByName(name)
			if err != nil {
				t.Fatal(err)
			}
			if d.Traits().LogProbs == "" {
				if len(tokens) > 0 {
					t.Errorf("%d tokens with log-probabilities, although the API has none", len(tokens))
				}
				continue
			}
			var text strings.Builder
			for i, tok := range tokens {
				text.WriteString(tok.Text)
				if len(tok.Top) != api.TopTokens || math.IsNaN(tok.LogP) || tok.Top[0].LogP < tok.LogP || tok.Top[0].LogP > 0 {
					t.Errorf("token %d: %+v", i, tok)
				}
			}
			if len(tokens) != res.OutputTokens || text.String() != string(res.Text) {
				t.Errorf("%d tokens %q of %d %q", len(tokens), text.String(), res.OutputTokens, res.Text)
			}
		}
	})
}

// greedy sends one request for the most likely answer.
func greedy(t *testing.T, o Options) *Result {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := *request24
	r.Greedy = &api.Greedy{LogProbs: true}
	call, err := c.Prepare(&r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(call.Body), "top_p") || strings.Contains(string(call.Body), "ignore_eos") {
		t.Errorf("the body is not greedy: %s", call.Body)
	}
	var res Result
	res.Reset(time.Now())
	c.Do(t.Context(), call, &res)
	if res.Status != StatusOK {
		t.Fatalf("%s: %s", res.Class, res.Message)
	}
	return &res
}

// TestOnlyGreedyRequestsKeepLogProbabilities has a user's body ask for them in ordinary requests.
func TestOnlyGreedyRequestsKeepLogProbabilities(t *testing.T) {
	url := simulated(t, server.Options{})
	c, err := New(Options{URL: url, Params: api.Params{Extra: []byte(`{"logprobs":true,"top_logprobs":2}`)}})
	if err != nil {
		t.Fatal(err)
	}
	call, err := c.Prepare(request24)
	if err != nil {
		t.Fatal(err)
	}
	var res Result
	res.Reset(time.Now())
	c.Do(t.Context(), call, &res)
	if res.Status != StatusOK || len(res.LogProbs) > 0 {
		t.Errorf("%s %s: %d bytes of log-probabilities", res.Status, res.Message, len(res.LogProbs))
	}
}
