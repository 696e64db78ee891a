package inputs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// CommentMark is how a format writes comments.
type CommentMark int

// The ways to write comments.
const (
	NoMark   CommentMark = iota // the format has none: JSON, CSV, text
	XMLMark                     // <!-- -->: Markdown, HTML, SVG
	HashMark                    // #: YAML
)

// CommentOf returns how a format of results writes comments, by the name that --format has for it.
func CommentOf(format string) CommentMark {
	switch format {
	case "markdown", "html", "svg":
		return XMLMark
	case "yaml":
		return HashMark
	}
	return NoMark
}

// sumLength is the length of a checksum in hexadecimal digits: 128 bits of SHA-256.
const sumLength = 32

// markText is what stands in a mark before the checksum.
const markText = "written by llmsweep, checksum "

var markLine = regexp.MustCompile(`(?:\r?\n)?(?:<!-- |# )` + markText + `([0-9a-f]{32})(?: -->)?\r?\n?$`)

// OutputSum returns the checksum of a text. Line ends are taken as one, because version control may change them.
func OutputSum(b []byte) string {
	sum := sha256.Sum256(bytes.TrimRight(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), "\n"))
	return hex.EncodeToString(sum[:])[:sumLength]
}

// MarkedOutput returns a content with its mark.
func MarkedOutput(b []byte, c CommentMark) []byte {
	text := markText + OutputSum(b)
	switch {
	case c == NoMark || len(b) == 0:
		return b
	case c == XMLMark:
		text = "<!-- " + text + " -->\n"
	default:
		text = "# " + text + "\n"
	}
	out := bytes.Clone(b)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, text...)
}

// intactOutput reports whether a content has a mark that fits.
func intactOutput(b []byte) bool {
	m := markLine.FindSubmatchIndex(b[max(0, len(b)-len(markText)-sumLength-16):])
	if m == nil {
		return false
	}
	at := max(0, len(b)-len(markText)-sumLength-16)
	return OutputSum(b[:at+m[0]]) == string(b[at+m[2]:at+m[3]])
}
