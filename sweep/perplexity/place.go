package perplexity

import (
	"strings"
	"unicode/utf8"

	"llmsweep/client/api"
)

// unknown is the place of a token whose text does not tell it.
const unknown = -1

// Bounds of what a tokenizer may do to a text that it is still known by.
const (
	mostSpecial = 4  // tokens before the text: "<s>", "[gMASK]<sop>"
	mostBytes   = 8  // of a text that one token stands for whose text is broken
	mostFirst   = 64 // of a text that the first token stands for where the server does not tell it
)

// places returns where each token of a text begins, as far as that is known. ok is false where they are not the tokens of that text.
//
// Servers write tokens in several ways: byte by byte a character has tokens without a text of their own (empty, or U+FFFD), single tokens of
// SentencePiece lose the blank before them, and some servers write it as "▁". Before the text there may be tokens that it does not have. The first
// token, which has no log-probability, may have no text.
func places(text string, tokens []api.LogProbToken) (at []int, ok bool) {
	if len(tokens) == 0 || tokens[0].Text != "" {
		return placesFrom(text, 0, tokens)
	}
	for p := 0; p < min(len(text), mostFirst); p++ {
		if at, ok = placesFrom(text, p, tokens[1:]); ok {
			return append([]int{0}, at...), true
		}
	}
	return nil, false
}

// placesFrom returns where tokens begin of which the first begins at a place, or stands before it.
func placesFrom(text string, p int, tokens []api.LogProbToken) (at []int, ok bool) {
	broken, hollow := 0, true // broken tokens since p; hollow: all of them are empty
	for i, t := range tokens {
		if isBroken(t.Text) {
			at = append(at, unknown)
			if broken == 0 && p > 0 {
				at[i] = p
			}
			broken, hollow = broken+1, hollow && t.Text == ""
			continue
		}
		start, end, found := next(text, p, broken, hollow, t.Text)
		switch {
		case found:
			at = append(at, start)
			p, broken, hollow = end, 0, true
		case p == 0 && i < mostSpecial:
			at, broken, hollow = append(at, 0), 0, true
		default:
			return nil, false
		}
	}
	rest := len(text) - p
	return at, rest == 0 || broken > 0 && rest <= broken*mostBytes && !hasASCII(text[p:])
}

// isBroken reports whether a token's text does not tell its bytes.
func isBroken(t string) bool { return strings.Trim(t, "\uFFFD") == "" }

func hasASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < utf8.RuneSelf }) >= 0
}

// next finds a token in a text at a place, or behind the bytes there that broken tokens stand for.
func next(text string, p, broken int, hollow bool, token string) (start, end int, found bool) {
	if hollow { // an empty token may be a part of the character that the next token has as a whole
		if start, end, found = matches(text, p, token); found || broken == 0 {
			return start, end, found
		}
	}
	for q := p; q < len(text) && q-p < broken*mostBytes; {
		r, size := utf8.DecodeRuneInString(text[q:])
		if r < utf8.RuneSelf {
			break
		}
		q += size
		if start, end, found = matches(text, q, token); found {
			return start, end, true
		}
	}
	return 0, 0, false
}

// pieces has the characters that tokenizers write for blanks: SentencePiece's, and those of byte-level vocabularies such as GPT-2's.
var pieces = strings.NewReplacer("▁", " ", "Ġ", " ", "Ċ", "\n", "ĉ", "\t")

// matches reports whether a token stands at a place.
func matches(text string, p int, token string) (start, end int, ok bool) {
	rest := text[p:]
	if strings.HasPrefix(rest, token) {
		return p, p + len(token), true
	}
	if t := pieces.Replace(token); strings.HasPrefix(rest, t) {
		return p, p + len(t), true
	}
	if t := strings.TrimLeft(rest, " "); len(t) < len(rest) && strings.HasPrefix(t, token) { // a blank that was lost
		return p, p + len(rest) - len(t) + len(token), true
	}
	return 0, 0, false
}
