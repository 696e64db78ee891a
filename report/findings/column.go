package findings

import (
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Column is a quantity of a stage: heading, unit and value, for all renderings.
type Column struct {
	ID     string    // its name in CSV: that in run.json, parts joined by underscores, or one of its own
	Head   lang.Text // the heading for people; none where only CSV has it
	Sub    lang.Text // the statistic
	Unit   string    // of numbers whose cells do not have it
	Left   bool
	Number StageNumber               // in SI units; nil for words
	Word   func(StageRow) string     // in CSV, where there is no Number; nil for what CSV does not have
	Cell   func(StageRow) table.Cell // for people
	When   func([]rundir.Run) bool   // whether it says something of runs; nil: always
}

// SelectColumns returns the columns that say something of runs.
func SelectColumns(runs []rundir.Run, columns []Column) []Column {
	return slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.When != nil && !c.When(runs) })
}

// Units says where a rendering writes the unit of a column.
type Units uint8

// The places of units.
const (
	UnitUnderHead Units = iota // in the second line of the heading, if that has no statistic
	UnitInHead                 // behind the heading
	UnitInCells                // in each cell
)

func (c *Column) heading(u Units) table.Column {
	h := table.Column{Head: c.Head, Sub: c.Sub, Left: c.Left}
	if c.Unit != "" && (u == UnitInHead || u == UnitUnderHead && c.Sub.IsZero()) {
		h.Sub = lang.Same(c.Unit)
	}
	if u != UnitUnderHead { // the heading has one line
		h.Head, h.Sub = h.Heading(), lang.Text{}
	}
	return h
}

// TabulateStages returns a table with a row for each of rows.
func TabulateStages(columns []Column, rows []StageRow, u Units) table.Table {
	var t table.Table
	for i := range columns {
		t.Columns = append(t.Columns, columns[i].heading(u))
	}
	for _, r := range rows {
		cells := make([]table.Cell, len(columns))
		for i, c := range columns {
			cells[i] = c.Cell(r)
			if u == UnitInCells && c.Number != nil && cells[i].Unit == "" && cells[i].Tone != table.Faint {
				cells[i].Unit = c.Unit
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func nameCell(r StageRow) table.Cell {
	return table.Cell{Text: lang.Same(StageName(r.Stage)), Tone: table.Strong}
}
