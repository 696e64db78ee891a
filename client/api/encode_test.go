package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

func TestEncode(t *testing.T) {
	yes, no, half := true, false, 0.5
	const joined = `"Be brief.\nSay \"hi\"\n\u0001�<é>"`
	r := &Request{Messages: []Message{{Role: "system", Content: "Be brief."},
		{Role: "user", Content: "Say \"hi\"\n\x01\xff<é>"}}, OutputTokens: 16}
	tests := map[string]struct {
		api  string
		p    Params
		n    int
		want string
	}{
		"chat": {"chat", Params{Model: "m", Fields: AllFields}, 16,
			`{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Say \"hi\"\n\u0001�<é>"}],` +
				`"stream":true,"max_tokens":16,"ignore_eos":true,"min_tokens":16,"stream_options":{"include_usage":true}}`},
		"completions": {"completions", Params{Model: "m", Fields: AllFields}, 16,
			`{"model":"m","prompt":"Be brief.\nSay \"hi\"\n\u0001�<é>",` +
				`"stream":true,"max_tokens":16,"ignore_eos":true,"min_tokens":16,"stream_options":{"include_usage":true}}`},
		"strict": {"completions", Params{Model: "m", Fields: Fields{MinTokens: true, MaxCompletionTokens: true}}, 16,
			`{"model":"m","prompt":"Be brief.\nSay \"hi\"\n\u0001�<é>","stream":true,"max_completion_tokens":16}`},
		"length left to the server": {"completions", Params{Model: "m", Fields: Fields{IgnoreEOS: true, StreamUsage: true,
			ContinuousUsage: true}}, 0,
			`{"model":"m","prompt":"Be brief.\nSay \"hi\"\n\u0001�<é>","stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		"extra": {"completions", Params{Model: "m", Temperature: &half, Fields: AllFields,
			Extra: []byte(` {"prompt":[1, 2],"ignore_eos":null,"max_tokens":7,"stream_options":{"a":{}},"top_p":0.9,"x.y":1} `)}, 16,
			`{"model":"m","stream":true,"min_tokens":16,"temperature":0.5,"prompt":[1, 2],"max_tokens":7,"stream_options":{"a":{}},"top_p":0.9,"x.y":1}`},
		"think": {"chat", Params{Model: "m", Think: &yes, Extra: []byte(`{"messages":[]}`)}, 0,
			`{"model":"m","stream":true,"chat_template_kwargs":{"enable_thinking":true},"messages":[]}`},
		"think, in OpenAI's field": {"chat", Params{Model: "m", Think: &yes, Fields: Fields{ReasoningEffort: true},
			Extra: []byte(`{"messages":[]}`)}, 0,
			`{"model":"m","stream":true,"reasoning_effort":"medium","messages":[]}`},
		"thinking left out": {"chat", Params{Model: "m", Think: &yes, Fields: Fields{NoThinking: true},
			Extra: []byte(`{"messages":[]}`)}, 0,
			`{"model":"m","stream":true,"messages":[]}`},
		"sglang": {"sglang", Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, 16,
			`{"text":` + joined + `,"sampling_params":{"max_new_tokens":16,"ignore_eos":true,"temperature":0.5},"stream":true}`},
		"sglang, strict": {"sglang", Params{}, 16, `{"text":` + joined +
			`,"sampling_params":{"max_new_tokens":16},"stream":true}`},
		"sglang, merged": {"sglang", Params{Fields: AllFields,
			Extra: []byte(`{"text":"x","sampling_params":{"ignore_eos":null,"top_p":0.9,"stop":["a"]},"return_logprob":true}`)},
			16,
			`{"sampling_params":{"max_new_tokens":16,"top_p":0.9,"stop":["a"]},"stream":true,"text":"x","return_logprob":true}`},
		"sglang, taken out": {"sglang", Params{Extra: []byte(`{"sampling_params":null,"text":null}`)}, 16,
			`{"stream":true}`},
		"sglang, not merged": {"sglang", Params{Extra: []byte(`{"sampling_params":[{"n":1}],"text":null}`)}, 16,
			`{"stream":true,"sampling_params":[{"n":1}]}`},
		"responses": {"responses", Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, 16,
			`{"model":"m","input":[{"role":"system","content":"Be brief."},{"role":"user","content":"Say \"hi\"\n\u0001�<é>"}],` +
				`"stream":true,"store":false,"max_output_tokens":16,"ignore_eos":true,"temperature":0.5,"reasoning":{"effort":"medium"}}`},
		"responses, strict": {"responses", Params{Model: "m", Think: &no, Extra: []byte(`{"input":"x","store":null}`)}, 0,
			`{"model":"m","stream":true,"reasoning":{"effort":"none"},"input":"x"}`},
		"messages": {"messages", Params{Model: "m", Temperature: &half, Think: &yes, Fields: AllFields}, 16,
			`{"model":"m","system":"Be brief.","messages":[{"role":"user","content":"Say \"hi\"\n\u0001�<é>"}],"stream":true,"max_tokens":16,"temperature":0.5}`},
		"messages, thinking": {"messages", Params{Model: "m", Think: &yes,
			Extra: []byte(`{"messages":[],"system":null,"thinking":{"budget_tokens":2000}}`)}, 4000,
			`{"model":"m","stream":true,"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[]}`},
		"messages, length left to the server": {"messages", Params{Model: "m", Think: &no,
			Extra: []byte(`{"messages":[],"system":null}`)}, 0,
			`{"model":"m","stream":true,"max_tokens":4096,"thinking":{"type":"disabled"},"messages":[]}`},
		"everything out": {"completions", Params{Extra: []byte(`{"model":null,"prompt":null,"stream":null}`)}, 0, `{}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := DialectByName(tt.api)
			if err != nil {
				t.Fatal(err)
			}
			r.OutputTokens = tt.n
			got, err := d.Encode(r, &tt.p)
			if err != nil || !json.Valid(got) {
				t.Errorf("%v, %s", err, got)
			}
			if d := cmp.Diff(tt.want, string(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
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
