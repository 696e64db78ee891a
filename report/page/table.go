package page

import (
	"html/template"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Number is a cell with a number.
func Number(n rundir.Number, p lang.Printer) Cell {
	if n.IsZero() {
		return Cell{Text: lang.Same(lang.Absent), Class: "soft"}
	}
	return Plain(lang.Number(n, p))
}

// Duration is a cell with a time.
func Duration(n rundir.Number) Cell {
	if n.IsZero() {
		return Cell{Text: lang.Same(lang.Absent), Class: "soft"}
	}
	return Plain(lang.Time(n))
}

// Percentile is a cell with a percentile, marked where too few samples support it.
func Percentile(d *rundir.Dist, name string) Cell {
	c := Duration(d.Get(name))
	if c.Text.EN != lang.Absent && !d.Supported(name) {
		c.Text = c.Text.Plus(lang.Same(table.MarkUnsupported))
	}
	return c
}

// Verdict is a cell with a verdict: its sign and its word.
func Verdict(s *rundir.Stage) Cell {
	shape, word := Shape(s)
	class := identifier(string(s.Verdict))
	if !s.Invalid.IsZero() {
		class = string(invalid)
	}
	return Cell{Text: word, Class: "verdict " + class, Raw: Markup(shape.Key())}
}

// Table is a table in both languages.
type Table struct {
	Name    string
	Title   lang.Text // of what it holds; the words of the button that opens it
	Columns []Column
	Rows    []Row
	Notes   []lang.Text
	Open    bool // not folded away
}

// Dense reports whether a table has so many columns that they stand closer together.
func (t *Table) Dense() bool {
	const from = 14
	return len(t.Columns) >= from
}

// Column is a column of a Table.
type Column struct {
	Head lang.Text
	Left bool
	Sort bool
}

// longHead is the length of a heading, in characters, from which its column is kept wide enough for it to stand in few lines.
const longHead = 14

// Class is the class of the heading.
func (c Column) Class() string {
	class := ""
	if c.Left {
		class = "left"
	}
	if len([]rune(c.Head.EN)) >= longHead {
		class += " long"
	}
	return strings.TrimSpace(class)
}

// Row is a row of a Table.
type Row struct {
	Cells []Cell
	Attrs []Attr
}

// Attr is a data attribute of a row, which the script reads. The name is of this package's own.
type Attr struct{ Name, Value string }

// HTML returns the attribute as it stands in a tag.
func (a Attr) HTML() template.HTMLAttr {
	return template.HTMLAttr(a.Name + `="` + draw.Escape(a.Value) + `"`)
}

// Cell is a cell of a Table.
type Cell struct {
	Text  lang.Text
	Class string
	Raw   template.HTML // a small drawing beside the text
	Check string        // the key of the series that its box shows and hides
}

// Plain returns a cell with a text that is the same in both languages.
func Plain(s string) Cell { return Cell{Text: lang.Same(s)} }

// Bilingual makes one table of the same table in both languages.
func Bilingual(name string, title lang.Text, of func(lang.Lang) table.Table) *Table {
	en, zh := of(lang.English), of(lang.Chinese)
	t := &Table{Name: name, Title: title}
	for i, c := range en.Columns {
		head := lang.Text{EN: c.Head, ZH: zh.Columns[i].Head}
		if c.Sub != "" {
			head = head.Plus(lang.Text{EN: " " + c.Sub, ZH: " " + zh.Columns[i].Sub})
		}
		t.Columns = append(t.Columns, Column{Head: head, Left: c.Left})
	}
	for i, cells := range en.Rows {
		var row Row
		for j, c := range cells {
			row.Cells = append(row.Cells, Cell{Text: lang.Text{EN: c.String(), ZH: zh.Rows[i][j].String()}, Class: tones()[c.Tone]})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tones are the classes of the tones of cells.
func tones() map[table.Tone]string {
	return map[table.Tone]string{table.Strong: "strong", table.Faint: "soft", table.Good: "good", table.Caution: "caution", table.Bad: "bad"}
}

// identifier makes a text an id: letters, digits and dashes.
func identifier(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s), "-")
}
