package client

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmsweep/client/api"
)

// call returns a request with a prompt of that many words that asks for that many tokens.
func call(words, output int) *Prepared {
	text := strings.Repeat("word ", words)
	return &Prepared{
		Request: &api.Request{Messages: []api.Message{{Role: "user", Content: text}}, OutputTokens: output},
		Body:    fmt.Appendf(nil, `{"messages":[{"role":"user","content":%q}],"max_tokens":%d}`, text, output),
	}
}

// ofTokens returns a limit of tokens: each costs 1.
func ofTokens(n int) SpendLimits { return SpendLimits{Cost: float64(n), PriceIn: 1e6, PriceOut: 1e6} }

// tokens returns all tokens that were spent.
func tokens(s Spent) int64 { return s.Prompt + s.Output + s.UnsurePrompt + s.UnsureOutput }

// end is how a request of the test ends, and what the server then bills, whatever it tells.
type end struct {
	words, output int
	billed        [2]int64 // prompt and output tokens
	result        Result
}

// tokenizer is a server's: the tokens of its chat template, and those of a word.
type tokenizer struct {
	template int
	perWord  float64
}

func tokenizers(t *rapid.T) tokenizer {
	return tokenizer{rapid.IntRange(0, 200).Draw(t, "template"), rapid.Float64Range(0.5, 4).Draw(t, "per word")}
}

// ends draws how a request ends. Words have up to 8% more tokens than usual.
func (z tokenizer) ends(t *rapid.T) end {
	e := end{words: rapid.IntRange(1, 300).Draw(t, "words"), output: rapid.IntRange(1, 200).Draw(t, "output")}
	unusual := rapid.Float64Range(1, 1.08).Draw(t, "unusual")
	prompt, got := z.template+int(float64(e.words)*z.perWord*unusual), rapid.IntRange(0, e.output).Draw(t, "got")
	e.result.Reset(time.Now())
	r := &e.result
	r.Sent = 0
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0: // refused
		r.HTTP, r.Status = 429, StatusError
	case 1: // no connection
		r.Sent, r.Status = Absent, StatusError
	case 2: // cancelled: billed, and not told
		r.HTTP, r.Status, e.billed = 200, StatusIncomplete, [2]int64{int64(prompt), int64(got)}
	case 3: // no counts: the chunks are fewer than the tokens
		r.HTTP, r.Status, r.OutputTokens, r.TokenSource = 200, StatusOK, got/2, SourceChunks
		e.billed = [2]int64{int64(prompt), int64(got)}
	default:
		r.HTTP, r.Status, r.PromptTokens, r.OutputTokens, r.TokenSource = 200, StatusOK, prompt, got, SourceServer
		e.billed = [2]int64{int64(prompt), int64(got)}
	}
	return e
}

// Whatever requests end in whatever order, at once, the bill never exceeds the limits, and it is never above what is
// reported. A limit is also used: when a request is refused, less was left than it can cost.
func TestLimitsAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := SpendLimits{PriceIn: rapid.Float64Range(0, 20).Draw(rt, "in"), PriceOut: rapid.Float64Range(0.1,
			80).Draw(rt, "out")}
		if rapid.Bool().Draw(rt, "of tokens") { // a token costs 1
			limits = ofTokens(rapid.IntRange(1, 100_000).Draw(rt, "limit"))
		} else {
			limits.Cost = rapid.Float64Range(0.0001, 1).Draw(rt, "cost")
		}
		p := NewSpendLimiter(limits)
		all := rapid.SliceOfN(rapid.Custom(tokenizers(rt).ends), 1, 200).Draw(rt, "ends")
		width := rapid.IntRange(1, 16).Draw(rt, "width")

		var mu sync.Mutex
		var billed [2]int64
		slots, work := make(chan struct{}, width), sync.WaitGroup{}
		for i := range all {
			slots <- struct{}{}
			work.Go(func() {
				defer func() { <-slots }()
				e := &all[i]
				reserved := p.Reserve(call(e.words, e.output))
				if reserved == nil {
					return
				}
				mu.Lock()
				billed[0] += e.billed[0]
				billed[1] += e.billed[1]
				mu.Unlock()
				reserved.Settle(&e.result)
			})
		}
		work.Wait()
		spent := p.Spent()
		switch {
		case limits.Price(billed[0], billed[1]) > limits.Cost:
			rt.Fatalf("billed %v, limit %v", limits.Price(billed[0], billed[1]), limits.Cost)
		case spent.Cost > limits.Cost:
			rt.Fatalf("reported %v, limit %v", spent.Cost, limits.Cost)
		case tokens(spent) < billed[0]+billed[1] || spent.Cost < limits.Price(billed[0], billed[1])-1e-9:
			rt.Fatalf("reported %+v, billed %v", spent, billed)
		}
		if p.reserved.prompt != 0 || p.reserved.output != 0 {
			rt.Fatalf("still reserved: %+v", p.reserved)
		}
	})
}

// A limit is used up to what the next request can cost. With many requests in flight most of it is used as well: what
// is reserved for each is close to what it costs, once many were counted. The limit holds also where all of the last
// ones are longer than any before, and one of them is an outlier.
func TestALimitIsUsed(t *testing.T) {
	const limit, template, output = 300_000, 40, 100
	for _, tt := range []struct {
		width  int
		unlike bool
		least  int64
	}{{1, false, limit * 99 / 100}, {64, false, limit * 96 / 100}, {64, true, limit * 96 / 100}} {
		p := NewSpendLimiter(ofTokens(limit))
		var reservations []Reservation
		var prompts []int
		land := func(more int) {
			var r Result
			r.Reset(time.Now())
			r.Sent, r.HTTP, r.Status, r.TokenSource = 0, 200, StatusOK, SourceServer
			r.PromptTokens, r.OutputTokens = prompts[0]+more, output
			reservations[0].Settle(&r)
			reservations, prompts = reservations[1:], prompts[1:]
		}
		n := 0
		for words := 6; ; words = 300 { // the preflight's prompt is short
			reserved := p.Reserve(call(words, output))
			if reserved == nil {
				break
			}
			n++
			reservations, prompts = append(reservations, reserved), append(prompts, template+words)
			if len(prompts) == tt.width || words == 6 {
				land(0)
			}
		}
		for len(prompts) > 0 {
			more := 0
			if tt.unlike {
				more = map[bool]int{true: 1000, false: 30}[len(prompts) == 1]
			}
			land(more)
		}
		spent := p.Spent()
		if got := tokens(spent); got > limit || got < tt.least || !spent.Refused || spent.Requests != n {
			t.Errorf("%+v: %d of %d tokens, %+v", tt, got, limit, spent)
		}
	}
}

// The answer's bound is what the body asks for, wherever the API or the user puts it.
func TestOutputBounds(t *testing.T) {
	for body, want := range map[string]int64{
		`{"max_tokens":10}`: 10, `{"max_tokens":10,"max_completion_tokens":30}`: 30, `{"max_output_tokens":7}`: 7,
		`{"sampling_params":{"max_new_tokens":9,"n":2}}`: 18,
		`{"max_tokens":10,"n":4}`:                        40, `{}`: unknownOutput,
	} {
		if got := outputBound(&Prepared{Request: &api.Request{}, Body: []byte(body)}); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

// A client sends nothing that its allowance does not allow.
func TestTheClientAsks(t *testing.T) {
	r := do(t, Options{URL: "http://127.0.0.1:1", Allowance: NewSpendLimiter(ofTokens(3))})
	if !r.Unpaid || r.Status != StatusIncomplete || r.Sent != Absent {
		t.Errorf("%+v", r)
	}
}
