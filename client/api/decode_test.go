package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// reference reads chunks with encoding/json, to compare.
type reference struct {
	text, running, counts bool
	finish, done          bool
	counted               int
}

// decoded is a chunk with its text unescaped.
type decoded struct {
	Chunk
	Text string
}

func (d *reference) decode(frame []byte) (s decoded, err error) {
	s.Usage = noUsage
	if string(bytes.TrimSpace(frame)) == "[DONE]" {
		s.Done, d.done = true, true
		return s, nil
	}
	dec := json.NewDecoder(bytes.NewReader(frame))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		return s, err
	}
	if _, err := dec.Token(); err != io.EOF || m == nil {
		return s, errors.New("not one object")
	}
	if e := m["error"]; e != nil && e != false && e != "" || m["object"] == "error" {
		s.Error = "an error"
		return s, nil
	}
	return s, d.object(m, &s)
}

func (d *reference) object(m map[string]any, s *decoded) error {
	var texts, reasons []string
	finish := ""
	add := func(to *[]string, v any) {
		if text, _ := v.(string); text != "" {
			*to = append(*to, text)
		}
	}
	answers := 0
	if choices, _ := m["choices"].([]any); len(choices) > 0 {
		choice, _ := choices[0].(map[string]any)
		delta, _ := choice["delta"].(map[string]any)
		add(&texts, choice["text"])
		add(&texts, delta["content"])
		add(&texts, delta["refusal"])
		answers = len(texts)
		add(&reasons, delta["reasoning"])
		add(&reasons, delta["reasoning_content"])
		calls, _ := delta["tool_calls"].([]any)
		for _, c := range calls {
			call, _ := c.(map[string]any)
			function, _ := call["function"].(map[string]any)
			add(&texts, function["name"])
			add(&texts, function["arguments"])
		}
		finish, _ = choice["finish_reason"].(string)
	}
	if finish == "error" || finish == "abort" {
		s.Error = "an error"
		return nil
	}
	s.Chunk.Text = len(texts)+len(reasons) > 0
	s.Reasoning = len(reasons) > 0 && len(texts) == 0
	if answers > 0 {
		s.Text = texts[0]
	}
	s.Finish, d.finish = finish, d.finish || finish != ""
	s.Usage = referenceUsage(m)
	known := s.Usage.Output != Unknown
	d.counts = d.counts || known
	if s.Chunk.Text {
		if !d.text {
			d.text, d.running = true, known && s.Usage.Output > 0
		}
		if d.running && known {
			s.Tokens, d.counted = max(s.Usage.Output-d.counted, 0), s.Usage.Output
		}
	}
	return nil
}

func referenceUsage(m map[string]any) Usage {
	num := func(v any) int {
		n, ok := v.(json.Number)
		if !ok {
			return Unknown
		}
		f, err := n.Float64()
		if err != nil || n[0] == '-' || f > 1<<40 || f != math.Trunc(f) {
			return Unknown
		}
		return int(f)
	}
	object := func(m map[string]any, key string) map[string]any {
		o, _ := m[key].(map[string]any)
		return o
	}
	usage, timings := object(m, "usage"), object(m, "timings")
	u := Usage{
		Prompt: num(usage["prompt_tokens"]), Output: num(usage["completion_tokens"]),
		Reasoning: num(object(usage, "completion_tokens_details")["reasoning_tokens"]),
		Cached:    num(object(usage, "prompt_tokens_details")["cached_tokens"]),
	}
	if u.Prompt <= 0 && u.Output <= 0 {
		u = noUsage
	}
	if n := num(timings["predicted_n"]); u.Output == Unknown && n > 0 {
		u.Output = n
	}
	if n := num(timings["prompt_n"]); u.Prompt == Unknown && n > 0 {
		u.Cached = num(timings["cache_n"])
		u.Prompt = n + max(u.Cached, 0)
	}
	return u
}

