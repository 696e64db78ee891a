// What a simulated model says: the tokens of an answer and their log-probabilities. They are a fixed function of a
// seed, as those of a greedy model are of its prompt; and an answer can be made to differ from that at a known token, in a known way.

package server

import (
	"math"
	"slices"
)

// spokenAnswer is the speech of one answer.
type spokenAnswer struct {
	seed  uint64
	turn  int    // the number of the first token that differs; 0 for none
	other uint64 // the seed of what follows it
	tie   bool   // the token at the turn is the second most likely one
	shift float64
	last  int    // the number of the last token, which is final; 0 for none
	final string // an answer's result, as a sum has one
}

// speechChoice is a token, and its log-probability in nats.
type speechChoice struct {
	Text string
	LogP float64
}

// newSpeech returns the answer that a seed gives.
func newSpeech(seed uint64) spokenAnswer { return spokenAnswer{seed: seed} }

// tied is the share of places at which the two most likely tokens are nearly as likely.
const tied = 0.125

// The likelihoods at such a place: 0.0126 nat apart.
const (
	tieFirst  = 0.400
	tieSecond = 0.395
)

// Tied reports whether the two most likely tokens at a place, counted from 1, are nearly as likely.
func (a spokenAnswer) Tied(n int) bool {
	return Fraction(mix(a.context(n)^uint64(n)*0x9e3779b97f4a7c15)) < tied
}

// Tie returns the answer with the second most likely token at the first tie from a place on, or before it; the answer goes on otherwise
// from there. ok is false where none of the answer's tokens is a tie.
func (a spokenAnswer) Tie(from, length int, other uint64) (_ spokenAnswer, ok bool) {
	for i := range length {
		if n := (from-1+i)%length + 1; a.Tied(n) {
			a.turn, a.other, a.tie = n, other, true
			return a, true
		}
	}
	return a, false
}

// Turn returns the answer with another one's tokens from a place on, the first of which is another token.
func (a spokenAnswer) Turn(n int, other uint64) spokenAnswer {
	for Word(other, n) == Word(a.seed, n) {
		other = mix(other + 1)
	}
	a.turn, a.other = n, other
	return a
}

// Shift returns the answer with log-probabilities that are off at random by a number of nats (a standard deviation).
func (a spokenAnswer) Shift(nats float64) spokenAnswer {
	a.shift = nats
	return a
}

// End returns the answer with a result as its last token.
func (a spokenAnswer) End(n int, result string) spokenAnswer {
	a.last, a.final = n, result
	return a
}

// context returns the seed of the likelihoods at a place.
func (a spokenAnswer) context(n int) uint64 {
	if a.turn > 0 && (n > a.turn || n == a.turn && !a.tie) {
		return a.other
	}
	return a.seed
}

// Word returns a token, counted from 1.
func (a spokenAnswer) Word(n int) string {
	if n == a.last && n > 0 {
		return a.final
	}
	if a.tie && n == a.turn {
		return a.likely(n, 2)[1].Text
	}
	return Word(a.context(n), n)
}

// Top returns the most likely tokens at a place, counted from 1. The first is the answer's.
func (a spokenAnswer) Top(n, most int) []speechChoice {
	top := a.likely(n, max(most, 2))
	if a.tie && n == a.turn {
		top[0].Text, top[1].Text = top[1].Text, top[0].Text
	}
	if n == a.last {
		top[0].Text = a.final
	}
	return a.noisy(top, n)[:max(1, most)]
}

// likely returns the most likely tokens at a place in order, without noise.
func (a spokenAnswer) likely(n, most int) []speechChoice {
	seed := a.context(n)
	first := 0.5 + 0.49*Fraction(mix(seed+uint64(n)*31))
	rest := 1 - first
	tie := a.Tied(n)
	if tie {
		first, rest = tieFirst, 1-tieFirst-tieSecond
	}
	top := []speechChoice{{Word(seed, n), math.Log(first)}}
	for salt := seed; len(top) < most; {
		salt = mix(salt)
		w := Word(salt, n)
		if slices.ContainsFunc(top, func(c speechChoice) bool { return c.Text == w }) {
			continue
		}
		if tie && len(top) == 1 {
			top = append(top, speechChoice{w, math.Log(tieSecond)})
			continue
		}
		rest /= 2
		top = append(top, speechChoice{w, math.Log(rest)})
	}
	return top
}

// noisy shifts log-probabilities at random, with the same sum of likelihoods. The order stays.
func (a spokenAnswer) noisy(top []speechChoice, n int) []speechChoice {
	if a.shift == 0 {
		return top
	}
	before, after := 0.0, 0.0
	for i := range top {
		u := Fraction(mix(a.context(n) ^ uint64(n*64+i) ^ 0x5eed))
		v := Fraction(mix(a.context(n) ^ uint64(n*64+i) ^ 0xfeed))
		before += math.Exp(top[i].LogP)
		top[i].LogP += a.shift * math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v) // Box and Muller
		after += math.Exp(top[i].LogP)
	}
	for i := range top {
		top[i].LogP += math.Log(before / after)
		if i > 0 && top[i].LogP > top[i-1].LogP {
			top[i].LogP = top[i-1].LogP
		}
	}
	return top
}
