package rundir

import (
	"fmt"
	"strings"
	"unicode"
)

// EscapeJSON writes, in encoded JSON, what a terminal would obey or what turns the direction of text as \u escapes:
// names in it come from servers. encoding/json leaves some of these characters as they are. They stand only in strings,
// so that the content stays the same.
func EscapeJSON(b []byte) []byte {
	text := string(b)
	if !strings.ContainsFunc(text, needsEscape) {
		return b
	}
	var out strings.Builder
	for _, r := range text {
		if needsEscape(r) {
			fmt.Fprintf(&out, `\u%04x`, r) // all of them are in the basic plane
		} else {
			out.WriteRune(r)
		}
	}
	return []byte(out.String())
}

// needsEscape tests what encoding/json leaves: of ASCII's control characters only DEL.
func needsEscape(r rune) bool {
	return r == 0x7f || r >= 0x80 && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
