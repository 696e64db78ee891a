package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
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
				testkit.CheckGolden(t, name+".golden", []byte(got))
			})
		})
	}
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

// What is in a stream of 8 tokens: its chunks with text, its chunks with usage, and the fields of reasoning.
func TestStreamOptions(t *testing.T) {
	const whole, continuous = `,"stream_options":{"include_usage":true}`,
		`,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`
	for _, tc := range []struct {
		options     Options
		extra, want string
	}{
		{Options{}, "", "8 text"},
		{Options{}, whole, "8 text, 1 usage"},
		{Options{}, continuous, "8 text, 11 usage"},
		{Options{NoUsage: true}, whole, "8 text"},
		{Options{ChunkTokens: 3}, whole, "4 text, 1 usage"}, // 1, 3, 3, 1
		{Options{Think: 3}, whole, "8 text, 1 usage, 3 reasoning_content"},
		{Options{Think: 3, ChunkTokens: 4, ReasoningField: "reasoning"}, whole, "4 text, 1 usage, 2 reasoning"}, // 1, 2, 4, 1
		{Options{Think: 3}, `,"chat_template_kwargs":{"enable_thinking":false}`, "8 text"},
		{Options{Think: 30}, whole, "8 text, 1 usage, 8 reasoning_content"},
	} {
		inBubble(t, demoConfig(t), tc.options, func(t *testing.T, b *bubble) {
			text := ""
			count := map[string]int{}
			for i, e := range b.mustStream("/v1/chat/completions", ask+`,"stream":true`+tc.extra+"}", "") {
				text += e.text()
				for what, there := range map[string]bool{"text": e.text() != "", "usage": e.Usage != nil,
					"reasoning":         len(e.Choices) > 0 && e.Choices[0].Delta.Reasoning != "",
					"reasoning_content": len(e.Choices) > 0 && e.Choices[0].Delta.ReasoningContent != ""} {
					if there {
						count[what]++
					}
				}
				if (i == 0) != (len(e.Choices) > 0 && e.Choices[0].Delta.Role == "assistant") || e.Usage != nil &&
					e.text() != "" && e.Usage.CompletionTokens != len(Append(nil, text, 1000)) {
					t.Errorf("event %d, after %q: %s", i, text, e.data)
				}
			}
			var got []string
			for _, what := range []string{"text", "usage", "reasoning", "reasoning_content"} {
				if count[what] > 0 {
					got = append(got, fmt.Sprint(count[what], " ", what))
				}
			}
			if s := strings.Join(got, ", "); s != tc.want || len(Append(nil, text, 1000)) != 8 {
				t.Errorf("%+v%s: %s, want %s, in %q", tc.options, tc.extra, s, tc.want, text)
			}
		})
	}
}

// An answer ends naturally unless the request forbids it.
func TestAnswerLengths(t *testing.T) {
	for _, tc := range []struct {
		full  bool // FullLength
		extra string
		least int    // tokens of any answer
		fulls [2]int // of answers of the full length, of 40
	}{
		{false, "", 20, [2]int{0, 5}},
		{false, `,"min_tokens":90`, 90, [2]int{0, 20}},
		{false, `,"min_tokens":100`, 100, [2]int{40, 40}},
		{false, `,"ignore_eos":true`, 100, [2]int{40, 40}},
		{true, "", 100, [2]int{40, 40}},
		{false, `,"ignore_eos":true,"max_completion_tokens":100`, 100, [2]int{40, 40}},
	} {
		inBubble(t, demoConfig(t), Options{FullLength: tc.full}, func(t *testing.T, b *bubble) {
			full, sum := 0, 0
			for i := range 40 {
				_, text := b.fetch("POST", "/v1/completions", fmt.Sprintf(`{"prompt":"%d","max_tokens":100%s}`, i, tc.extra), "")
				var answer chunk
				if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Usage == nil {
					t.Fatalf("%v: %s", err, text)
				}
				n, finish := answer.Usage.CompletionTokens, "stop"
				if n == 100 {
					full, finish = full+1, "length"
				}
				if n < tc.least || n > 100 || answer.finishReason() != finish {
					t.Errorf("%d tokens, finish %q", n, answer.finishReason())
				}
				sum += n
			}
			if full < tc.fulls[0] || full > tc.fulls[1] || tc.least == 20 && (sum < 40*50 || sum > 40*70) {
				t.Errorf("%+v: %d of 40 answers are full, the mean is %d", tc, full, sum/40)
			}
		})
	}
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

// nowhere is a connection without a system call.
type nowhere struct{ http.ResponseWriter }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Flush()                      {}
