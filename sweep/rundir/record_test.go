package rundir

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
)

var numbers = cmp.AllowUnexported(Number{})

func anyNumber(t *rapid.T, name string) Number {
	switch rapid.IntRange(0, 2).Draw(t, name+" kind") {
	case 0:
		return Number{}
	case 1:
		return Over(rapid.Float64Range(0, 1e6).Draw(t, name))
	}
	return Exactly(rapid.Float64Range(-1e6, 1e6).Draw(t, name))
}

func TestNumberSurvivesJSON(t *testing.T) {
	type numbered struct {
		F Number `json:"f,omitzero"`
		G Number `json:"g"`
		D Dist   `json:"d"`
	}
	rapid.Check(t, func(t *rapid.T) {
		in := numbered{F: anyNumber(t, "f"), G: anyNumber(t, "g"), D: Dist{N: 3}}
		for _, f := range in.D.Numbers() {
			*f.Number = anyNumber(t, f.Name)
		}
		out := numbered{G: Exactly(2), D: Dist{P99: Exactly(3)}} // must be overwritten
		b, err := json.Marshal(in)
		if err == nil {
			err = json.Unmarshal(b, &out)
		}
		if diff := cmp.Diff(in, out, numbers); err != nil || diff != "" {
			t.Fatalf("%v, %s\n%s", err, diff, b)
		}
	})
}

// fixedLines are lines whose bytes are fixed, since readers in other languages depend on them.
var fixedLines = []string{
	`{"stage":"a","seq":0,"turn":0,"due":0,"status":"error","error":"timeout"}`,
	`{"stage":"poisson@1.00","seq":3,"turn":1,"due":1.25,"queued":0.5,"sent":1.750000001,"headers":2,` +
		`"first_token":2.1,"first_answer":2.2,"last_token":3,"end":3.5,"dial":0.001,"resent":1,"status":"ok",` +
		`"error":"e","message":"\"\\\n中","http":200,"asked_tokens":8,"prompt_tokens":512,"output_tokens":8,` +
		`"reasoning_tokens":2,"cached_tokens":256,"ideal_tokens":300,"token_source":"server","finish":"stop",` +
		`"gaps_us":[1,-2,3],"counts":[1,2],"shared":[0],"read_delay":0.000001}`,
}

// Times have nine digits.
func TestRecordFormat(t *testing.T) {
	for _, want := range fixedLines {
		r, err := ParseRecord([]byte(strings.Replace(want, "1.750000001", "1.7500000012", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.AppendJSON(nil); string(got) != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}

// FuzzParse checks that a line that can be read can be written, and then reads the same, by encoding/json too.
func FuzzParse(f *testing.F) {
	text := Record{Stage: "\u2028\u2029<&>😀", GapsUS: []int64{0, 1e15, -1e15}, Counts: []int32{0, 1 << 30}}
	for r := range rune(0x180) {
		text.Message += string(r)
	}
	for _, line := range append([]string{
		`{"stage":"a","seq":1,"turn":0,"due":1.5,"sent":-0.25,"status":"ok","gaps_us":[1,-2],"counts":[1,2,3]}`,
		`{"due":00}`, `{"due":1.}`, `{"due":1e3}`, `{"due":{"over":3}}`, `{"seq":1.0}`, `{"gaps_us":[]}`, `{"gaps_us":[01]}`,
		`{"counts":[4294967296]}`, `{"due":9007199254740993.5}`, `{"stage":"\u0041"}`, `{"seq":1,"seq":2}`, `{} `,
		`{"Seq":3}`,
		`{"gaps_us":[1,2],"gaps_us":[3]}`, `{"status":"ok","due":0.000000001}`, `{"seq":-0}`, `null`, `{"seq":1}}`,
		`{"due":-0}`, `{"due":0.12345678901}`,
		`{"due":"1.5"}`, `{"due":null,"sent":true}`, `{"later":{"a":[1,{"b":null}]},"seq":4}`,
		string(text.AppendJSON(nil)), `{"due":1e4,"sent":12345.678901234,"end":9999.999999999}`,
	}, fixedLines...) {
		f.Add([]byte(line))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, line []byte) {
		first, err := ParseRecord(line)
		if err != nil {
			return
		}
		written := first.AppendJSON(nil)
		again, err := ParseRecord(written)
		if err != nil {
			t.Fatalf("%s: %s: %v", line, written, err)
		}
		written = again.AppendJSON(nil)
		third, err := ParseRecord(written)
		if diff := cmp.Diff(again, third, numbers); err != nil || diff != "" {
			t.Fatalf("%s: %s: %v\n%s", line, written, err, diff) // a first reading may repair invalid UTF-8
		}
		standard := &Record{}
		err = json.Unmarshal(written, standard)
		if diff := cmp.Diff(again, standard, numbers); utf8.Valid(written) && (err != nil || diff != "") {
			t.Fatalf("%s: %s: %v\n%s", line, written, err, diff)
		}
	}))
}

// TestParseRefuses has lines that are not records.
func TestParseRefuses(t *testing.T) {
	for _, line := range []string{``, `nonsense`, `{`, `{"seq":1`, `{"seq":1}}`, `{"due":"1.5"}`, `{"due":true}`,
		`{"seq":1.5}`, `{"stage":7}`, `{"counts":[4294967296]}`, `[1]`} {
		if r, err := ParseRecord([]byte(line)); err == nil {
			t.Errorf("%q is read as %+v", line, r)
		}
	}
}

// A number that exists never vanishes, and a maximum of which a part is a lower bound is one, too.
func TestMax(t *testing.T) {
	none := Number{}
	for _, c := range []struct{ a, b, want Number }{
		{none, none, none}, {none, Exactly(1), Exactly(1)}, {none, Exactly(-1), Exactly(-1)}, {none, Over(1), Over(1)},
		{Exactly(1), Exactly(1), Exactly(1)}, {Exactly(1), Exactly(2), Exactly(2)}, {Exactly(1), Over(1), Over(1)},
		{Exactly(1), Over(2), Over(2)}, {Exactly(2), Over(1), Over(2)}, {Over(1), Over(2), Over(2)},
	} {
		if got, back := Max(c.a, c.b), Max(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("Max(%v, %v) = %v and %v, want %v", c.a, c.b, got, back, c.want)
		}
	}
}

func TestNumberOr(t *testing.T) {
	for n, want := range map[Number]float64{
		{}: 7, Exactly(math.NaN()): 7, Over(math.Inf(1)): 7, Exactly(0): 0, Exactly(2): 2, Over(2): 2,
	} {
		if got := n.Or(7); got != want {
			t.Errorf("(%v).Or(7) = %v, want %v", n, got, want)
		}
	}
}
