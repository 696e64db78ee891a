package fidelity

import (
	"math"
	"strings"
	"unicode/utf8"

	"llmsweep/client/api"
)

// tie is how near the log-probabilities of two tokens are that count as equally likely, in nats.
const tie = 0.1

// Answer is the answer to a canary.
type Answer struct {
	Text   string
	Tokens []api.LogProbToken // empty where the server sends no log-probabilities
	Output int                // tokens, by the server's count; 0 where it did not count
}

// kind is the kind of a first difference.
type kind uint8

// The kinds.
const (
	none    kind = iota
	Tie          // the other token was nearly as likely
	change       // it was not
	unknown      // not known without log-probabilities
)

// String returns the kind as canaries.jsonl has it.
func (k kind) String() string { return [...]string{"", "tie", "change", "unknown"}[k] }

// Difference is how an answer differs from the one that it should be. Numbers that do not exist are NaN.
type Difference struct {
	Kind   kind
	First  float64 // position of the first difference in tokens, from 0
	Shift  float64 // mean distance of the log-probabilities of the tokens before it, in nats
	KL     float64 // mean divergence of the likely tokens up to it, in nats
	Length float64 // tokens that it is longer
	// Cut tells that both divide the same text into other tokens.
	Cut bool
}

// Same reports whether the answers are equal.
func (d *Difference) Same() bool { return d.Kind == none }

// compare returns how b differs from a. Tokens are compared where both have them, else texts.
func compare(a, b *Answer) Difference {
	d := Difference{First: math.NaN(), Shift: math.NaN(), KL: math.NaN(), Length: math.NaN()}
	if a.Output > 0 && b.Output > 0 {
		d.Length = float64(b.Output - a.Output)
	}
	if len(a.Tokens) == 0 || len(b.Tokens) == 0 {
		d.texts(a, b)
		return d
	}
	n := 0
	for n < len(a.Tokens) && n < len(b.Tokens) && a.Tokens[n].Text == b.Tokens[n].Text {
		n++
	}
	d.numbers(a.Tokens, b.Tokens, n)
	switch {
	case n == len(a.Tokens) && n == len(b.Tokens):
	case spelled(a.Tokens) == spelled(b.Tokens) || a.Text != "" && a.Text == b.Text:
		d.Cut = true
	default:
		d.First = float64(n)
		d.Kind = kindAt(a.Tokens, b.Tokens, n)
	}
	return d
}

// spelled returns the text of tokens.
func spelled(tokens []api.LogProbToken) string {
	var b strings.Builder
	for i := range tokens {
		b.WriteString(tokens[i].Text)
	}
	return b.String()
}

// kindAt returns the kind of a difference at token n.
func kindAt(a, b []api.LogProbToken, n int) kind {
	if n >= len(a) || n >= len(b) { // one ends: its last token is not shown by servers
		return change
	}
	top := a[n].Top
	if len(top) < 2 {
		return unknown
	}
	for _, c := range top {
		if c.Text == b[n].Text {
			if top[0].LogP-c.LogP <= tie {
				return Tie
			}
			return change
		}
	}
	return change
}

// numbers fills in what the log-probabilities tell of the first n tokens, which are equal, and of the likely tokens at the next place.
func (d *Difference) numbers(a, b []api.LogProbToken, n int) {
	shift, shifts, kl, kls := 0.0, 0, 0.0, 0
	for i := range min(n+1, len(a), len(b)) {
		if v := math.Abs(a[i].LogP - b[i].LogP); i < n && !math.IsNaN(v) && !math.IsInf(v, 0) {
			shift += v
			shifts++
		}
		if v, ok := divergence(a[i].Top, b[i].Top); ok {
			kl += v
			kls++
		}
	}
	if shifts > 0 {
		d.Shift = shift / float64(shifts)
	}
	if kls > 0 {
		d.KL = kl / float64(kls)
	}
}

// divergence returns the Kullback-Leibler divergence of b from a over the tokens that both list, all others taken as one. It is a lower
// bound: a coarser division has no larger divergence.
func divergence(a, b []api.LogProbChoice) (kl float64, ok bool) {
	if len(a) < 2 || len(b) < 2 {
		return 0, false
	}
	restA, restB := 1.0, 1.0
	for _, x := range a {
		for _, y := range b {
			if x.Text == y.Text {
				p := math.Exp(x.LogP)
				kl += p * (x.LogP - y.LogP)
				restA -= p
				restB -= math.Exp(y.LogP)
				break
			}
		}
	}
	const least = 1e-9
	if restA > least {
		kl += restA * math.Log(restA/max(restB, least))
	}
	return max(kl, 0), true
}

// texts compares texts, where there are no tokens. The position is in characters.
func (d *Difference) texts(a, b *Answer) {
	if a.Text == b.Text {
		return
	}
	at := 0
	for at < len(a.Text) && at < len(b.Text) && a.Text[at] == b.Text[at] {
		at++
	}
	d.Kind, d.First = unknown, float64(utf8.RuneCountInString(a.Text[:at]))
}

// looping is how often a token is repeated in a row where an answer does not get on.
const looping = 16

// malformed reports whether an answer is empty, has broken characters or control characters, or ends in a loop of one token. A character that
// is cut at the end is not broken.
func malformed(a *Answer) bool {
	text := strings.TrimRight(a.Text, "\uFFFD")
	if a.Text == "" {
		return true
	}
	for _, r := range text {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return true
		}
	}
	n := len(a.Tokens)
	if n < looping {
		return false
	}
	for _, t := range a.Tokens[n-looping:] {
		if t.Text != a.Tokens[n-1].Text {
			return false
		}
	}
	return true
}
