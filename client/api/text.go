package api

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// utf8Only returns s with U+FFFD for each byte that is not UTF-8. jx would write it as it is.
func utf8Only(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// Key returns a key of an object as encoding/json reads it. gjson takes the character after half of a surrogate pair
// for its other half.
func Key(k gjson.Result) string {
	if !strings.Contains(k.Raw, `\u`) {
		return utf8Only(k.Str)
	}
	return string(Unescape([]byte(k.Raw[1 : len(k.Raw)-1])))
}

// Unescape returns the text of a JSON string's content with escapes, such as one or several [Chunk.Raw]. Surrogates
// without their other half and bytes that are not UTF-8 become U+FFFD.
func Unescape(raw []byte) []byte {
	var text string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if json.Unmarshal(quoted, &text) != nil {
		return raw // it was no string's content
	}
	return append(raw[:0], text...)
}
