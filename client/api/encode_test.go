package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// The bodies of requests in each dialect.
func TestEncode(t *testing.T) {
	yes, no, half := true, false, 0.5
	r := &Request{Messages: []Message{{Role: "system", Content: "Be brief."},
		{Role: "user", Content: "Say \"hi\"\n\x01\xff<é>"}}, OutputTokens: 16}
	var bodies strings.Builder
	for _, tt := range []struct {
		api   string
		n     int
		p     Params
		extra string
	}{
		{"chat", 16, Params{Model: "m", Fields: AllFields}, ""},
		{"completions", 16, Params{Model: "m", Fields: AllFields}, ""},
		{"completions", 16, Params{Model: "m", Fields: Fields{MinTokens: true, MaxCompletionTokens: true}}, ""},
		{"completions", 0, Params{Model: "m", Fields: Fields{IgnoreEOS: true, StreamUsage: true, ContinuousUsage: true}},
			""},
		{"completions", 16, Params{Model: "m", Temperature: &half, Fields: AllFields},
			`{"prompt":[1, 2],"ignore_eos":null,"max_tokens":7,"stream_options":{"a":{}},"top_p":0.9,"x.y":1}`},
		{"chat", 0, Params{Model: "m", Think: &yes}, `{"messages":[]}`},
		{"chat", 0, Params{Model: "m", Think: &yes, Fields: Fields{ReasoningEffort: true}}, `{"messages":[]}`},
		{"chat", 0, Params{Model: "m", Think: &yes, Fields: Fields{NoThinking: true}}, `{"messages":[]}`},
		{"sglang", 16, Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, ""},
		{"sglang", 16, Params{}, ""},
		{"sglang", 16, Params{Fields: AllFields},
			`{"text":"x","sampling_params":{"ignore_eos":null,"top_p":0.9,"stop":["a"]},"return_logprob":true}`},
		{"sglang", 16, Params{}, `{"sampling_params":null,"text":null}`},
		{"sglang", 16, Params{}, `{"sampling_params":[{"n":1}],"text":null}`},
		{"responses", 16, Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, ""},
		{"responses", 0, Params{Model: "m", Think: &no}, `{"input":"x","store":null}`},
		{"messages", 16, Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, ""},
		{"messages", 4000, Params{Model: "m", Think: &yes},
			`{"messages":[],"system":null,"thinking":{"budget_tokens":2000}}`},
		{"messages", 0, Params{Model: "m", Think: &no}, `{"messages":[],"system":null}`},
		{"completions", 0, Params{}, `{"model":null,"prompt":null,"stream":null}`},
	} {
		d, err := DialectByName(tt.api)
		if err != nil {
			t.Fatal(err)
		}
		r.OutputTokens, tt.p.Extra = tt.n, []byte(tt.extra)
		body, err := d.Encode(r, &tt.p)
		if err != nil || !json.Valid(body) {
			t.Errorf("%v: %v, %s", tt, err, body)
		}
		fmt.Fprintf(&bodies, "# %s %s\n%s\n", tt.api, tt.extra, body)
	}
	testkit.CheckGolden(t, "bodies.golden", []byte(bodies.String()))
}

// Any string arrives as encoding/json would write it, and a JSON string's content means what encoding/json reads.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é你😀", "\xff\xc3", "\ufffd", "a\xed\xa0\x80b",
		"\u2028<&>",
		`\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, `\ud83dx`, `\u12`, `\x`} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		completions, err := DialectByName("completions")
		if err != nil {
			t.Fatal(err)
		}
		body, err := completions.Encode(&Request{Messages: []Message{{Content: s}}}, &Params{})
		var got struct{ Prompt string }
		if err != nil || json.Unmarshal(body, &got) != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if want := string([]rune(s)); got.Prompt != want {
			t.Errorf("%q arrived as %q", want, got.Prompt)
		}
		var want string
		if json.Unmarshal([]byte(`"`+s+`"`), &want) == nil {
			if got := string(Unescape([]byte(s))); got != want {
				t.Errorf("%q means %q, not %q", s, want, got)
			}
		}
	}))
}

// Whatever object a user adds, the body is an object with the user's keys in it.
func FuzzExtra(f *testing.F) {
	for _, s := range []string{`{}`, ` {"a":1}`, `{"model":null}`, `{"a":{"b":[]},"\u0061":"x"}`, `{"":0}`,
		`{"a.b":1,"a|b":2,"#":3,"a*":4}`,
		`{"sampling_params":{"top_k":9,"max_new_tokens":null}}`, `{"parameters":7,"sampling_params":{"\u0061":[]}}`,
		`{"sampling_params":null}`, "{\"\xe6\xe6\":0}"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, extra string) {
		if len(extra) == 0 || len(extra) >= 64<<10 || CheckExtra([]byte(extra)) != nil {
			return
		}
		for _, d := range Dialects() {
			checkExtraIn(t, d, extra)
		}
	}))
}

// checkExtraIn encodes with a user's object in it. Objects that a dialect has too are merged, their nulls left out.
func checkExtraIn(t *testing.T, d Dialect, extra string) {
	t.Helper()
	b, err := d.Encode(&Request{Messages: []Message{{Role: "user", Content: "hello"}}, OutputTokens: 4},
		&Params{Model: "m", Fields: AllFields, Extra: []byte(extra)})
	if err != nil {
		t.Fatal(err)
	}
	var body, added map[string]any
	if err := json.Unmarshal(b, &body); err != nil {
		if strings.Contains(err.Error(), "cannot unmarshal number") {
			return // 1e999 is JSON all the same
		}
		t.Fatalf("%s: %v", b, err)
	}
	json.Unmarshal([]byte(extra), &added)
	for k, v := range added {
		got := body[k]
		if mine, ok := v.(map[string]any); ok && k == "sampling_params" {
			for inner, v := range mine {
				if d := cmp.Diff(v, got.(map[string]any)[inner]); d != "" {
					t.Errorf("%q.%q in %s: -added +sent\n%s", k, inner, b, d)
				}
			}
			continue
		}
		if d := cmp.Diff(v, got); d != "" {
			t.Errorf("%q in %s: -added +sent\n%s", k, b, d)
		}
	}
}
