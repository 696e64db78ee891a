package server

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
)

// Salts of the draws that decide how an answer differs.
const (
	tieSalt = 0x71e5 + iota
	confuseSalt
	roundSalt
	sampleSalt
	placeSalt
	otherSalt
	errSalt
	errLoadSalt
)

// ChooseText chooses the answer to the n-th request, given how many requests are inside the engine, this one included.
func (a *AnswerState) ChooseText(inside int, n uint64) {
	wrong, serverSeed := a.Host.Config.Habits.Answers, a.Host.Config.Seed
	seed, length := a.Request.seed, a.Request.Work.OutputTokens
	draw := func(salt, of uint64) float64 {
		return Fraction(mix(serverSeed ^ mix(salt) ^ mix(of)))
	}
	place := func(of uint64) int { return 1 + int(draw(placeSalt, of)*float64(length)) }
	other := func(of uint64) uint64 { return mix(otherSalt ^ mix(of) ^ serverSeed) }
	right := true
	defer func() { a.sum(right) }()
	busy := inside > 1
	if wrong.Errs > 0 {
		right = draw(errSalt, seed) >= wrong.Errs && !(busy && draw(errLoadSalt, n) < wrong.ErrsBusy)
	}
	if wrong.Rounds > 0 {
		a.said = a.said.Shift(wrong.Shift)
		if draw(roundSalt, seed) < wrong.Rounds {
			a.said, _ = a.said.Tie(place(seed), length, other(seed))
		}
	}
	if draw(sampleSalt, n) < wrong.Samples {
		a.said, right = a.said.Turn(place(n), other(n)), false
		return
	}
	if busy && draw(confuseSalt, n) < wrong.Confuses {
		a.said, right = a.said.Turn(place(n), other(n)), false
		return
	}
	if busy && draw(tieSalt, n) < wrong.Ties {
		a.said, _ = a.said.Tie(place(n), length, other(n))
	}
}

// sums finds a sum in a request's body.
var sums = regexp.MustCompile(`([0-9]{1,9}) \+ ([0-9]{1,9})`)

// askedSum returns the last sum that a request's body asks for.
func askedSum(body []byte) (sum int64, ok bool) {
	if !bytes.Contains(body, []byte(" + ")) {
		return 0, false
	}
	all := sums.FindAllSubmatch(body, -1)
	if len(all) == 0 {
		return 0, false
	}
	for _, digits := range all[len(all)-1][1:] {
		n, _ := strconv.ParseInt(string(digits), 10, 64)
		sum += n
	}
	return sum, true
}

// sum ends the answer with the sum that was asked for, or a wrong one. An answer that is cut has none.
func (a *AnswerState) sum(right bool) {
	if !a.Request.Sums || a.Request.Finish != "stop" {
		return
	}
	sum := a.Request.Sum
	if !right {
		sum++
	}
	a.said = a.said.End(a.Request.Work.OutputTokens, " "+strconv.FormatInt(sum, 10))
}

// WantedLogProbs returns how many tokens a request wants the log-probabilities of at each place. asked is true or a number where the API
// asks with a member of its own.
func (s *Host) WantedLogProbs(asked json.RawMessage, most int) int {
	if s.Options.NoLogProbs {
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

// place is a token with the most likely ones in its place, as chats have it.
type place struct {
	Token   string  `json:"token"`
	LogProb float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
	Top     []place `json:"top_logprobs,omitempty"`
}

func newPlace(c speechChoice) place {
	p := place{Token: c.Text, LogProb: c.LogP}
	for _, b := range []byte(c.Text) {
		p.Bytes = append(p.Bytes, int(b))
	}
	return p
}

// ChatLogProbs returns the log-probabilities of the tokens after from, up to to, as chats have them.
func (a *AnswerState) ChatLogProbs(from, to int) []place {
	all := make([]place, 0, to-from)
	for n := from + 1; n <= to; n++ {
		top := a.said.Top(n, a.Request.TopLogProbs)
		p := newPlace(top[0])
		for _, c := range top {
			p.Top = append(p.Top, newPlace(c))
		}
		all = append(all, p)
	}
	return all
}

// CompletionLogProbs returns the log-probabilities of the tokens after from, up to to, as plain completions have them.
func (a *AnswerState) CompletionLogProbs(from, to int) any {
	tokens, logs, offsets, tops := []string{}, []float64{}, []int{}, []map[string]float64{}
	for n := from + 1; n <= to; n++ {
		top := a.said.Top(n, a.Request.TopLogProbs)
		all := map[string]float64{}
		for _, c := range top {
			all[c.Text] = c.LogP
		}
		tokens, logs, tops = append(tokens, top[0].Text), append(logs, top[0].LogP), append(tops, all)
		offsets = append(offsets, len(a.Text(0, n-1)))
	}
	return map[string]any{"tokens": tokens, "token_logprobs": logs, "top_logprobs": tops, "text_offset": offsets}
}

// SGLangLogProbs returns the log-probabilities of the tokens after from, up to to, as SGLang has them: [log-probability, id, text].
func (a *AnswerState) SGLangLogProbs(from, to int) (tokens, tops []any) {
	triple := func(c speechChoice) any {
		return []any{c.LogP, id(c.Text, a.Host.Config.Model.Vocab), c.Text}
	}
	for n := from + 1; n <= to; n++ {
		var all []any
		for _, c := range a.said.Top(n, a.Request.TopLogProbs) {
			all = append(all, triple(c))
		}
		tokens, tops = append(tokens, all[0]), append(tops, all)
	}
	return tokens, tops
}
