package document

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"llmsweep/report/inputs"
)

const (
	partSummary = "summary"
	partRun     = "run"
	partCompare = "compare"
	partChoice  = "choice"
)

// piece is a part of a document: generated, between two markers, or text that somebody wrote, which is kept as it is.
type piece struct {
	name string // of a generated part; empty for text
	note string // the JSON in its opening marker
	text string // between the markers, or the text itself
	sum  string // of the text between the markers, in the closing one; empty where that has none
	line int    // of the first line, from 1
}

var (
	opening = regexp.MustCompile(`^<!-- llmsweep:(\w+)(?: (\{.*\}))? -->$`)
	closing = regexp.MustCompile(`^<!-- /llmsweep:(\w+)(?: ([0-9a-f]{32}))? -->$`)
)

// split returns pieces that [join] makes the same document of, byte for byte.
func split(doc string) ([]piece, error) {
	var all []piece
	var text strings.Builder
	var open *piece
	start := 1
	for i, line := range strings.SplitAfter(doc, "\n") {
		bare := strings.TrimRight(line, "\r\n")
		if m := opening.FindStringSubmatch(bare); m != nil {
			if open != nil {
				return nil, fmt.Errorf("line %d opens %q inside of %q, which line %d opened; put <!-- /llmsweep:%s --> before it",
					i+1, m[1], open.name, open.line-1, open.name)
			}
			if text.Len() > 0 {
				all = append(all, piece{text: text.String(), line: start})
			}
			open = &piece{name: m[1], note: m[2], line: i + 2}
			text.Reset()
			continue
		}
		if m := closing.FindStringSubmatch(bare); m != nil {
			if open == nil || open.name != m[1] {
				return nil, fmt.Errorf("line %d closes %q, which is not open; take the line out", i+1, m[1])
			}
			open.text, open.sum = text.String(), m[2]
			all = append(all, *open)
			open, start = nil, i+2
			text.Reset()
			continue
		}
		text.WriteString(line)
	}
	if open != nil {
		return nil, fmt.Errorf("line %d opens %q, which nothing closes; put <!-- /llmsweep:%s --> where it ends",
			open.line-1, open.name, open.name)
	}
	if text.Len() > 0 {
		all = append(all, piece{text: text.String(), line: start})
	}
	return all, nil
}

// checkIntact returns an error where somebody may have written in a generated part: the checksum in its closing marker
// does not fit, or is missing.
func checkIntact(all []piece) error {
	for _, p := range all {
		if p.name == "" || strings.TrimSpace(p.text) == "" || p.sum == inputs.OutputSum([]byte(p.text)) {
			continue
		}
		last := p.line + strings.Count(p.text, "\n") - 1
		return fmt.Errorf("lines %d to %d were changed since llmsweep wrote them, and would be lost: move what you wrote "+
			"behind the line <!-- /llmsweep:%s ... -->, or overwrite it with --force",
			p.line, last, p.name)
	}
	return nil
}

func join(all []piece) string {
	var b strings.Builder
	for _, p := range all {
		if p.name == "" {
			b.WriteString(p.text)
			continue
		}
		b.WriteString("<!-- llmsweep:" + p.name)
		if p.note != "" {
			b.WriteString(" " + p.note)
		}
		b.WriteString(" -->\n" + p.text)
		if p.text != "" && !strings.HasSuffix(p.text, "\n") {
			b.WriteString("\n")
		}
		b.WriteString("<!-- /llmsweep:" + p.name)
		if p.sum != "" {
			b.WriteString(" " + p.sum)
		}
		b.WriteString(" -->\n")
	}
	return b.String()
}

// markerJSON escapes two hyphens, which would end the comment.
func markerJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // only strings and numbers are ever noted
		return ""
	}
	return strings.ReplaceAll(string(b), "--", `-\u002d`)
}
