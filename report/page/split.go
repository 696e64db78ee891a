package page

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"llmsweep/report/lang"
)

// The measures by which the width of a table is estimated, in pixels of a page of the usual width.
const (
	maxGridWidth = 1110 // of a table
	perLetter    = 7    // of a cell
	cellSpace    = 16
	maxTextWidth = 250 // of a column of text, which wraps
)

// splitGrid splits a table that is too wide for a page, each part with the column that names the rows. A column of
// ranks before it is merged into it, which stays visible when a narrow screen scrolls.
func splitGrid(g *Grid) []*Grid {
	if len(g.Columns) > 1 && !g.Columns[0].Left && g.Columns[1].Left && hasRanks(g) {
		g = mergeRank(g)
	}
	if len(g.Columns) == 0 || !g.Columns[0].Left {
		return []*Grid{g}
	}
	var groups [][]int // of columns
	width := maxGridWidth
	for i := 1; i < len(g.Columns); i++ {
		w := columnWidth(g, i)
		if width+w > maxGridWidth {
			groups, width = append(groups, nil), columnWidth(g, 0)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
		width += w
	}
	if len(groups) < 2 {
		return []*Grid{g}
	}
	var all []*Grid
	for k, columns := range groups {
		part := &Grid{Name: g.Name, Open: g.Open, Attrs: g.Attrs}
		part.Title, part.Columns = g.Title, g.Columns[:1:1]
		if k > 0 {
			part.Name += "-" + strconv.Itoa(k+1)
		}
		for _, i := range columns {
			part.Columns = append(part.Columns, g.Columns[i])
		}
		for _, r := range g.Rows {
			cells := r[:1:1]
			for _, i := range columns {
				cells = append(cells, r[i])
			}
			part.Add(cells...)
		}
		all = append(all, part)
	}
	all[len(all)-1].Notes = g.Notes
	return all
}

func hasRanks(g *Grid) bool {
	for i, r := range g.Rows {
		if r[0].Text.EN != strconv.Itoa(i+1) {
			return false
		}
	}
	return len(g.Rows) > 0
}

func mergeRank(g *Grid) *Grid {
	all := *g
	all.Columns, all.Rows = g.Columns[1:], nil
	for _, r := range g.Rows {
		cells := slices.Clone(r[1:])
		cells[0].Text = r[0].Text.Plus(lang.Same(". ")).Plus(cells[0].Text)
		all.Add(cells...)
	}
	return &all
}

// columnWidth is that of the widest cell, or of the longest word of the heading, which wraps.
func columnWidth(g *Grid, i int) int {
	letters := 0
	for _, word := range strings.Fields(g.Columns[i].Heading().EN) {
		letters = max(letters, utf8.RuneCountInString(word))
	}
	for _, r := range g.Rows {
		letters = max(letters, utf8.RuneCountInString(r[i].Whole().EN))
	}
	w := letters*perLetter + cellSpace
	if g.Columns[i].Left {
		w = min(w, maxTextWidth)
	}
	return w
}
