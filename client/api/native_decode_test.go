package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// witness reads the frames of an API with encoding/json, to compare.
type witness interface {
	decode(m map[string]json.RawMessage, s *decoded)
	terminator() bool // the API has [DONE]
	complete() bool
}

// witnesses returns one for each API but chat and completions, which have [reference].
func witnesses() map[string]func() witness {
	return map[string]func() witness{
		"sglang":    func() witness { return &sglangWitness{} },
		"responses": func() witness { return &responsesWitness{} },
		"messages":  func() witness { return &messagesWitness{} },
	}
}

// fieldsOf reads one object; of keys given twice the last counts.
func fieldsOf(frame []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(frame))
	var m map[string]json.RawMessage
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF || m == nil {
		return nil, errors.New("not one object")
	}
	return m, nil
}

func inner(v json.RawMessage) map[string]json.RawMessage { m, _ := fieldsOf(v); return m }

func list(v json.RawMessage) (all []json.RawMessage) { json.Unmarshal(v, &all); return all }

func isList(v json.RawMessage) bool { return len(v) > 0 && v[0] == '[' }

// content returns a string as it stands between its quotes.
func content(v json.RawMessage) []byte {
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	return slices.Clip(v[1 : len(v)-1])
}

func plain(v json.RawMessage) (s string) { json.Unmarshal(v, &s); return s }

func countDialects(v json.RawMessage) int {
	var f float64
	if len(v) == 0 || v[0] == 'n' || json.Unmarshal(v, &f) != nil || f < 0 || f > 1<<40 || f != math.Trunc(f) {
		return Unknown
	}
	if v[0] == '-' {
		return Unknown // -0
	}
	return int(f)
}

// repeats is the rule for cumulative texts, applied to all texts at once.
type repeats struct{ all [][]byte }

func (r *repeats) news(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	r.all = append(r.all, bytes.Clone(raw))
	grew := false
	for i := 1; i < len(r.all); i++ {
		before, now := r.all[i-1], r.all[i]
		if !bytes.HasPrefix(now, before) || len(now) == len(before) && !grew {
			return raw // pieces from here on
		}
		grew = grew || len(now) > len(before)
	}
	if n := len(r.all); n > 1 {
		return raw[len(r.all[n-2]):]
	}
	return raw
}

type sglangWitness struct {
	pieces, token, finish, done bool
	texts                       repeats
	counted                     int
}

func (w *sglangWitness) terminator() bool { w.done = true; return true }
func (w *sglangWitness) complete() bool   { return w.finish || w.done && w.token }

func (w *sglangWitness) decode(m map[string]json.RawMessage, s *decoded) {
	info := inner(m["meta_info"])
	n, total := len(list(m["output_ids"])), countDialects(info["completion_tokens"])
	s.Usage = Usage{Prompt: countDialects(info["prompt_tokens"]), Output: total,
		Reasoning: countDialects(info["reasoning_tokens"]), Cached: countDialects(info["cached_tokens"])}
	if total != Unknown {
		w.pieces = w.pieces || isList(m["output_ids"]) && n < total
		s.Tokens = max(total-w.counted, 0)
		w.counted = max(w.counted, total)
	}
	fresh := content(m["text"])
	if !w.pieces {
		fresh = w.texts.news(fresh)
	}
	s.Chunk.Text = s.Tokens > 0 || len(fresh) > 0 && total == Unknown
	s.Raw = fresh
	w.token = w.token || s.Chunk.Text
	kind := plain(info["finish_reason"])
	if reason := inner(info["finish_reason"]); reason != nil {
		kind = plain(reason["type"])
	}
	switch kind {
	case "":
	case "abort", "error":
		s.Error = "an error"
	default:
		s.Finish, w.finish = kind, true
	}
}

type responsesWitness struct{ called, done bool }

func (w *responsesWitness) terminator() bool { return true }
func (w *responsesWitness) complete() bool   { return w.done }

