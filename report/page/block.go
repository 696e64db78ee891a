package page

import (
	"html/template"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/table"
)

// Document is a page while it is put together. Each text is in both languages.
type Document struct {
	Title    draw.Text
	Subtitle draw.Text
	Sections []Section
	// Data is what the script reads: numbers of drawings that are too many for tables, by the name of the drawing, and the parts of kind.
	Data map[string]any
}

// Section is a part of a page, with a heading and an address.
type Section struct {
	ID     string
	Title  draw.Text
	Blocks []Block
}

// Block is one thing in a section. Exactly one of its fields is set.
type Block struct {
	Headline *Headline
	Lines    *Lines
	Table    *Table
	Figures  []Figure
	Stages   []Panel // of which one is shown at a time
	Code     string
	Sliders  *Sliders
	Index    *Index
	Names    []NameKey
	Heading  draw.Text
}

// NameKey tells what a short label of a line in the drawings stands for.
type NameKey struct {
	Short, Name string
	Colour      int
}

// Headline is the answer: a large number with its interval.
type Headline struct {
	Number   string
	Unit     draw.Text
	Interval draw.Text // empty for none
	Sentence draw.Text
	Also     []Tile
}

// Tile is another number beside the large one.
type Tile struct {
	Number string
	Text   draw.Text
}

// Lines is a list of sentences.
type Lines struct {
	Items []draw.Text
	Class string
	More  []draw.Text // shown on demand
	Whole bool        // long sentences are not folded
	Plain bool        // paragraphs, no list
}

// Figure is a drawing with its switches and its numbers.
type Figure struct {
	Name     string
	Title    draw.Text
	Note     draw.Text // beneath it: what is drawn of how many
	Variants []Variant
	Switches []Switch // of series
	Table    *Table
	Lazy     []Lazy // tables that the script makes from Document.Data
}

// Variant is a drawing with a kind of axis.
type Variant struct {
	Key  string // "lin" or "log"
	Text draw.Text
	SVG  template.HTML
	Off  bool // shown on demand

	figure *draw.Figure
}

// Switch shows and hides a series.
type Switch struct {
	Key    string
	Text   draw.Text
	Colour int
}

// Lazy is a table that the script makes when it is opened.
type Lazy struct {
	Name string // in Document.Data
	Text draw.Text
}

// Panel is what is shown of one stage.
type Panel struct {
	ID      string
	Name    draw.Text // of the stage, with its verdict
	Lines   []draw.Text
	Figures []Figure
	Slowest *Slowest
	First   bool // it is shown first
}

// Slowest lists the slowest requests of a stage, and the percentiles that choose among them.
type Slowest struct {
	Choices []Choice
	Table   *Table
	Note    draw.Text
}

// Choice is a percentile of a metric.
type Choice struct {
	Metric string
	Text   draw.Text
	Value  float64 // seconds
}

// Table is a table in both languages.
type Table struct {
	Name    string
	Title   draw.Text // of what it holds; the words of the button that opens it
	Columns []Column
	Rows    []Row
	Notes   []draw.Text
	Open    bool // not folded away
}

// Column is a column of a Table.
type Column struct {
	Head draw.Text
	Left bool
	Sort bool
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
	Text  draw.Text
	Class string
	Raw   template.HTML // a small drawing beside the text
	Check string        // the key of the series that its box shows and hides
}

// plain returns a cell with a text that is the same in both languages.
func plain(s string) Cell { return Cell{Text: draw.Same(s)} }

// bilingual makes one table of the same table in both languages.
func bilingual(name string, title draw.Text, of func(lang.Lang) table.Table) *Table {
	en, zh := of(lang.English), of(lang.Chinese)
	t := &Table{Name: name, Title: title}
	for i, c := range en.Columns {
		head := draw.Text{EN: c.Head, ZH: zh.Columns[i].Head}
		if c.Sub != "" {
			head = head.Plus(draw.Text{EN: " " + c.Sub, ZH: " " + zh.Columns[i].Sub})
		}
		t.Columns = append(t.Columns, Column{Head: head, Left: c.Left})
	}
	for i, cells := range en.Rows {
		var row Row
		for j, c := range cells {
			row.Cells = append(row.Cells, Cell{Text: draw.Text{EN: c.String(), ZH: zh.Rows[i][j].String()}, Class: tones()[c.Tone]})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// tones are the classes of the tones of cells.
func tones() map[table.Tone]string {
	return map[table.Tone]string{table.Strong: "strong", table.Faint: "soft", table.Good: "good", table.Caution: "caution", table.Bad: "bad"}
}

// sentences returns the same list of sentences in both languages.
func sentences(of func(lang.Lang) []string) []draw.Text {
	en, zh := of(lang.English), of(lang.Chinese)
	var all []draw.Text
	for i := range max(len(en), len(zh)) {
		var t draw.Text
		if i < len(en) {
			t.EN = en[i]
		}
		if i < len(zh) {
			t.ZH = zh[i]
		}
		all = append(all, t)
	}
	return all
}

// fromSections makes sections of a page of those that console and Markdown are made of.
func fromSections(prefix string, of func(lang.Lang) []table.Section) []Section {
	en, zh := of(lang.English), of(lang.Chinese)
	var all []Section
	for i := range en {
		a, b := en[i], zh[min(i, len(zh)-1)]
		s := Section{ID: prefix + "-" + itoa(i+1), Title: draw.Text{EN: a.Title, ZH: b.Title}}
		if items := sentences(func(l lang.Lang) []string { return pick(l, a.Lines, b.Lines) }); len(items) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: items}})
		}
		if len(a.Table.Columns) > 0 {
			t := bilingual("t-"+s.ID, s.Title, func(l lang.Lang) table.Table { return pick(l, a.Table, b.Table) })
			t.Open = true
			t.Notes = sentences(func(l lang.Lang) []string { return pick(l, a.Notes, b.Notes) })
			s.Blocks = append(s.Blocks, Block{Table: t})
		} else if notes := sentences(func(l lang.Lang) []string { return pick(l, a.Notes, b.Notes) }); len(notes) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: notes}})
		}
		all = append(all, s)
	}
	return all
}

// pick returns what is in a language.
func pick[T any](l lang.Lang, en, zh T) T {
	if l == lang.Chinese {
		return zh
	}
	return en
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
