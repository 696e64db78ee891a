package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// mdWriter writes Markdown. Errors surface when it is flushed.
type mdWriter struct {
	w *bufio.Writer
}

// newMDWriter returns a writer of Markdown to w.
func newMDWriter(w io.Writer) *mdWriter { return &mdWriter{bufio.NewWriter(w)} }

// flush writes what is buffered, and returns the first error.
func (d *mdWriter) flush() error { return d.w.Flush() }

func (d *mdWriter) heading(level, text string) {
	blank := "\n"
	if level == "#" {
		blank = ""
	}
	fmt.Fprintf(d.w, "%s%s %s\n", blank, level, escape(text))
}

// list writes text as a list, beneath an item of another list where it is indented.
func (d *mdWriter) list(indent string, lines []string) {
	for i, s := range lines {
		if i == 0 && indent == "" {
			d.w.WriteString("\n")
		}
		s = escape(s)
		if strings.HasPrefix(s, ">") { // which would quote
			s = `\` + s
		}
		d.w.WriteString(indent + "- " + s + "\n")
	}
}

// table writes a table.
func (d *mdWriter) table(t Table) {
	heads, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i], rules[i] = escape(c.Head), "---:"
		if c.Left {
			rules[i] = ":---"
		}
	}
	d.w.WriteString("\n")
	d.cells(heads)
	d.cells(rules)
	for _, cells := range t.Rows {
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = escape(c.String())
		}
		d.cells(texts)
	}
}

func (d *mdWriter) cells(texts []string) {
	d.w.WriteString("| " + strings.Join(texts, " | ") + " |\n")
}

// section writes one section. A second line of heading joins the first: Markdown tables have one.
func (d *mdWriter) section(s Section) {
	if s.Title != "" {
		d.heading(strings.Repeat("#", max(s.Level, 1)), s.Title)
	}
	d.bullets(s.Lines)
	if len(s.Table.Columns) > 0 {
		t := s.Table
		t.Columns = nil
		for _, c := range s.Table.Columns {
			c.Head = spaced(c.Head, c.Sub)
			t.Columns = append(t.Columns, c)
		}
		d.table(t)
	}
	d.bullets(s.Notes)
}

// bullets writes lines as a list. A legend may begin with the mark it explains, which must not begin a list of its own.
func (d *mdWriter) bullets(lines []string) {
	for i, s := range lines {
		if i == 0 {
			d.w.WriteString("\n")
		}
		s = escape(s)
		if strings.HasPrefix(s, ">") || strings.HasPrefix(s, "+ ") || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "# ") {
			s = `\` + s
		}
		d.w.WriteString("- " + s + "\n")
	}
}

// escape makes text say in Markdown what it says: it can't end a cell, open HTML, a link, code or emphasis.
// Underscores within words are left as they are, since model names are full of them.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "~", `\~`,
		"<", "&lt;", "&", "&amp;",
	).Replace(clean(s))
}
