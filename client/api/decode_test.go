package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// decoder returns a decoder of the dialect with a name.
func decoder(t testing.TB, name string) Decoder {
	t.Helper()
	d := testkit.Must(DialectByName(name))
	return d.NewDecoder()
}

// frames returns the data of a stream's events.
func frames(stream []byte) [][]byte {
	var all [][]byte
	frames, _ := readAll(bytes.NewReader(stream))
	for _, f := range frames {
		all = append(all, []byte(f.Data))
	}
	return all
}

// oddFrames returns frames that a decoder may stumble over: those for each dialect, and for any.
func oddFrames(t testing.TB) map[string][][]byte {
	file, err := os.ReadFile("testdata/frames.txt")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][][]byte{}
	section := ""
	for line := range bytes.SplitSeq(bytes.TrimSuffix(file, []byte("\n")), []byte("\n")) {
		if name, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			section = string(name)
		} else {
			sections[section] = append(sections[section], line)
		}
	}
	shared := sections["any"]
	delete(sections, "any")
	for name := range sections {
		sections[name] = append(sections[name], shared...)
	}
	return sections
}

// compare decodes one frame both ways.
func compare(t *testing.T, d Decoder, w witness, frame []byte) {
	t.Helper()
	m, err := fieldsOf(frame)
	compareFields(t, d, w, frame, m, err)
}

// compareFields does so with the frame's fields, or the reason why it has none.
func compareFields(t *testing.T, d Decoder, w witness, frame []byte, m map[string]json.RawMessage, wantErr error) {
	t.Helper()
	var got Chunk
	err := d.Decode(frame, &got)
	want := Chunk{Usage: noUsage}
	if string(bytes.TrimSpace(frame)) == "[DONE]" {
		wantErr = nil
		if want.Done = w.terminator(); !want.Done {
			wantErr = errors.New("no terminator here")
		}
	} else if wantErr == nil {
		switch e := string(m["error"]); {
		case e != "" && e != "null" && e != "false" && e != `""`, plain(m["object"]) == "error" &&
			string(m["object"]) == `"error"`:
			want.Error = "an error"
		default:
			w.decode(m, &want)
		}
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, the witness's %v", frame, err, wantErr)
	}
	if err != nil {
		return
	}
	if (got.Error != "") != (want.Error != "") || string(got.Raw) != string(want.Raw) ||
		json.Unmarshal(fmt.Appendf(nil, `"%s"`, got.Raw), new(string)) != nil {
		t.Fatalf("%q: error object %q, text %q; the witness's %q, %q", frame, got.Error, got.Raw, want.Error, want.Raw)
	}
	got.Raw, want.Raw, got.Error, want.Error = nil, nil, "", ""
	got.Finish, want.Finish = valid(got.Finish), valid(want.Finish)
	if !reflect.DeepEqual(want, got) { // which takes less time than the difference
		t.Fatalf("%q: -witness +decoder\n%s", frame, cmp.Diff(want, got))
	}
	if d.Complete() != w.complete() {
		t.Fatalf("%q: complete %v, the witness %v", frame, d.Complete(), w.complete())
	}
}

