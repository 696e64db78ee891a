package page

import (
	"slices"
	"strconv"

	"llmsweep/report/table"
)

// FromSections makes sections of a page of those that console and Markdown are made of.
func FromSections(prefix string, sections []table.Section) []Section {
	var all []Section
	var whole string // ID of the section that those beneath it are parts of
	for i := range sections {
		from := &sections[i]
		s := Section{ID: prefix + "-" + strconv.Itoa(i+1), Title: from.Title}
		if from.Level > sections[0].Level {
			s.Within = whole
		} else {
			whole = s.ID
		}
		if len(from.Lines) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: from.Lines}})
		}
		if len(from.Table.Columns) > 0 {
			t := &Grid{Table: from.Table, Name: "t-" + s.ID, Open: true, Notes: slices.Concat(from.Notes, from.Details)}
			t.Title = s.Title
			for _, part := range splitGrid(t) {
				s.Blocks = append(s.Blocks, Block{Table: part})
			}
		} else if len(from.Notes) > 0 {
			s.Blocks = append(s.Blocks, Block{Lines: &Lines{Items: from.Notes}})
		}
		all = append(all, s)
	}
	return all
}