func (w *responsesWitness) decode(m map[string]json.RawMessage, s *decoded) {
	delta, item, whole := content(m["delta"]), inner(m["item"]), inner(m["response"])
	kind := string(content(m["type"]))
	switch {
	case kind == "error" || kind == "response.failed" || kind == "response.cancelled":
		s.Error = "an error"
	case kind == "response.completed" || kind == "response.incomplete":
		s.Done, w.done = true, true
		usage := inner(whole["usage"])
		s.Usage = Usage{Prompt: countDialects(usage["input_tokens"]), Output: countDialects(usage["output_tokens"]),
			Reasoning: countDialects(inner(usage["output_tokens_details"])["reasoning_tokens"]),
			Cached:    countDialects(inner(usage["input_tokens_details"])["cached_tokens"])}
		reason := plain(inner(whole["incomplete_details"])["reason"])
		switch {
		case reason == "max_output_tokens" || reason == "max_tokens":
			s.Finish = "length"
		case len(content(inner(whole["incomplete_details"])["reason"])) > 0:
			s.Finish = reason
		case string(content(whole["status"])) == "incomplete":
			s.Finish = "incomplete"
		case w.called:
			s.Finish = "tool_calls"
		default:
			s.Finish = "stop"
		}
	case kind == "response.output_item.added":
		s.Chunk.Text = strings.HasSuffix(string(content(item["type"])), "_call") && len(content(item["name"])) > 0
		w.called = w.called || s.Chunk.Text
	case strings.HasSuffix(kind, ".delta") && len(delta) > 0:
		s.Chunk.Text, s.Reasoning = true, strings.HasPrefix(kind, "response.reasoning")
		w.called = w.called || strings.HasPrefix(kind, "response.function_call")
		if kind == "response.output_text.delta" || kind == "response.refusal.delta" {
			s.Raw = delta
		}
	}
}

type messagesWitness struct {
	seen map[string]int
	done bool
}

func (w *messagesWitness) terminator() bool { return false }
func (w *messagesWitness) complete() bool   { return w.done }

func (w *messagesWitness) decode(m map[string]json.RawMessage, s *decoded) {
	kind, usage := string(content(m["type"])), inner(m["usage"])
	part := inner(m["delta"])
	if kind == "content_block_start" {
		part = inner(m["content_block"])
	}
	if w.seen == nil {
		w.seen = map[string]int{"output_tokens": Unknown, "input_tokens": Unknown, "cache_read_input_tokens": Unknown}
	}
	counts := func(usage map[string]json.RawMessage, names ...string) {
		for _, name := range names {
			if n := countDialects(usage[name]); n != Unknown {
				w.seen[name] = n
			}
		}
		s.Usage.Output = w.seen["output_tokens"]
		sum := max(0, w.seen["input_tokens"]) + w.seen["cache_creation_input_tokens"] +
			max(0, w.seen["cache_read_input_tokens"])
		if w.seen["input_tokens"] != Unknown && sum > 0 {
			s.Usage.Prompt, s.Usage.Cached = sum, w.seen["cache_read_input_tokens"]
		}
	}
	prompt := []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}
	switch kind {
	case "message_start":
		counts(inner(inner(m["message"])["usage"]), prompt...)
	case "message_delta":
		counts(usage, append(prompt, "output_tokens")...)
		switch stop := plain(part["stop_reason"]); {
		case stop == "max_tokens":
			s.Finish = "length"
		case stop == "end_turn" || stop == "stop_sequence":
			s.Finish = "stop"
		case stop == "tool_use":
			s.Finish = "tool_calls"
		default:
			s.Finish = stop
		}
	case "message_stop":
		s.Done, w.done = true, true
	case "error":
		s.Error = "an error"
	case "content_block_start", "content_block_delta":
		text, thinking := content(part["text"]), content(part["thinking"])
		call := append(content(part["name"]), content(part["partial_json"])...)
		var hidden []byte
		if string(content(part["type"])) == "redacted_thinking" {
			hidden = content(part["data"])
		}
		s.Chunk.Text = len(text)+len(thinking)+len(call)+len(hidden) > 0
		s.Reasoning = s.Chunk.Text && len(text)+len(call) == 0
		s.Raw = text
	}
}

// witnessed decodes one frame both ways.
func witnessed(t *testing.T, d Decoder, w witness, frame []byte) {
	t.Helper()
	m, err := fieldsOf(frame)
	witnessedFields(t, d, w, frame, m, err)
}