// valid removes what is not UTF-8, because decoders differ in how many U+FFFD they put in its place.
func valid(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\uFFFD", "") }

// Decoders and witnesses agree on all frames in order, also after a Reset; and on frames that nearly fit a template,
// where a fast path goes wrong.
func TestDecoders(t *testing.T) {
	for name, all := range oddFrames(t) {
		d := decoder(t, name)
		for from := range all { // from each on, so that each is also the first
			d.Reset()
			w := newWitness(name)
			for _, f := range all[from:] {
				compare(t, d, w, f)
			}
		}
	}
	const fitting = `{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null}`
	near := []string{fitting[:len(fitting)-1], fitting + "}", " " + fitting, "[DONE]",
		strings.Replace(fitting, `null}]`, `"stop"}]`, 1), strings.Replace(fitting, `:null}`, `:{"completion_tokens":3}}`, 1)}
	for _, text := range []string{`""`, `"\""`, `"\\"`, `"\"`, `"\\\"`, `"\u00e9\ud83d\ude00"`, `"\u12"`, `"\x"`, "\"\t\"",
		`"a"},"x":{"content":"b"`, `"a","tool_calls":[{"function":{"name":"f"}}],"y":"b"`, `"a","content":""`,
		`"a","content":"b"`, `"b","reasoning":"c"`,
		`"},"finish_reason":"stop"}],"usage":{"completion_tokens":9},"z":[{"q":{"content":"`} {
		near = append(near, strings.Replace(fitting, `"a"`, text, 1))
	}
	for _, f := range near {
		d, w := decoder(t, "chat"), newWitness("chat")
		for _, f := range []string{fitting, f, fitting} {
			compare(t, d, w, []byte(f))
		}
	}
}

// Decoder and witness agree on what real servers sent, twice over (the template is learned by then), and decoding it
// allocates nothing.
func TestCapturedFrames(t *testing.T) {
	for _, capture := range testkit.Captures(t) {
		d, all := decoder(t, capture.API), frames(capture.Stream)
		for range 2 {
			d.Reset()
			w := newWitness(capture.API)
			for _, f := range all {
				compare(t, d, w, f)
			}
		}
		var c Chunk
		if n := testing.AllocsPerRun(10, func() {
			d.Reset()
			for _, f := range all {
				if d.Decode(f, &c) != nil {
					t.Fatal(string(f))
				}
			}
		}); n != 0 || len(all) < 6 || !d.Complete() {
			t.Errorf("%s: %v allocations in %d frames, complete %v", capture.Name, n, len(all), d.Complete())
		}
	}
}

func FuzzDecoder(f *testing.F)        { fuzzDecoders(f, "chat") }
func FuzzNativeDecoders(f *testing.F) { fuzzDecoders(f, "sglang", "responses", "messages") }

// fuzzDecoders compares decoders on any frames. Run it with -fuzzminimizetime 10x: by default the fuzzer spends up to a
// minute on making each interesting input shorter, and tries few others.
func fuzzDecoders(f *testing.F, names ...string) {
	odd := oddFrames(f)
	for _, name := range names {
		f.Add(bytes.Join(odd[name], []byte("\n")))
	}
	for _, capture := range testkit.Captures(f) {
		all := frames(capture.Stream)
		if n := len(all); n > 6 { // the first and the last are enough, and twice as fast
			all = append(all[:3:3], all[n-3:]...)
		}
		f.Add(bytes.Join(all, []byte("\n")))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, in []byte) {
		decoders, witnesses := map[string]Decoder{}, map[string]witness{}
		for _, name := range names {
			decoders[name], witnesses[name] = decoder(t, name), newWitness(name)
		}
		for frame := range bytes.SplitSeq(in, []byte("\n")) {
			m, err := fieldsOf(frame) // once for all, because it takes longer than decoding
			for _, name := range names {
				compareFields(t, decoders[name], witnesses[name], frame, m, err)
			}
		}
	}))
}

// A chunk that is nested too deep is an error; it does not exhaust the stack.
func TestDeepNesting(t *testing.T) {
	var c Chunk
	for _, n := range []int{1000, 64 << 10, 8 << 20} {
		if err := decoder(t, "chat").Decode([]byte(`{"a":`+strings.Repeat("[", n)), &c); err == nil {
			t.Errorf("%d levels: no error", n)
		}
	}
}

// vllmChunk is a chunk as vLLM 0.9 sends it.
const vllmChunk = `{"id":"chatcmpl-5f0c6c1c1a3f4a0e","object":"chat.completion.chunk","created":1795246897,` +
	`"model":"Qwen2-7B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`

// ordinary are frames as most are, in each way to decode them.
var ordinary = []struct {
	name, dialect, frame string
	template             bool // it is decoded by the template
}{
	{"template", "chat", vllmChunk, true},
	{"jx", "chat", vllmChunk, false},
	{"jx, escaped", "chat", strings.Replace(vllmChunk, " word", `\n\u00e9`, 1), false},
	{"jx, running usage", "chat", strings.Replace(vllmChunk, `null}]}`,
		`null}],"usage":{"prompt_tokens":512,"completion_tokens":17,"total_tokens":529}}`, 1), false},
	{"sglang", "sglang",
		`{"text":" a \n\"b\" and so on","output_ids":[5,6,7],"meta_info":{"id":"x","finish_reason":null,` +
			`"prompt_tokens":9,"completion_tokens":3}}`, false},
	{"responses", "responses",
		`{"type":"response.output_text.delta","item_id":"msg_1","delta":" a\n","sequence_number":4}`,
		false},
	{"messages", "messages",
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a\n"}}`, false},
}

// Decoding ordinary frames allocates nothing.
func TestDecodingAllocatesNothing(t *testing.T) {
	for _, o := range ordinary {
		d, f := decoder(t, o.dialect), []byte(o.frame)
		var c Chunk
		if n := testing.AllocsPerRun(50, func() {
			d.Reset()
			if err := d.Decode(f, &c); err != nil || !c.Text {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", o.name, n)
		}
	}
}

// BenchmarkDecode is the cost of one chunk: read by the template, as most chunks are, and by jx, as those with escapes
// or counts are. The whole path of an event, from the socket to the result, takes about 300 ns (llmsweep selftest).
func BenchmarkDecode(b *testing.B) {
	for _, o := range ordinary {
		b.Run(o.name, func(b *testing.B) {
			d, f := decoder(b, o.dialect), []byte(o.frame)
			var c Chunk
			b.ReportAllocs()
			for b.Loop() {
				if !o.template {
					d.Reset()
				}
				if err := d.Decode(f, &c); err != nil || !c.Text {
					b.Fatal(err)
				}
			}
		})
	}
}
