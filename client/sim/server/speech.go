package server

import (
	"encoding/json"
	"strconv"

	"llmsweep/client/sim/habit"
	"llmsweep/client/sim/speech"
	"llmsweep/client/sim/tokenizer"
)

// Salts of the draws that decide how an answer differs.
const (
	tieSalt = 0x71e5 + iota
	confuseSalt
	roundSalt
	sampleSalt
	placeSalt
	otherSalt
)

// speech returns what the model says to a request that the engine has taken. n is the number of the request.
func (s *server) speech(r *request, n uint64) speech.Answer {
	said, length := speech.New(r.seed), r.seq.OutputTokens
	draw := func(salt, of uint64) float64 {
		return tokenizer.Fraction(tokenizer.Mix(s.config.Seed ^ tokenizer.Mix(salt) ^ tokenizer.Mix(of)))
	}
	place := func(of uint64) int { return 1 + int(draw(placeSalt, of)*float64(length)) }
	other := func(of uint64) uint64 { return tokenizer.Mix(otherSalt ^ tokenizer.Mix(of) ^ s.config.Seed) }
	if h, ok := habit.Find[habit.Rounds](s.config.Habits); ok {
		said = said.Shift(h.Shift)
		if draw(roundSalt, r.seed) < h.Share {
			said, _ = said.Tie(place(r.seed), length, other(r.seed))
		}
	}
	if h, ok := habit.Find[habit.Samples](s.config.Habits); ok && draw(sampleSalt, n) < h.Share {
		return said.Turn(place(n), other(n))
	}
	load := s.engine.Stats()
	inside := load.Running + load.Waiting
	if h, ok := habit.Find[habit.Confuses](s.config.Habits); ok && inside >= h.From && draw(confuseSalt, n) < h.Share {
		return said.Turn(place(n), other(n))
	}
	if h, ok := habit.Find[habit.Ties](s.config.Habits); ok && inside >= h.From && draw(tieSalt, n) < h.Share {
		said, _ = said.Tie(place(n), length, other(n))
	}
	return said
}

// top returns how many tokens a request wants the log-probabilities of at each place. asked is true or a number where the API
// asks with a member of its own.
func (s *server) top(asked json.RawMessage, most int) int {
	if s.options.NoLogProbs {
		return 0
	}
	if string(asked) == "true" {
		return max(1, most)
	}
	if n, err := strconv.Atoi(string(asked)); err == nil {
		return max(1, n)
	}
	if asked != nil {
		return 0
	}
	return most
}

// place is a token with the most likely ones in its place, as chats, llama.cpp and Ollama have it.
type place struct {
	Token   string  `json:"token"`
	LogProb float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
	Top     []place `json:"top_logprobs,omitempty"`
}

func newPlace(c speech.Choice) place {
	p := place{Token: c.Text, LogProb: c.LogP}
	for _, b := range []byte(c.Text) {
		p.Bytes = append(p.Bytes, int(b))
	}
	return p
}

// places returns the log-probabilities of the tokens after from, up to to.
func (a *answer) places(from, to int) []place {
	all := make([]place, 0, to-from)
	for n := from + 1; n <= to; n++ {
		top := a.said.Top(n, a.request.top)
		p := newPlace(top[0])
		for _, c := range top {
			p.Top = append(p.Top, newPlace(c))
		}
		all = append(all, p)
	}
	return all
}

// columns returns them as plain completions have them.
func (a *answer) columns(from, to int) any {
	tokens, logs, offsets, tops := []string{}, []float64{}, []int{}, []map[string]float64{}
	for n := from + 1; n <= to; n++ {
		top := a.said.Top(n, a.request.top)
		all := map[string]float64{}
		for _, c := range top {
			all[c.Text] = c.LogP
		}
		tokens, logs, tops = append(tokens, top[0].Text), append(logs, top[0].LogP), append(tops, all)
		offsets = append(offsets, len(a.text(0, n-1)))
	}
	return map[string]any{"tokens": tokens, "token_logprobs": logs, "top_logprobs": tops, "text_offset": offsets}
}

// triples returns them as SGLang has them: [log-probability, id, text].
func (a *answer) triples(from, to int) (tokens, tops []any) {
	triple := func(c speech.Choice) any {
		return []any{c.LogP, tokenizer.ID(c.Text, a.server.config.Model.Vocab), c.Text}
	}
	for n := from + 1; n <= to; n++ {
		var all []any
		for _, c := range a.said.Top(n, a.request.top) {
			all = append(all, triple(c))
		}
		tokens, tops = append(tokens, all[0]), append(tops, all)
	}
	return tokens, tops
}