// witnessedFields does so with the frame's fields, or the reason why it has none.
func witnessedFields(t *testing.T, d Decoder, w witness, frame []byte, m map[string]json.RawMessage, refErr error) {
	t.Helper()
	var c Chunk
	err := d.Decode(frame, &c)
	want := decoded{Chunk: Chunk{Usage: noUsage}}
	if string(bytes.TrimSpace(frame)) == "[DONE]" {
		refErr = nil
		if want.Done = w.terminator(); !want.Done {
			refErr = errors.New("no terminator here")
		}
	} else if refErr == nil {
		switch e := string(m["error"]); {
		case e != "" && e != "null" && e != "false" && e != `""`, plain(m["object"]) == "error" &&
			string(m["object"]) == `"error"`:
			want.Error = "an error"
		default:
			w.decode(m, &want)
		}
	}
	if (err == nil) != (refErr == nil) {
		t.Fatalf("%q: error %v, the witness's %v", frame, err, refErr)
	}
	if err != nil {
		return
	}
	if (c.Error != "") != (want.Error != "") {
		t.Fatalf("%q: error object %q, the witness's %q", frame, c.Error, want.Error)
	}
	if json.Unmarshal(fmt.Appendf(nil, `"%s"`, c.Raw), new(string)) != nil {
		t.Fatalf("%q: text %q is no JSON string", frame, c.Raw)
	}
	got := decoded{Chunk: c, Text: string(c.Raw)}
	want.Text = string(want.Raw)
	got.Raw, want.Raw, got.Error, want.Error = nil, nil, "", ""
	got.Finish, want.Finish = valid(got.Finish), valid(want.Finish)
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("%q: -witness +decoder\n%s", frame, cmp.Diff(want, got))
	}
	if d.Complete() != w.complete() {
		t.Fatalf("%q: complete %v, the witness %v", frame, d.Complete(), w.complete())
	}
}

