// Tokenizers and readers of sources for the tests of workloads.

package simtest

import (
	"context"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"llmsweep/sweep/load"
)

// Tokenizers returns tokenizers of different kinds, by name. Each returns how many tokens it makes of a text.
func Tokenizers() map[string]func(string) int {
	return map[string]func(string) int{
		"a word":      func(s string) int { return len(strings.Fields(s)) },
		"a character": utf8.RuneCountInString,
		"pieces":      TextPieces,
		"halves":      func(s string) int { return (len(s) + 1) / 2 },
	}
}

// TextPieces splits like a byte-pair encoding: words of up to six letters with the space before them, digits in threes,
// signs one by one.
func TextPieces(s string) int {
	n, letters, digits := 0, 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			if letters%6 == 0 {
				n++
			}
			letters, digits = letters+1, 0
		case unicode.IsDigit(r):
			if digits%3 == 0 {
				n++
			}
			letters, digits = 0, digits+1
		case r == ' ':
			letters, digits = 0, 0
		default:
			n++
			letters, digits = 0, 0
		}
	}
	return n
}

// TextCounter returns the counting function of a server that has a tokenizer, and adds a template of around tokens to
// each message.
func TextCounter(tokenize func(string) int, around int) func(context.Context, ...string) ([]int, string, error) {
	return func(_ context.Context, texts ...string) (counts []int, source string, err error) {
		for _, text := range texts {
			counts = append(counts, tokenize(text)+around)
		}
		return counts, "usage", nil
	}
}

// NearTokens reports whether a count is within 1 % of another, or within one token.
func NearTokens(got, want int) bool {
	return math.Abs(float64(got-want)) <= max(1, 0.01*float64(want))
}

// TakeTexts returns the next n sessions of a source.
func TakeTexts(t *testing.T, s load.Source, n int) []load.Session {
	t.Helper()
	sessions := make([]load.Session, n)
	for i := range sessions {
		var ok bool
		if sessions[i], ok = s.Next(); !ok {
			t.Fatalf("the source ends after %d sessions", i)
		}
	}
	return sessions
}
