package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// Grid is a table on a page.
type Grid struct {
	table.Table          // Title is for screen readers
	Name        string   // its address
	Open        bool     // not folded away
	Plain       bool     // without buttons to copy it
	Attrs       [][]Attr // of each row, where rows have any
	Notes       []lang.Text
}

// Add adds a row.
func (g *Grid) Add(cells ...table.Cell) { g.Rows = append(g.Rows, cells) }

// Dense reports whether a table has many columns, which then stand closer together.
func (g *Grid) Dense() bool {
	const from = 14
	return len(g.Columns) >= from
}

// Attr is a data attribute of a row, which the script reads. The name is of this package's own.
type Attr struct{ Name, Value string }

// HTML returns the attribute as it stands in a tag.
func (a Attr) HTML() template.HTMLAttr {
	return template.HTMLAttr(a.Name + `="` + draw.Escape(a.Value) + `"`)
}

type head struct {
	Text  lang.Text
	Class string
}

const longHead = 14 // characters, from which a column is kept wide enough for its heading to stand in few lines

// Heads returns the headings of the columns.
func (g *Grid) Heads() []head {
	var heads []head
	for _, c := range g.Columns {
		h := head{Text: c.Heading()}
		if c.Left {
			h.Class = "left"
		}
		if len([]rune(h.Text.EN)) >= longHead {
			h.Class = strings.TrimSpace(h.Class + " long")
		}
		heads = append(heads, h)
	}
	return heads
}

type row struct {
	Cells []cell
	Attrs []Attr
}

type cell struct {
	Text  lang.Text
	Class string
	Drawn template.HTML // before the text
	Key   string
}

// Body returns the rows of the table.
func (g *Grid) Body() []row {
	var rows []row
	for i, cells := range g.Rows {
		var r row
		if i < len(g.Attrs) {
			r.Attrs = g.Attrs[i]
		}
		for j, c := range cells {
			r.Cells = append(r.Cells, newCell(c, g.Columns[j].Left))
		}
		rows = append(rows, r)
	}
	return rows
}

func newCell(c table.Cell, left bool) cell {
	out := cell{Text: c.Whole(), Key: c.Key}
	classes := []string{toneClass(c.Tone)}
	switch {
	case c.Badge != "":
		shape, word := shapeOf(c.Badge)
		out.Text, out.Drawn, classes = word, markup(shape.Key()), []string{"verdict", identifier(string(c.Badge))}
	case len(c.Bars) > 0:
		out.Drawn = bars(c.Bars)
	}
	if c.Long {
		classes = append(classes, "wrap")
	}
	if left {
		classes = append(classes, "left")
	} else {
		out.Text = lang.Text{EN: lang.Grouped(out.Text.EN), ZH: lang.Grouped(out.Text.ZH)}
	}
	out.Class = strings.TrimSpace(strings.Join(classes, " "))
	return out
}

func toneClass(t table.Tone) string {
	return [...]string{table.Plain: "", table.Strong: "strong", table.Faint: "soft", table.Good: "good",
		table.Caution: "caution", table.Bad: "bad"}[t]
}

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

const maxBars = 32 // more cannot be told apart at the width of a cell

// bars draws a bar for each value or, where there are too many, for the largest of some.
func bars(values []float64) template.HTML {
	const width, height = 144, 30
	largest := slices.Max(values)
	if largest <= 0 {
		return ""
	}
	var b strings.Builder
	n := min(len(values), maxBars)
	fmt.Fprintf(&b, "M0 %d", height)
	for i := range n {
		worst := slices.Max(values[i*len(values)/n : (i+1)*len(values)/n])
		fmt.Fprintf(&b, "V%dH%d", min(height-1, height-int(math.Round(worst/largest*height))), (i+1)*width/n)
	}
	const strip = `<svg class="strip" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">` +
		`<path d="%sV%dz"/></svg>`
	return markup(fmt.Sprintf(strip, width, height, b.String(), height))
}
