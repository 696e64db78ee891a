package page

import (
	"html/template"
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Document is a page. Each text is in both languages.
type Document struct {
	Title    lang.Text
	Subtitle lang.Text
	Sections []Section
	// Data is for the script: numbers of drawings that are too many for tables, by the name of the drawing.
	Data map[string]any
}

// Section is a part of a page, with a heading and an address.
type Section struct {
	ID     string
	Title  lang.Text
	Within string // ID of the section that it is a part of: it is not in the contents
	// Markers are explained at its end.
	Markers []Marker
	Blocks  []Block
}

// Uncertain reports whether some drawing has an interval, a bound, or a point of too few requests.
func (s Section) Uncertain() bool {
	for _, b := range s.Blocks {
		for _, f := range b.Figures {
			for _, v := range f.Variants {
				if v.Drawn != nil && v.Drawn.Uncertain() {
					return true
				}
			}
		}
	}
	return false
}

// Block is one thing in a section. Exactly one of its fields is set.
type Block struct {
	Headline *Headline
	Lines    *Lines
	Table    *Grid
	Figures  []FigureBlock
	Stages   []Panel // of which one is shown at a time
	Code     string
	Index    *IndexPage
	Names    []NameKey
	Heading  lang.Text
}

// NameKey tells what a short label of a line in the drawings stands for.
type NameKey struct {
	Short, Name string
	Line        template.HTML // a piece of the line
}

// Headline is the answer: a large number, a verdict, or a name.
type Headline struct {
	Number   string
	Verdict  table.Cell // instead of a number
	Name     string     // instead of a number
	Unit     lang.Text
	Sentence lang.Text
	Also     []Tile
}

// Add adds a number that exists.
func (h *Headline) Add(text string, what lang.Text, n rundir.Number) {
	if !n.IsZero() {
		h.Also = append(h.Also, Tile{text, what})
	}
}

// Tile is another number beside the large one.
type Tile struct {
	Number string
	Text   lang.Text
}

// Lines is a list of sentences.
type Lines struct {
	Items []lang.Text
	Class string
	More  []lang.Text // shown on demand
	Whole bool        // long sentences are not folded
	Plain bool        // paragraphs, no list
}

func fromSections(prefix string, sections []table.Section) []Section {
	var all []Section
	var parent string // ID of the section that deeper ones are parts of
	for i := range sections {
		from := &sections[i]
		s := Section{ID: prefix + "-" + strconv.Itoa(i+1), Title: from.Title}
		if from.Level > sections[0].Level {
			s.Within = parent
		} else {
			parent = s.ID
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