// compare decodes one frame in both ways.
func compare(t *testing.T, d Decoder, ref *reference, frame []byte) {
	t.Helper()
	var c Chunk
	err := d.Decode(frame, &c)
	want, refErr := ref.decode(frame)
	if (err == nil) != (refErr == nil) {
		t.Fatalf("%q: error %v, the reference's %v", frame, err, refErr)
	}
	if err != nil {
		return
	}
	if (c.Error != "") != (want.Error != "") {
		t.Fatalf("%q: error object %q, the reference's %q", frame, c.Error, want.Error)
	}
	got := decoded{Chunk: c}
	if json.Unmarshal(fmt.Appendf(nil, `"%s"`, c.Raw), &got.Text) != nil {
		t.Fatalf("%q: text %q is no JSON string", frame, c.Raw)
	}
	got.Raw, got.Error, want.Error = nil, "", ""
	got.Finish, want.Finish = valid(got.Finish), valid(want.Finish)
	if !reflect.DeepEqual(want, got) { // which takes less time than the difference
		t.Fatalf("%q: -reference +decoder\n%s", frame, cmp.Diff(want, got))
	}
	if want := ref.finish || ref.done && ref.counts; d.Complete() != want {
		t.Fatalf("%q: complete %v, the reference %v", frame, d.Complete(), want)
	}
}

// valid removes what is not UTF-8, because decoders differ in how many U+FFFD they put in its place.
func valid(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\uFFFD", "") }

// decoder returns a decoder of the dialect with a name.
func decoder(t testing.TB, name string) Decoder {
	t.Helper()
	d, err := DialectByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return d.NewDecoder()
}

// captured returns the streams of real servers, by the names of their files.
func captured(t testing.TB) map[string][]byte {
	files, _ := filepath.Glob("../testdata/*.sse")
	if len(files) == 0 {
		t.Fatal("no streams in testdata")
	}
	streams := map[string][]byte{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		streams[strings.TrimSuffix(filepath.Base(name), ".sse")] = b
	}
	return streams
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

// The decoder and the reference agree on every captured stream, in order, twice over (the template is learned by then).
func TestDecoderAgainstReference(t *testing.T) {
	for name, stream := range captured(t) {
		t.Run(name, func(t *testing.T) {
			d := decoder(t, "chat")
			for range 2 {
				d.Reset()
				var ref reference
				for _, f := range frames(stream) {
					compare(t, d, &ref, f)
				}
			}
		})
	}
}

// Frames that nearly fit a template are where a fast path goes wrong.
func TestTemplate(t *testing.T) {
	const plain = `{"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":null}`
	for _, near := range []string{
		plain,
		strings.Replace(plain, `"a"`, `""`, 1),
		strings.Replace(plain, `"a"`, `"\""`, 1),
		strings.Replace(plain, `"a"`, `"\\"`, 1),
		strings.Replace(plain, `"a"`, `"\"`, 1),
		strings.Replace(plain, `"a"`, `"\\\"`, 1),
		strings.Replace(plain, `"a"`, `"\u00e9\ud83d\ude00"`, 1),
		strings.Replace(plain, `"a"`, `"\u12"`, 1),
		strings.Replace(plain, `"a"`, `"\x"`, 1),
		strings.Replace(plain, `"a"`, "\"\t\"", 1),
		strings.Replace(plain, `"a"`, `"a"},"x":{"content":"b"`, 1),
		strings.Replace(plain, `"a"`, `"a","tool_calls":[{"function":{"name":"f"}}],"y":"b"`, 1),
		strings.Replace(plain, `"a"`, `"a","content":""`, 1),
		strings.Replace(plain, `"a"`, `"a","content":"b"`, 1),
		strings.Replace(plain, `"a"`, `"},"finish_reason":"stop"}],"usage":{"completion_tokens":9},"z":[{"q":{"content":"`,
			1),
		strings.Replace(plain, `"a"`, `"b","reasoning":"c"`, 1),
		strings.Replace(plain, `null}]`, `"stop"}]`, 1),
		strings.Replace(plain, `:null}`, `:{"completion_tokens":3}}`, 1),
		plain[:len(plain)-1],
		plain + "}",
		" " + plain,
		"[DONE]",
	} {
		d := decoder(t, "chat")
		var ref reference
		compare(t, d, &ref, []byte(plain))
		compare(t, d, &ref, []byte(near))
		compare(t, d, &ref, []byte(plain))
	}
}

func FuzzDecoder(f *testing.F) {
	for _, stream := range captured(f) {
		f.Add(bytes.Join(frames(stream), []byte("\n")))
	}
	for _, s := range oddChunks {
		f.Add([]byte(s))
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, in []byte) {
		d := decoder(t, "chat")
		var ref reference
		for frame := range bytes.SplitSeq(in, []byte("\n")) {
			compare(t, d, &ref, frame)
		}
	}))
}

