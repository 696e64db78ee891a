package page

import (
	"llmsweep/report/lang"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The measures by which the width of a table is estimated, in pixels of a page of the usual width.
const (
	widest    = 1110 // of a table
	perLetter = 7    // of a cell
	cellSpace = 16
	mostText  = 250 // of a column of text, which wraps
)

// split returns a table that is too wide for a page as several, one beneath the other, each with the column that names its rows. A rank before that
// column becomes a part of the name, so that the name stays in sight when a narrow screen scrolls.
func split(t *Table) []*Table {
	if len(t.Columns) > 1 && !t.Columns[0].Left && t.Columns[1].Left && layoutRanked(t) {
		t = withRank(t)
	}
	if len(t.Columns) == 0 || !t.Columns[0].Left {
		return []*Table{t}
	}
	var groups [][]int // of columns
	width := widest
	for i := 1; i < len(t.Columns); i++ {
		w := columnWidth(t, i)
		if width+w > widest {
			groups, width = append(groups, nil), columnWidth(t, 0)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
		width += w
	}
	if len(groups) < 2 {
		return []*Table{t}
	}
	var all []*Table
	for k, columns := range groups {
		part := &Table{Name: t.Name, Title: t.Title, Open: t.Open, Columns: []Column{t.Columns[0]}}
		if k > 0 {
			part.Name += "-" + strconv.Itoa(k+1)
		}
		for _, i := range columns {
			part.Columns = append(part.Columns, t.Columns[i])
		}
		for _, r := range t.Rows {
			row := Row{Cells: []Cell{r.Cells[0]}, Attrs: r.Attrs}
			for _, i := range columns {
				row.Cells = append(row.Cells, r.Cells[i])
			}
			part.Rows = append(part.Rows, row)
		}
		all = append(all, part)
	}
	all[len(all)-1].Notes = t.Notes
	return all
}

// layoutRanked reports whether the first column counts the rows.
func layoutRanked(t *Table) bool {
	for i, r := range t.Rows {
		if r.Cells[0].Text.EN != strconv.Itoa(i+1) {
			return false
		}
	}
	return len(t.Rows) > 0
}

// withRank returns a table with its first column as a part of the second.
func withRank(t *Table) *Table {
	all := *t
	all.Columns, all.Rows = t.Columns[1:], nil
	for _, r := range t.Rows {
		cells := append([]Cell(nil), r.Cells[1:]...)
		cells[0].Text = r.Cells[0].Text.Plus(lang.Same(". ")).Plus(cells[0].Text)
		all.Rows = append(all.Rows, Row{Cells: cells, Attrs: r.Attrs})
	}
	return &all
}

// columnWidth estimates the width of a column: that of its widest cell, or of the longest word of its heading.
func columnWidth(t *Table, i int) int {
	letters := 0
	for _, word := range strings.Fields(t.Columns[i].Head.EN) {
		letters = max(letters, utf8.RuneCountInString(word))
	}
	for _, r := range t.Rows {
		letters = max(letters, utf8.RuneCountInString(r.Cells[i].Text.EN))
	}
	w := letters*perLetter + cellSpace
	if t.Columns[i].Left {
		w = min(w, mostText)
	}
	return w
}
