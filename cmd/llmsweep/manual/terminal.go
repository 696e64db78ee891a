package manual

import (
	"regexp"
	"strings"

	"llmsweep/report/table"
)

// Widths on a terminal, in columns.
const (
	codeIndent = 4
	maxWidth   = 100 // lines longer than this are hard to read
	maxKey     = 28  // of the first column of a table
)

// Terminal returns a topic for a terminal of a width in columns: without Markdown, with lines wrapped between words.
func Terminal(page string, width int) string {
	t := terminal{width: max(2*codeIndent, min(width, maxWidth))}
	for line := range strings.Lines(page) {
		t.line(strings.TrimRight(line, "\n"))
	}
	t.end()
	return t.out.String()
}

type terminal struct {
	width     int
	out       strings.Builder
	paragraph string     // that is being collected
	hanging   int        // indent of its further lines
	rows      [][]string // of the table that is being collected
	code      bool       // within a fenced block
}

func (t *terminal) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "```"):
		t.end()
		t.code = !t.code
	case t.code || strings.HasPrefix(line, "    ") && t.paragraph == "":
		t.end()
		t.write(strings.Repeat(" ", codeIndent) + strings.TrimPrefix(line, "    "))
	case trimmed == "":
		t.end()
		t.write("")
	case strings.HasPrefix(line, "#"):
		t.end()
		t.wrapped(strings.ToUpper(marks(strings.TrimLeft(line, "# "))), "", 0)
	case strings.HasPrefix(line, "|"):
		t.flush()
		if cells := cells(line); !isRule(cells) {
			t.rows = append(t.rows, cells)
		}
	case item.MatchString(line):
		t.end()
		t.hanging, t.paragraph = len(item.FindString(line)), line
	default:
		t.table()
		t.paragraph = strings.TrimSpace(t.paragraph + " " + trimmed)
	}
}

// item matches the mark of an entry of a list.
var item = regexp.MustCompile(`^ *(-|\d+\.) +`)

func (t *terminal) write(line string) { t.out.WriteString(strings.TrimRight(line, " ") + "\n") }

func (t *terminal) end() {
	t.flush()
	t.table()
}

func (t *terminal) flush() {
	if t.paragraph != "" {
		t.wrapped(marks(t.paragraph), "", t.hanging)
	}
	t.paragraph, t.hanging = "", 0
}

// wrapped writes a text after a lead, its further lines indented.
func (t *terminal) wrapped(text, lead string, indent int) {
	for line := range strings.SplitSeq(table.Wrap(lead+text, t.width, indent), "\n") {
		t.write(line)
	}
}

// table writes the rows: the first cell, and to its right the others, one below the other.
func (t *terminal) table() {
	rows := t.rows
	t.rows = nil
	if len(rows) == 0 {
		return
	}
	first := 0
	for _, r := range rows {
		first = max(first, table.Width(r[0]))
	}
	indent := min(first, maxKey, t.width/2) + 2
	for _, r := range rows[1:] { // cells repeat the heads of their columns
		lead := table.Pad(r[0], indent, true)
		if table.Width(r[0]) > indent-2 {
			t.wrapped(r[0], "", 0)
			lead = strings.Repeat(" ", indent)
		}
		for i, cell := range r[1:] {
			if len(r) > 2 && i+1 < len(rows[0]) && rows[0][i+1] != "" {
				cell = rows[0][i+1] + ": " + cell
			}
			t.wrapped(cell, lead, indent)
			lead = strings.Repeat(" ", indent)
		}
	}
}

func cells(line string) (all []string) {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, marks(strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")))
	}
	return all
}

// isRule reports whether a row is the line below the head.
func isRule(row []string) bool { return strings.Trim(strings.Join(row, ""), "-: ") == "" }

var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)

// marks takes the marks of Markdown out of a text. Code keeps what it holds, such as stars.
func marks(s string) string {
	parts := strings.Split(s, "`")
	for i := range parts {
		if i%2 == 0 || i == len(parts)-1 {
			parts[i] = strings.ReplaceAll(link.ReplaceAllString(parts[i], "$1"), "**", "")
		}
	}
	return strings.Join(parts, "")
}
