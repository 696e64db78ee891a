package server

import (
	"encoding/json"
	"fmt"
	"llmsweep/client/testkit"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client/sim"

	"github.com/google/go-cmp/cmp"
)

// TestGoldenStreams pins the bytes of streams and answers.
func TestGoldenStreams(t *testing.T) {
	cached := demoConfig(t)
	cached.PrefixCache = true
	chat := `{"messages":[{"role":"user","content":"Tell me."}],"max_tokens":6,"ignore_eos":true`
	text := `{"prompt":"Tell me.","max_tokens":6,"ignore_eos":true`
	for name, tc := range map[string]struct {
		options    Options
		path, body string
	}{
		"chat": {Options{}, "/v1/chat/completions", chat + `,"stream":true,"stream_options":{"include_usage":true}}`},
		"reasoning": {Options{Think: 3, ReasoningField: "reasoning", ChunkTokens: 2}, "/v1/chat/completions", chat +
			`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`},
		"completion": {Options{}, "/v1/completions", text + `,"stream":true}`},
		"chat-whole": {Options{Think: 2}, "/v1/chat/completions", chat + `}`},
		"text-whole": {Options{NoUsage: true}, "/v1/completions", text + `}`},

		"sglang-native": {Options{Engine: "sglang"}, "/generate",
			`{"text":"Tell me.","sampling_params":{"max_new_tokens":6,"ignore_eos":true},"stream":true}`},
		"sglang-pieces": {Options{Engine: "sglang", Texts: "pieces", ChunkTokens: 2}, "/generate",
			`{"text":"Tell me.","sampling_params":{"max_new_tokens":6,"ignore_eos":true},"stream":true}`},
		"sglang-whole": {Options{Engine: "sglang"}, "/generate",
			`{"input_ids":[7,8,9],"sampling_params":{"max_new_tokens":6}}`},
		"vllm-responses": {Options{Think: 2}, "/v1/responses",
			`{"input":"Tell me.","max_output_tokens":6,"ignore_eos":true,"stream":true}`},
		"responses-whole": {Options{Think: 2, FullLength: true}, "/v1/responses",
			`{"input":"Tell me.","max_output_tokens":6}`},
		"anthropic-messages": {Options{Engine: "anthropic", Think: 2, FullLength: true}, "/v1/messages",
			`{"system":"Be brief.","messages":[{"role":"user","content":"Tell me."}],"max_tokens":6,"stream":true}`},
		"messages-whole": {Options{Think: 2, FullLength: true}, "/v1/messages",
			`{"messages":[{"role":"user","content":"Tell me."}],"max_tokens":6}`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, cached, tc.options, func(t *testing.T, b *bubble) {
				_, got := b.fetch("POST", tc.path, tc.body, "Anthropic-Version: 2023-06-01")
				file := filepath.Join("testdata", name+".golden")
				if *testkit.Update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// TestChatHasTheShapeOfACapture compares the types of all members with a captured stream of another server.
func TestChatHasTheShapeOfACapture(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/vllmsim-chat.sse")
	if err != nil {
		t.Fatal(err)
	}
	theirs := shapes(t, string(raw))
	c := demoConfig(t)
	c.PrefixCache = true
	inBubble(t, c, Options{}, func(t *testing.T, b *bubble) {
		_, text := b.fetch("POST", "/v1/chat/completions",
			`{"messages":[{"role":"user","content":"x"}],"max_tokens":4,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`, "")
		ours := shapes(t, text)
		if len(ours) != len(theirs) {
			t.Fatalf("%d events, theirs has %d", len(ours), len(theirs))
		}
		for i := range theirs {
			for path, kind := range theirs[i] {
				if ours[i][path] != kind {
					t.Errorf("event %d: %s is %s there, %q here", i, path, kind, ours[i][path])
				}
			}
		}
	})
}

// shapes maps, for each event, the path of each value to its type.
func shapes(t *testing.T, stream string) []map[string]string {
	t.Helper()
	var all []map[string]string
	for line := range strings.Lines(stream) {
		data := strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if data == "" {
			continue
		}
		shape := make(map[string]string)
		if data == "[DONE]" {
			shape[data] = "end"
		} else {
			var v any
			if err := json.Unmarshal([]byte(data), &v); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			addShape(shape, "", v)
		}
		all = append(all, shape)
	}
	return all
}

func addShape(shape map[string]string, path string, v any) {
	shape[path] = fmt.Sprintf("%T", v)
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			addShape(shape, path+"."+key, value)
		}
	case []any:
		shape[path] = fmt.Sprintf("list of %d", len(v))
		for _, value := range v {
			addShape(shape, path+"[]", value)
		}
	}
}

// TestTokensAreSentAtTheirInstants compares the chunks' instants in virtual time with the roofline.
func TestTokensAreSentAtTheirInstants(t *testing.T) {
	c := demoConfig(t)
	inBubble(t, c, Options{}, func(t *testing.T, b *bubble) {
		prompt := "one two three four"
		events := b.mustStream("/v1/completions", `{"prompt":"`+prompt+`","max_tokens":4,"ignore_eos":true,"stream":true}`,
			"")
		n := len(Append(nil, prompt, c.Model.Vocab))
		want := []time.Duration{c.StepTime(sim.Batch{Tokens: n, Samples: 1, Context: n, Pairs: n * (n + 1) / 2})}
		for k := n + 1; len(want) < 4; k++ {
			want = append(want, want[len(want)-1]+c.StepTime(sim.Batch{Tokens: 1, Samples: 1, Context: k, Pairs: k}))
		}
		var got []time.Duration
		for _, e := range events {
			got = append(got, e.at)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if events[2].finish() != "" || events[3].finish() != "length" {
			t.Errorf("finish reasons %q, %q; want it on the last text", events[2].finish(), events[3].finish())
		}
	})
}

// TestAStalledReaderHoldsUpNobody leaves one stream unread: over a pipe, its writes block at once.
func TestAStalledReaderHoldsUpNobody(t *testing.T) {
	c := demoConfig(t)
	inBubble(t, c, Options{}, func(t *testing.T, b *bubble) {
		body := `{"prompt":"one two","max_tokens":50,"ignore_eos":true,"stream":true}`
		stalled := b.do("POST", "/v1/completions", body, "")
		defer stalled.Body.Close()
		time.Sleep(time.Minute)
		b.began = time.Now()
		events := b.mustStream("/v1/completions", body, "")
		if want := sim.CapacityOf(c, sim.Workload{PromptTokens: 2, OutputTokens: 50}).SyncLatency; events[49].at != want {
			t.Errorf("the other's last token came at %v, want %v", events[49].at, want)
		}
	})
}

func TestStreamOptions(t *testing.T) {
	const stream = ask + `,"stream":true`
	const whole = `,"stream_options":{"include_usage":true}}`
	for name, tc := range map[string]struct {
		options Options
		body    string
		chunks  int    // with text
		usages  int    // chunks with usage
		think   string // tokens that are reasoning, and the field
	}{
		"bare":  {Options{}, stream + "}", 8, 0, ""},
		"usage": {Options{}, stream + whole, 8, 1, ""},
		"continuous": {Options{}, stream + `,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, 8,
			11, ""},
		"no usage":      {Options{NoUsage: true}, stream + whole, 8, 0, ""},
		"three a chunk": {Options{ChunkTokens: 3}, stream + whole, 4, 1, ""}, // 1, 3, 3, 1
		"thinking":      {Options{Think: 3}, stream + whole, 8, 1, "3 reasoning_content"},
		// 1, 2, 4, 1
		"think, packed": {Options{Think: 3, ChunkTokens: 4, ReasoningField: "reasoning"}, stream + whole, 4, 1,
			"2 reasoning"},
		"no thinking":     {Options{Think: 3}, stream + `,"chat_template_kwargs":{"enable_thinking":false}}`, 8, 0, ""},
		"nothing but it ": {Options{Think: 30}, stream + whole, 8, 1, "8 reasoning_content"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, demoConfig(t), tc.options, func(t *testing.T, b *bubble) {
				events := b.mustStream("/v1/chat/completions", tc.body, "")
				checkStream(t, events, tc.chunks, tc.usages, tc.think)
			})
		})
	}
}

func checkStream(t *testing.T, events []event, chunks, usages int, think string) {
	t.Helper()
	gotChunks, gotUsages, thought := 0, 0, make(map[string]int)
	var text strings.Builder
	for i, e := range events {
		if (i == 0) != (len(e.Choices) > 0 && e.Choices[0].Delta.Role == "assistant") {
			t.Errorf("event %d: %s", i, e.data)
		}
		if e.Usage != nil {
			gotUsages++
		}
		if e.text() == "" {
			continue
		}
		gotChunks++
		text.WriteString(e.text())
		if e.Choices[0].Delta.Reasoning != "" {
			thought["reasoning"]++
		}
		if e.Choices[0].Delta.ReasoningContent != "" {
			thought["reasoning_content"]++
		}
		if e.Usage != nil && e.Usage.CompletionTokens != len(Append(nil, text.String(), 1000)) {
			t.Errorf("event %d counts %d tokens after %q", i, e.Usage.CompletionTokens, text.String())
		}
	}
	var kinds []string
	for field, n := range thought {
		kinds = append(kinds, fmt.Sprint(n, " ", field))
	}
	sort.Strings(kinds)
	if got := strings.Join(kinds, ","); gotChunks != chunks || gotUsages != usages || got != think {
		t.Errorf("%d chunks, %d usages, thought %q; want %d, %d, %q", gotChunks, gotUsages, got, chunks, usages, think)
	}
	if n := len(Append(nil, text.String(), 1000)); n != 8 {
		t.Errorf("%q has %d tokens, want 8", text.String(), n)
	}
}

// TestAnswerLengths checks that an answer ends naturally unless the request forbids it.
func TestAnswerLengths(t *testing.T) {
	for name, tc := range map[string]struct {
		options  Options
		extra    string
		least    int // tokens of any answer
		full     int // answers of the full length, of 40
		lessThan bool
	}{
		"left alone":      {Options{}, "", 20, 5, true},
		"min_tokens":      {Options{}, `,"min_tokens":90`, 90, 20, true},
		"all of them":     {Options{}, `,"min_tokens":100`, 100, 40, false},
		"ignore_eos":      {Options{}, `,"ignore_eos":true`, 100, 40, false},
		"FullLength":      {Options{FullLength: true}, "", 100, 40, false},
		"two max_tokens ": {Options{}, `,"ignore_eos":true,"max_completion_tokens":100`, 100, 40, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := demoConfig(t)
			inBubble(t, c, tc.options, func(t *testing.T, b *bubble) {
				full, sum := 0, 0
				for i := range 40 {
					_, text := b.fetch("POST", "/v1/completions", fmt.Sprintf(`{"prompt":"%d","max_tokens":100%s}`, i, tc.extra), "")
					var answer chunk
					if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Usage == nil {
						t.Fatalf("%v: %s", err, text)
					}
					n := answer.Usage.CompletionTokens
					finish := map[bool]string{true: "length", false: "stop"}[n == 100]
					if n < tc.least || n > 100 || answer.finishReason() != finish {
						t.Errorf("%d tokens, finish %q", n, answer.finishReason())
					}
					sum += n
					if n == 100 {
						full++
					}
				}
				if tc.lessThan != (full <= tc.full && full < 40) {
					t.Errorf("%d of 40 answers are full", full)
				}
				if name == "left alone" && (sum < 40*50 || sum > 40*70) {
					t.Errorf("mean length %d, want about 60", sum/40)
				}
			})
		})
	}
}

func (c chunk) finishReason() string { return event{chunk: c}.finish() }

func TestPrefixCacheOverHTTP(t *testing.T) {
	c := demoConfig(t)
	c.PrefixCache = true
	inBubble(t, c, Options{}, func(t *testing.T, b *bubble) {
		long := strings.Repeat(" word", 100)
		var cached []int
		for _, tail := range []string{"a", "b", "a"} {
			_, text := b.fetch("POST", "/v1/completions", `{"prompt":"`+long+tail+`","max_tokens":1}`, "")
			var answer chunk
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatal(err)
			}
			cached = append(cached, answer.Usage.PromptDetails.CachedTokens)
		}
		if diff := cmp.Diff([]int{0, 96, 96}, cached); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestClientsThatGo checks that a request ends in the engine when its connection closes.
func TestClientsThatGo(t *testing.T) {
	inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				resp := b.do("POST", "/v1/completions", `{"prompt":"x","max_tokens":30000,"ignore_eos":true,"stream":true}`, "")
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				resp.Body.Close()
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		if s := b.engine.Stats(); s.Running != 0 || s.Waiting != 0 {
			t.Errorf("left behind: %+v", s)
		}
	})
}

// TestServerThatStops checks that a stopped engine ends requests with an error: streamed ones, others, and later ones.
func TestServerThatStops(t *testing.T) {
	inBubble(t, demoConfig(t), Options{}, func(t *testing.T, b *bubble) {
		long := `{"prompt":"x","max_tokens":30000,"ignore_eos":true`
		var wg sync.WaitGroup
		wg.Go(func() {
			events := b.mustStream("/v1/completions", long+`,"stream":true}`, "")
			if last := events[len(events)-1]; last.Error == nil || len(events) < 10 {
				t.Errorf("%d events, the last %s; want an error", len(events), last.data)
			}
		})
		wg.Go(func() {
			if status, text := b.fetch("POST", "/v1/completions", long+"}", ""); status != 500 {
				t.Errorf("whole: %d %s", status, text)
			}
		})
		time.Sleep(time.Second)
		b.engine.Close()
		wg.Wait()
		if status, text := b.fetch("POST", "/v1/completions", long+"}", ""); status != 500 ||
			!strings.Contains(text, sim.ErrClosed.Error()) {
			t.Errorf("after: %d %s", status, text)
		}
	})
}

// TestChunksAreJSON: chunks are put together from parts, and are what encoding/json reads, whatever their text.
func TestChunksAreJSON(t *testing.T) {
	s := &server{Options: Options{ReasoningField: "reasoning"}}
	s.config.Model.Name = `a "model"`
	for _, chat := range []bool{false, true} {
		r := request{usage: true, continuous: true, work: sim.Request{PromptTokens: 5, OutputTokens: 200, ReasoningTokens: 3}}
		a := newAnswer(s, nowhere{}, openAIEndpoint(chat), r, 1, "")
		for n := range r.work.OutputTokens - 1 {
			data, _ := strings.CutPrefix(string(a.encoder.tokens(nil, n, n+1)), "data: ")
			e := event{data: data}
			if err := json.Unmarshal([]byte(data), &e.chunk); err != nil || e.text() != a.word(n+1) ||
				e.Usage.CompletionTokens != n+1 {
				t.Errorf("chat %t, token %q: %v %s", chat, a.word(n+1), err, data)
			}
		}
	}
}
