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
)

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
				if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Usage == nil || len(answer.Choices) != 1 {
					t.Fatalf("%v: %s", err, text)
				}
				n, finish := answer.Usage.CompletionTokens, "stop"
				if n == 100 {
					full, finish = full+1, "length"
				}
				if n < tc.least || n > 100 || answer.Choices[0].FinishReason != finish {
					t.Errorf("%d tokens, finish %q", n, answer.Choices[0].FinishReason)
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