// nativeFrames are frames of these APIs, and some that a decoder may stumble over.
func nativeFrames() map[string][]string {
	odd := []string{`{}`, `[]`, `null`, `1`, ``, ` `, `{`, `[DONE]`, `{"error":"out of memory"}`,
		`{"error":{"message":"dead"}}`, `{"error":null}`,
		`{"error":""}`, `{"object":"error","message":"x"}`, ` { "a" : [ { "b" : "}\"]" } , 1 ] } `, `{"a":"` + "\xff" + `"}`,
		`{"":"","a":{},"b":[]}`}
	all := map[string][]string{
		"sglang": {
			`{"text":" a","output_ids":[5],"meta_info":{"id":"x","finish_reason":null,"prompt_tokens":9,"completion_tokens":1,"cached_tokens":8}}`,
			`{"text":" a\n","output_ids":[5,6],"meta_info":{"finish_reason":null,"prompt_tokens":9,"completion_tokens":2,"cached_tokens":8}}`,
			`{"text":" a\n","output_ids":[5,6,7],"meta_info":{"finish_reason":null,"prompt_tokens":9,"completion_tokens":3,"cached_tokens":8}}`,
			`{"text":" a\n\u00e9","output_ids":[5,6,7,8],"meta_info":{"finish_reason":{"type":"length","length":4},"prompt_tokens":9,"completion_tokens":4,"cached_tokens":8}}`,
			`[DONE]`, `{"text":"b","meta_info":{"finish_reason":{"type":"abort","message":"out \"of\" memory"}}}`,
			`{"text":"b","meta_info":{"finish_reason":"stop"}}`,
			`{"text":"b"}`, `{"text":"bc"}`, `{"text":"bc"}`, `{"text":"x"}`, `{"te\u0078t":"xy","output_ids":[1,[2],{"a":3}]}`,
			`{"meta_info":{"completion_tokens":1e1}}`,
			`{"text":"a","text":"c","meta_info":{"completion_tokens":-1}}`, `{"meta_info":[1],"output_ids":{}}`},
	}
	const usage = `"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":1}}`
	all["responses"] = []string{
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" a","sequence_number":4}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" b","sequence_number":4}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":" \"c\"\n","sequence_number":5}`,
		`{"type":"response.created","response":{"status":"in_progress","usage":null,"error":null}}`,
		`{"delta":"x","type":"response.reasoning_summary_text.delta"}`,
		`{"delta":"y","type":"response.reasoning_text.delta"}`, `{"delta":"y","type":"response.refusal.delta"}`,
		`{"type":"response.output_text.done","text":" a b"}`, `{"type":"response.output_text.delta","delta":""}`,
		`{"type":"response.output_text.delta","delta":{"a":1}}`,
		`{"type":"response.output_item.added","item":{"type":"message","name":"x"}}`,
		`{"type":"response.output_item.added","item":{"name":"find","type":"function_call"}}`,
		`{"type":"response.function_call_arguments.delta","delta":"{"}`,
		`{"type":"response.completed","response":{"status":"completed",` + usage + `}}`,
		`{"type":"response.completed","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` + usage + `}}`,
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`,
		`{"type":"response.incomplete","response":{"status":"incomplete"}}`,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"died"}}}`,
		`{"type":"response.failed","response":null}`,
		`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`, `{"type":"response.completed"}`,
		`{"type":7}`,
	}
	all["messages"] = []string{
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" b"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u00e9"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`,
		`{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":24,"output_tokens":1}}}`,
		`{"type":"ping"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"abc"}}`,
		`{"type":"content_block_start","content_block":{"type":"image","data":"abc"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"find","input":{}}}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","name":"find","partial_json":""}}`,
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":""}}`,
		`{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{\"q"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"max_tokens","stop_sequence":null},"usage":{"output_tokens":15}}`,
		`{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"input_tokens":3,"output_tokens":15}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-1}}`, `{"type":"message_stop"}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, `{"type":"error"}`,
		`{"type":"message_start","message":{}}`,
	}
	for name := range all {
		all[name] = append(all[name], odd...)
	}
	return all
}

// Decoders and witnesses agree on all frames in order, also after a Reset.
func TestNativeDecoders(t *testing.T) {
	for name, all := range nativeFrames() {
		t.Run(name, func(t *testing.T) {
			dialect, err := DialectByName(name)
			if err != nil {
				t.Fatal(err)
			}
			d := dialect.NewDecoder()
			for from := range all { // from each on, so that each is also the first
				d.Reset()
				w := witnesses()[name]()
				for _, f := range all[from:] {
					witnessed(t, d, w, []byte(f))
				}
			}
		})
	}
}

func FuzzNativeDecoders(f *testing.F) {
	for _, all := range nativeFrames() {
		f.Add([]byte(strings.Join(all, "\n")))
	}
	for _, stream := range captured(f) {
		f.Add(bytes.Join(ends(frames(stream)), []byte("\n")))
	}
	type pair struct {
		decoder Decoder
		witness witness
	}
	all := witnesses()
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, in []byte) {
		var pairs []pair
		for name, witness := range all {
			dialect, _ := DialectByName(name)
			pairs = append(pairs, pair{dialect.NewDecoder(), witness()})
		}
		for frame := range bytes.SplitSeq(in, []byte("\n")) {
			m, err := fieldsOf(frame) // once for all, because it takes longer than decoding
			for _, p := range pairs {
				witnessedFields(t, p.decoder, p.witness, frame, m, err)
			}
		}
	}))
}

// ends returns the first and the last frames of a stream, with which fuzzing is about twice as fast as with whole
// streams. Run it with
// -fuzzminimizetime 10x: by default the fuzzer spends up to a minute on making each interesting input shorter, and
// tries few others.
func ends(frames [][]byte) [][]byte {
	const each = 3
	if len(frames) <= 2*each {
		return frames
	}
	return slices.Concat(frames[:each], frames[len(frames)-each:])
}

// Decoding ordinary frames allocates nothing. The last frame of an answer may allocate.
func TestNativeDecodersAllocateNothing(t *testing.T) {
	for name, frame := range map[string]string{
		"sglang":    `{"text":" a \n\"b\" and so on","output_ids":[5,6,7],"meta_info":{"id":"x","finish_reason":null,"prompt_tokens":9,"completion_tokens":3}}`,
		"responses": `{"type":"response.output_text.delta","item_id":"msg_1","delta":" a\n","sequence_number":4}`,
		"messages":  `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a\n"}}`,
	} {
		dialect, _ := DialectByName(name)
		d := dialect.NewDecoder()
		var c Chunk
		f := []byte(frame)
		if n := testing.AllocsPerRun(50, func() {
			d.Reset()
			if err := d.Decode(f, &c); err != nil || !c.Text {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Decoding what real servers sent allocates nothing, whatever the event. The event with the counts may allocate its
// finish reason.
func TestCapturedEventsAllocateNothing(t *testing.T) {
	streams := captured(t)
	for file, name := range map[string]string{
		"vllm-0.32.0-responses": "responses", "vllm-0.32.0-responses-tools": "responses",
		"llama-b11434-responses": "responses",
		"vllm-0.32.0-messages":   "messages", "sglang-0.5.23-generate": "sglang", "vllm-0.32.0-messages-tools": "messages",
		"llama-b11434-messages": "messages",
	} {
		dialect, _ := DialectByName(name)
		all, d := frames(streams[file]), dialect.NewDecoder()
		var c Chunk
		if n := testing.AllocsPerRun(20, func() {
			d.Reset()
			for _, f := range all {
				if err := d.Decode(f, &c); err != nil {
					t.Fatal(err)
				}
			}
		}); n != 0 || len(all) < 6 || !c.Done {
			t.Errorf("%s: %v allocations in %d events, done %v", file, n, len(all), c.Done)
		}
	}
}

func BenchmarkNativeDecode(b *testing.B) {
	for name, all := range nativeFrames() {
		b.Run(name, func(b *testing.B) {
			dialect, _ := DialectByName(name)
			d, f := dialect.NewDecoder(), []byte(all[0])
			var c Chunk
			b.ReportAllocs()
			for b.Loop() {
				d.Reset()
				if err := d.Decode(f, &c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
