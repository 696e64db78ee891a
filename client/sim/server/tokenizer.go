// The simulated server's tokenizer and chat template.
//
// The tokenizer is a fixed function of the text that resembles a byte-pair encoding. Words are divided into pieces of 4
// to 6 letters, depending on the first letter. The space before a word belongs to its first piece. Digits, CJK
// characters, punctuation and newlines are one token each, and so are runs of other blanks and invalid bytes.

package server

import (
	"unicode"
	"unicode/utf8"
)

// nextToken returns the length in bytes of the first token of s, which must not be empty.
func nextToken(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == ' ' && len(s) > 1:
		if next, _ := utf8.DecodeRuneInString(s[1:]); isWordLetter(next) {
			return 1 + letters(s[1:])
		}
		return blanks(s)
	case isBlank(r):
		return blanks(s)
	case isWordLetter(r):
		return letters(s)
	}
	return size
}

func letters(s string) int {
	first, end := utf8.DecodeRuneInString(s)
	for limit := 4 + int(first%3); limit > 1 && end < len(s); limit-- {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isWordLetter(r) {
			break
		}
		end += size
	}
	return end
}

// blanks returns the length of the blanks at the beginning of s, without the last one where that belongs to a word.
func blanks(s string) int {
	end := 0
	for end < len(s) {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isBlank(r) {
			if end > 1 && s[end-1] == ' ' && isWordLetter(r) {
				end--
			}
			break
		}
		end += size
	}
	return end
}

func isBlank(r rune) bool { return unicode.IsSpace(r) && r != '\n' }

func isWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && r != utf8.RuneError && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul)
}

// Token ids of the chat template; all others are hashes of the token's text.
const (
	idStart = iota // <|im_start|>
	idEnd          // <|im_end|>
	idCount
)

// Append appends the ids of a text's tokens. They are below vocab.
func Append(ids []uint32, text string, vocab int) []uint32 {
	for len(text) > 0 {
		n := nextToken(text)
		ids = append(ids, id(text[:n], vocab))
		text = text[n:]
	}
	return ids
}

func id(token string, vocab int) uint32 {
	hash := uint64(14695981039346656037) // FNV-1a
	for i := range len(token) {
		hash = (hash ^ uint64(token[i])) * 1099511628211
	}
	return idCount + uint32(mix(hash)%uint64(vocab-idCount))
}

type message struct{ Role, Text string }

// appendChat appends a conversation in Qwen2's template, which adds a system prompt where there is none. Each message
// has five tokens besides its text, and the opening of the answer has three.
func appendChat(ids []uint32, messages []message, vocab int) []uint32 {
	newline := id("\n", vocab)
	turn := func(m message) {
		ids = append(ids, idStart, id(m.Role, vocab), newline)
		ids = Append(ids, m.Text, vocab)
		ids = append(ids, idEnd, newline)
	}
	if len(messages) == 0 || messages[0].Role != "system" {
		turn(message{"system", "You are a helpful assistant."})
	}
	for _, m := range messages {
		turn(m)
	}
	return append(ids, idStart, id("assistant", vocab), newline)
}

// blockHashes returns a hash for each full block of ids, over all ids up to the block's end: equal hashes mean equal
// prefixes.
func blockHashes(ids []uint32, blockTokens int) []uint64 {
	hashes := make([]uint64, 0, len(ids)/blockTokens)
	h := uint64(0)
	for i, id := range ids {
		h = mix(h ^ uint64(id))
		if (i+1)%blockTokens == 0 {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014): a good hash of an integer.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Fraction maps a hash to a number in [0, 1).
func Fraction(hash uint64) float64 { return float64(hash>>11) / (1 << 53) }
