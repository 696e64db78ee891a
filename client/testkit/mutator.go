package testkit

import (
	"bytes"
	"math/rand/v2"
	"reflect"
)

const maxInput = 1 << 16 // bytes

// mutator changes inputs, and splices them with pieces of those that it has learnt.
type mutator struct {
	rng    *rand.Rand
	corpus [][]byte
	tokens [][]byte // words and numbers of the corpus
}

func (m *mutator) learn(args []reflect.Value) {
	for _, a := range args {
		b := text(a)
		if len(b) == 0 {
			continue
		}
		m.corpus = append(m.corpus, bytes.Clone(b))
		for _, token := range bytes.FieldsFunc(b, func(r rune) bool {
			return r < '0' || r > '9' && r < 'A' || r > 'Z' &&
				r < '_' || r > 'z' && r < 128
		}) {
			const maxTokens = 4096
			if len(m.tokens) < maxTokens {
				m.tokens = append(m.tokens, bytes.Clone(token))
			}
		}
	}
}

// text returns nil for an argument that is no text.
func text(a reflect.Value) []byte {
	switch {
	case a.Kind() == reflect.String:
		return []byte(a.String())
	case a.Kind() == reflect.Slice:
		return a.Bytes()
	}
	return nil
}

// change returns changed arguments of a target; the first, its *testing.T, stays.
func (m *mutator) change(args []reflect.Value) []reflect.Value {
	changed := []reflect.Value{args[0]}
	for _, a := range args[1:] {
		to := reflect.New(a.Type()).Elem()
		switch a.Kind() {
		case reflect.String:
			to.SetString(string(m.bytes([]byte(a.String()))))
		case reflect.Slice:
			to.SetBytes(m.bytes(a.Bytes()))
		case reflect.Bool:
			to.SetBool(m.rng.IntN(2) == 0)
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
			to.SetUint(m.rng.Uint64() >> (64 - m.rng.IntN(a.Type().Bits()+1)))
		case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
			to.SetInt(int64(m.rng.Uint64()) >> (64 - m.rng.IntN(a.Type().Bits()+1)))
		default:
			to.Set(a)
		}
		changed = append(changed, to)
	}
	return changed
}

var oddPieces = []string{
	"\x00", "\xff", "\xef\xbb\xbf", "\r\n", "\n\n", "\n", "\r", "\t", " ", ",", ":", ";", "|", "=", "%", "-", "+", ".",
	"/", "\\", "\"", "'", "`",
	"{", "}", "[", "]", "<", ">", "(", ")", "null", "true", "[[[[[[[[", "{\"a\":", "0", "-1", "1e999", "-0", "1e-999",
	"NaN", "Inf", "9223372036854775808",
	"4294967296", "99999999999999999999", "0x1p4", "\\u0000", "\\ud83d", "é", "你", "\u2028", "\u202e", "\x1b[31m",
	"data: ", "data:", "event:", "[DONE]", "error",
}

func (m *mutator) bytes(b []byte) []byte {
	const small = 256 // bytes: most inputs are short, because those take little time and break as much
	if len(b) > small && m.rng.IntN(8) > 0 {
		from := m.rng.IntN(len(b) - small)
		b = b[from : from+1+m.rng.IntN(small)]
	}
	b = bytes.Clone(b)
	for range 1 + m.rng.IntN(6) {
		b = m.changeOnce(b)
	}
	return b[:min(len(b), maxInput)]
}

func (m *mutator) changeOnce(b []byte) []byte {
	at := m.rng.IntN(len(b) + 1)
	end := at + m.rng.IntN(min(len(b)-at, 1<<m.rng.IntN(12))+1)
	switch m.rng.IntN(9) {
	case 0: // flip a bit
		if at < len(b) {
			b[at] ^= 1 << m.rng.IntN(8)
		}
	case 1: // replace a byte
		if at < len(b) {
			b[at] = byte(m.rng.IntN(256))
		}
	case 2: // remove
		return append(b[:at], b[end:]...)
	case 3: // repeat
		return splice(b, end, end, bytes.Repeat(b[at:end], 1+m.rng.IntN(3)))
	case 4: // something odd, inserted
		return splice(b, at, at, []byte(oddPieces[m.rng.IntN(len(oddPieces))]))
	case 5: // something odd, in place of a part
		return splice(b, at, end, []byte(oddPieces[m.rng.IntN(len(oddPieces))]))
	case 6: // a token
		if len(m.tokens) > 0 {
			return splice(b, at, end, m.tokens[m.rng.IntN(len(m.tokens))])
		}
	case 7: // a part of another input
		if len(m.corpus) > 0 {
			other := m.corpus[m.rng.IntN(len(m.corpus))]
			from := m.rng.IntN(len(other))
			return splice(b, at, end, other[from:from+m.rng.IntN(min(len(other)-from, 1<<m.rng.IntN(12))+1)])
		}
	case 8: // cut off
		return b[:at]
	}
	return b
}

func splice(b []byte, from, to int, piece []byte) []byte {
	out := make([]byte, 0, len(b)-(to-from)+len(piece))
	return append(append(append(out, b[:from]...), piece...), b[to:]...)
}