// oddChunks are unusual frames.
var oddChunks = []string{
	`{}`, `[]`, `null`, `"x"`, `1`, ``, ` `, `{`, `{"choices":[]}`, `{"choices":null}`, `{"choices":{}}`,
	`{"choices":[null]}`,
	`{"choices":[{"delta":null,"text":null,"finish_reason":""}]}`, `{"choices":[{"delta":[{"content":"x"}]}]}`,
	`{"\u0063hoices":[{"text":"\u0061"}]}`, `{"choices":[{"text":"a"}],"choices":[{"text":""}]}`,
	`{"error":null,"choices":[{"text":"a"}]}`, `{"error":false}`, `{"error":""}`, `{"error":0}`, `{"error":{}}`,
	`{"object":"error"}`,
	`{"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}`, `{"usage":{"prompt_tokens":1e999,"completion_tokens":3e0}}`,
	`{"choices":[{"text":"a"}],"usage":{"completion_tokens":2}}`, `{"choices":[{"finish_reason":"abort"}]}`,
	`{"choices":[{"delta":{"tool_calls":[null,{"function":{"name":"","arguments":"{"}}]}}]}`,
	`{"timings":{"predicted_n":3,"prompt_n":4,"cache_n":5}}`, `{"a":"` + "\xff" + `","choices":[{"text":"` + "\xff" +
		`"}]}`,
}

// A chunk that is nested too deep is an error; it does not exhaust the stack.
func TestDeepNesting(t *testing.T) {
	d := decoder(t, "chat")
	var c Chunk
	for _, n := range []int{1000, 64 << 10, 8 << 20} {
		frame := []byte(`{"a":` + strings.Repeat("[", n))
		if err := d.Decode(frame, &c); err == nil {
			t.Errorf("%d levels: no error", n)
		}
	}
}

// Decoding the chunks of real servers allocates nothing.
func TestDecodeAllocatesNothing(t *testing.T) {
	for name, stream := range captured(t) {
		all := frames(stream)
		d := decoder(t, "chat")
		var c Chunk
		n := testing.AllocsPerRun(10, func() {
			d.Reset()
			for _, f := range all {
				if d.Decode(f, &c) != nil {
					t.Fatal(string(f))
				}
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations in %d frames", name, n, len(all))
		}
	}
}

// vllmChunk is a chunk as vLLM 0.9 sends it.
const vllmChunk = `{"id":"chatcmpl-5f0c6c1c1a3f4a0e","object":"chat.completion.chunk","created":1795246897,` +
	`"model":"Qwen2-7B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`

// BenchmarkDecode is the cost of one chunk: read by the template, as most chunks are, and by jx, as those with escapes
// or counts are. The whole path of an event, from the socket to the result, takes about 300 ns (llmsweep selftest).
func BenchmarkDecode(b *testing.B) {
	counted := strings.Replace(vllmChunk, `null}]}`,
		`null}],"usage":{"prompt_tokens":512,"completion_tokens":17,"total_tokens":529}}`, 1)
	for _, bc := range []struct {
		name, frame string
		forget      bool // the template before each chunk
	}{
		{"template", vllmChunk, false},
		{"jx", vllmChunk, true},
		{"jx, escaped", strings.Replace(vllmChunk, " word", `\n\u00e9`, 1), true},
		{"jx, running usage", counted, true},
	} {
		b.Run(bc.name, func(b *testing.B) {
			d := decoder(b, "chat")
			var c Chunk
			f := []byte(bc.frame)
			b.ReportAllocs()
			for b.Loop() {
				if bc.forget {
					d.Reset()
				}
				if err := d.Decode(f, &c); err != nil || !c.Text {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStream is framing and decoding together, with 16 events in a piece.
func BenchmarkStream(b *testing.B) {
	const events = 16
	piece := []byte(strings.Repeat("data: "+vllmChunk+"\n\n", events))
	var r FrameReader
	r.Reset()
	d := decoder(b, "chat")
	var c Chunk
	b.ReportAllocs()
	for b.Loop() {
		r.Feed(piece, Arrival{})
		for f, ok := r.Next(); ok; f, ok = r.Next() {
			if d.Decode(f.Data, &c) != nil {
				b.Fatal(f)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
}
