package stages

import "llmsweep/report/table"

// Field is a column of a table of stages, and how its cells are made.
type Field struct {
	table.Column
	Cell func(r Row) table.Cell
}

// NewField returns a column headed head whose cells cell makes.
func NewField(head table.Column, cell func(r Row) table.Cell) Field { return Field{head, cell} }

// Tabulate returns a table with a row for each of rows.
func Tabulate(title string, fields []Field, rows []Row) table.Table {
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
