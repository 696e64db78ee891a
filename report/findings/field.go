package findings

import "llmsweep/report/table"

// StageField is a column of a table of stages, and how its cells are made.
type StageField struct {
	table.Column
	Cell func(r StageRow) table.Cell
}

// NewStageField returns a column headed head whose cells cell makes.
func NewStageField(head table.Column, cell func(r StageRow) table.Cell) StageField {
	return StageField{head, cell}
}

// TabulateStages returns a table with a row for each of rows.
func TabulateStages(title string, fields []StageField, rows []StageRow) table.Table {
	t := table.Table{Title: title}
	for _, f := range fields {
		t.Columns = append(t.Columns, f.Column)
	}
	for _, r := range rows {
		cells := make([]table.Cell, len(fields))
		for i, f := range fields {
			cells[i] = f.Cell(r)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}
