package published

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

func TestQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"0.51 req/sec": "0.51 req/sec 2 2", "1,187.02 tokens/sec": "1187.02 tokens/sec 2 6", "15.9sec": "15.9 sec 1 3",
		"１，１８７．０２ ms": "1187.02 ms 2 6", "45.38": "45.38  2 4", "100 (100.0%)": "100  0 3 100.0%",
		"> 58.30 sec": "> 58.3 sec 2 4", "1.5e-3 s": "0.0015 s 4 2", "0.0700 ms": "0.07 ms 4 3", "n/a": "n/a  0 0",
		"": "is empty", "1,18.02": "is no number", ",118": "is no number", "1.5,000": "is no number",
		"fast": "is no number", "1e999": "is no number that a benchmark prints",
	} {
		q, err := ParseQuantity(text)
		got := fmt.Sprintf("%g %s %d %d %s", q.Number.Value(), q.Unit, q.Decimals, q.Digits, q.Rest)
		switch {
		case err != nil:
			got = err.Error()
		case q.Number.Bound():
			got = "> " + got
		case q.Number.IsZero():
			got = strings.Replace(got, "NaN", "n/a", 1)
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// FuzzParseQuantity: what is read as a number is one.
func FuzzParseQuantity(f *testing.F) {
	for _, s := range []string{"1,187.02 tokens/second", "> 58.30 sec", "1e400", "1e-999999999", "100 (100.0%)", "-",
		"0x1p4", "1,,1", "١٢", "1e5e5 ms"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string) {
		q, err := ParseQuantity(text)
		if err != nil || q.Number.IsZero() {
			return
		}
		if v := q.Number.Value(); math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) > 1e15 {
			t.Errorf("%q is %v", text, v)
		}
		if s, err := q.In(Time, "ms"); err == nil && !s.Known() && !s.Bound() {
			t.Errorf("%q in milliseconds is nothing", text)
		}
		if slack := q.Slack("ms"); math.IsNaN(slack) || slack < 0 {
			t.Errorf("%q is off by %v", text, slack)
		}
	}))
}
