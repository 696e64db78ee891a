package page

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// A table that is too wide becomes several: all cells are in them once, each part is narrow enough and names its rows,
// and the rank is in the name.
func TestSplitGrid(t *testing.T) {
	wide := &Grid{
		Name: "t",
		Table: table.Table{
			Columns: []table.Column{{Head: lang.Same("rank")}, {Head: lang.Same("Configuration"), Left: true}},
		},
		Notes: []lang.Text{lang.Same("note")},
	}
	for i := range 20 {
		wide.Columns = append(wide.Columns, table.Column{Head: lang.Same("column " + strconv.Itoa(i))})
	}
	for r := range 3 {
		row := []table.Cell{table.Literal(strconv.Itoa(r + 1)), table.Literal("name" + strconv.Itoa(r))}
		for i := range 20 {
			row = append(row, table.Literal(strings.Repeat("9", 12)+"."+strconv.Itoa(100*r+i)))
		}
		wide.Rows = append(wide.Rows, row)
	}
	parts := splitGrid(wide)
	if len(parts) < 2 || len(parts[0].Notes) > 0 || len(parts[len(parts)-1].Notes) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	var cells, names []string
	for _, p := range parts {
		width := 0
		for i := range p.Columns {
			width += columnWidth(p, i)
		}
		if width > maxGridWidth || slices.Contains(names, p.Name) {
			t.Errorf("%s is %d wide", p.Name, width)
		}
		names = append(names, p.Name)
		for r, row := range p.Rows {
			if row[0].Text.EN != strconv.Itoa(r+1)+". name"+strconv.Itoa(r) {
				t.Errorf("a row is called %q", row[0].Text.EN)
			}
			for _, c := range row[1:] {
				cells = append(cells, c.Text.EN)
			}
		}
	}
	slices.Sort(cells)
	if len(cells) != 60 || len(slices.Compact(cells)) != 60 {
		t.Errorf("%d cells", len(cells))
	}
	narrow := &Grid{
		Name: "n",
		Table: table.Table{
			Columns: []table.Column{{Head: lang.Same("a"), Left: true}, {Head: lang.Same("b")}},
			Rows:    [][]table.Cell{{table.Literal("x"), table.Literal("1")}},
		},
	}
	if got := splitGrid(narrow); len(got) != 1 || got[0] != narrow {
		t.Errorf("a narrow table became %d", len(got))
	}
}
