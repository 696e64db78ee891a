package table

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"llmsweep/report/lang"
)

// Bullets writes lines as a Markdown list.
func Bullets(w io.Writer, lines []string) error {
	d := NewMarkdown(w, lang.English)
	d.List(lines)
	return d.Flush()
}

// Heading writes a Markdown heading.
func Heading(w io.Writer, level int, text string) error {
	_, err := fmt.Fprintf(w, "\n%s %s\n", strings.Repeat("#", level), Escape(text))
	return err
}

// Markdown writes Markdown. Errors surface in Flush.
type Markdown struct {
	W    *bufio.Writer
	Lang lang.Lang
}

// NewMarkdown returns a writer of Markdown to w, in a language.
func NewMarkdown(w io.Writer, l lang.Lang) *Markdown { return &Markdown{bufio.NewWriter(w), l} }

// Flush writes what is buffered, and returns the first error.
func (d *Markdown) Flush() error { return d.W.Flush() }

// Heading writes a heading; level is its number signs.
func (d *Markdown) Heading(level, text string) {
	blank := "\n"
	if level == "#" {
		blank = ""
	}
	fmt.Fprintf(d.W, "%s%s %s\n", blank, level, Escape(text))
}

// List writes lines as a list.
func (d *Markdown) List(lines []string) {
	if len(lines) > 0 {
		d.W.WriteString("\n")
	}
	for _, s := range lines {
		s = Escape(s)
		if opensBlock(s) {
			s = `\` + s
		}
		d.W.WriteString("- " + s + "\n")
	}
}

// opensBlock reports whether Markdown would begin a block: a legend may begin with the mark that it explains.
func opensBlock(s string) bool {
	return strings.HasPrefix(s, ">") || strings.HasPrefix(s, "+ ") || strings.HasPrefix(s, "- ") ||
		strings.HasPrefix(s, "# ")
}

// Table writes a table.
func (d *Markdown) Table(t Table) {
	heads, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i] = Escape(c.Head.In(d.Lang))
		switch {
		case t.Centered:
			rules[i] = ":---:"
		case c.Left:
			rules[i] = ":---"
		default:
			rules[i] = "---:"
		}
	}
	d.W.WriteString("\n")
	d.cells(heads)
	d.cells(rules)
	for _, cells := range t.Rows {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = Escape(c.In(d.Lang))
		}
		d.cells(texts)
	}
}

func (d *Markdown) cells(texts []string) {
	d.W.WriteString("| " + strings.Join(texts, " | ") + " |\n")
}

// section joins a second line of heading to the first: Markdown tables have one.
func (d *Markdown) section(s Section) {
	if !s.Title.IsZero() {
		d.Heading(strings.Repeat("#", max(s.Level, 1)), s.Title.In(d.Lang))
	}
	d.List(lang.In(s.Lines, d.Lang))
	d.W.WriteString(s.Markdown.In(d.Lang))
	if len(s.Table.Columns) > 0 {
		t := s.Table
		t.Columns = nil
		for _, c := range s.Table.Columns {
			c.Head = c.Heading()
			t.Columns = append(t.Columns, c)
		}
		d.Table(t)
	}
	d.List(lang.In(slices.Concat(s.Notes, s.Details), d.Lang))
}

// Escape returns text that Markdown shows as it is: it cannot end a cell, or open HTML, a link, code or emphasis.
// Underscores within words are left as they are, since model names are full of them.
func Escape(s string) string { return markdownEscapes.Replace(Clean(s)) }

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`,
	"~", `\~`, "<", "&lt;", "&", "&amp;")
