package api

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. What is not UTF-8 becomes U+FFFD, as it would on arrival.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || n > 1) {
			i += n
			continue
		}
		dst = append(dst, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, "\uFFFD"...)
		}
		i += n
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// Unescape turns the inside of a JSON string into the text it stands for, in place: escapes only shrink. Surrogates
// without their other half become U+FFFD.
func Unescape(raw []byte) []byte {
	out := raw[:0]
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' || i+1 == len(raw) {
			out = append(out, c)
			i++
			continue
		}
		if raw[i+1] != 'u' {
			out = append(out, unescaped(raw[i+1]))
			i += 2
			continue
		}
		r, n := unescapeRune(raw[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out
}

// unescaped is the character that a backslash and c stand for.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unescapeRune reads a \uXXXX, or a surrogate pair of them, and returns its length in raw.
func unescapeRune(raw []byte) (rune, int) {
	r, ok := hex4(raw)
	if !ok {
		return utf8.RuneError, min(len(raw), 6)
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hex4(raw[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// hex4 reads the digits of a \uXXXX at the start of raw.
func hex4(raw []byte) (r rune, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		d, ok := hexValue(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

func hexValue(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c|32 && c|32 <= 'f':
		return rune(c|32-'a') + 10, true
	}
	return 0, false
}

// insideString reports whether b may stand between the quotes of a JSON string: no bare quote, no control character,
// and no escape that JSON does not know.
func insideString(b []byte) bool {
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"' || c < ' ':
			return false
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// escapeLen is the length of the escape that b starts with; 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// deep is the size from which a document's nesting could exhaust the stack of a checker that recurses.
const deep = 64 << 10

// validJSON checks a document. gjson's check is the faster, encoding/json's bounds the depth.
func validJSON(b []byte) bool {
	if len(b) < deep {
		return gjson.ValidBytes(b)
	}
	return json.Valid(b)
}
