package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

func TestEncode(t *testing.T) {
	testkit.CheckCases(t, "bodies.txt", func(t *testing.T, text string, _ bool) string {
		r := &Request{Messages: []Message{{Role: "system", Content: "Be brief."},
			{Role: "user", Content: "Say \"hi\"\n\x01\xff<é>"}}}
		var p Params
		var name, fields, params string
		call, extra, _ := strings.Cut(text, "\n")
		if _, err := fmt.Sscan(call, &name, &r.OutputTokens, &fields, &params); err != nil {
			t.Fatal(call, err)
		}
		if err := json.Unmarshal([]byte(params), &p); err != nil {
			t.Fatal(call, err)
		}
		if fields == "all" {
			p.Fields = AllFields
		}
		p.Extra = []byte(strings.TrimSpace(extra))
		body, err := testkit.Must(DialectByName(name)).Encode(r, &p)
		if err != nil || !json.Valid(body) {
			t.Errorf("%s: %v, %s", text, err, body)
		}
		return fmt.Sprintf("  %s\n", body)
	})
}

// Any string arrives as encoding/json would write it, and a JSON string's content means what encoding/json reads.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é你😀", "\xff\xc3", "\ufffd",
		"a\xed\xa0\x80b",
		"\u2028<&>",
		`\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, `\ud83dx`, `\u12`, `\x`} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		completions := testkit.Must(DialectByName("completions"))
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
