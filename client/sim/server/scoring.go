package server

import (
	"encoding/json"
	"strconv"

	"llmsweep/client/sim/habit"
)

// prompted is a prompt whose own log-probabilities a request asks for.
type prompted struct {
	pieces []string
	shift  float64 // of the habit rounds
}

// Score returns the prompt whose log-probabilities are told; nil where the server has none, or it is no text.
func (s *Host) Score(prompt json.RawMessage) *prompted {
	var text string
	if s.Options.NoLogProbs || json.Unmarshal(prompt, &text) != nil {
		return nil
	}
	p := &prompted{pieces: Pieces(text)}
	if h, ok := habit.Find[habit.Rounds](s.Config.Habits); ok {
		p.shift = h.Shift
	}
	return p
}

// Text returns the prompt.
func (p *prompted) Text() (text string) {
	for _, piece := range p.pieces {
		text += piece
	}
	return text
}

// at returns the log-probability of a token: nil of the first one, which nothing precedes.
func (p *prompted) at(i int) any {
	if i == 0 {
		return nil
	}
	return Rounded(p.pieces[i-1], p.pieces[i], p.shift)
}

// Places returns vLLM's prompt_logprobs.
func (p *prompted) Places(vocab int) []any {
	all := []any{nil}
	for i := 1; i < len(p.pieces); i++ {
		id := strconv.Itoa(int(id(p.pieces[i], vocab)))
		all = append(all, map[string]any{id: map[string]any{"logprob": p.at(i), "rank": 1, "decoded_token": p.pieces[i]}})
	}
	return all
}

// Columns returns the log-probabilities of the prompt and of the answer behind it, as plain completions have them.
func (p *prompted) Columns(tokens []string, logs []float64) any {
	names, values, offsets, at := []string{}, []any{}, []int{}, 0
	for i, piece := range p.pieces {
		names, values, offsets = append(names, piece), append(values, p.at(i)), append(offsets, at)
		at += len(piece)
	}
	for i, token := range tokens {
		names, values, offsets = append(names, token), append(values, logs[i]), append(offsets, at)
		at += len(token)
	}
	return map[string]any{"tokens": names, "token_logprobs": values, "text_offset": offsets, "top_logprobs": nil}
}

// Triples returns SGLang's input_token_logprobs.
func (p *prompted) Triples(vocab int) (all []any) {
	for i, piece := range p.pieces {
		all = append(all, []any{p.at(i), id(piece, vocab), piece})
	}
	return all
}

// Generated returns the tokens of the answer and their log-probabilities.
func (a *AnswerState) Generated() (tokens []string, logs []float64) {
	for n := 1; n <= a.Request.Work.OutputTokens; n++ {
		top := a.said.Top(n, 1)
		tokens, logs = append(tokens, top[0].Text), append(logs, top[0].LogP)
	}
	return tokens, logs
}
