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

const markText = "written by llmsweep, checksum "

var markLine = regexp.MustCompile(`(?:\r?\n)?(?:<!-- |# )` + markText + `([0-9a-f]{32})(?: -->)?\r?\n?$`)

// OutputSum returns the checksum of a text. Line ends are taken as one, because version control may change them.
func OutputSum(b []byte) string {
	sum := sha256.Sum256(bytes.TrimRight(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), "\n"))
	return hex.EncodeToString(sum[:])[:sumLength]
}

// MarkedOutput returns a content with its mark.
func MarkedOutput(b []byte, c CommentMark) []byte {
	if c == NoMark || len(b) == 0 {
		return b
	}
	mark := markText + OutputSum(b)
	if c == XMLMark {
		mark = "<!-- " + mark + " -->\n"
	} else {
		mark = "# " + mark + "\n"
	}
	out := bytes.Clone(b)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, mark...)
}

// intactOutput reports whether a content ends with a mark whose checksum fits.
func intactOutput(b []byte) bool {
	start := max(0, len(b)-len(markText)-sumLength-16) // no mark is longer
	m := markLine.FindSubmatchIndex(b[start:])
	return m != nil && OutputSum(b[:start+m[0]]) == string(b[start+m[2]:start+m[3]])
}
