package compare

import (
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// checkedRow is a configuration in a table of checked answers.
type checkedRow struct {
	name    string
	cells   []table.Cell // of the columns of the check
	verdict table.Cell
	speed   []table.Cell
}

// checkedTable has a row for the baseline, and one for each of n candidates. The columns of the check stand between the name and the verdict, those
// of the speed after it. Cells that a row lacks are n/a.
func checkedTable(columns, speed []table.Column, baseline checkedRow, n int, candidate func(i int) checkedRow) table.Table {
	t := table.Table{Columns: slices.Concat([]table.Column{{Head: headSetup.Text(), Left: true}}, columns, []table.Column{{Head: checkedVerdict.Text(), Left: true}}, speed)}
	add := func(r checkedRow) {
		row := []table.Cell{{Text: table.Literal(r.name).Text, Tone: table.Strong}}
		row = append(row, filled(r.cells, len(columns))...)
		row = append(row, r.verdict)
		t.Rows = append(t.Rows, append(row, filled(r.speed, len(speed))...))
	}
	baseline.verdict = table.Cell{Text: checkedBaseline.Text(), Tone: table.Faint}
	add(baseline)
	for i := range n {
		add(candidate(i))
	}
	return t
}

// filled returns n cells: those given, then n/a.
func filled(cells []table.Cell, n int) []table.Cell {
	cells = slices.Clone(cells)
	for len(cells) < n {
		cells = append(cells, table.Absent())
	}
	return cells
}

// estimated returns the cell of an estimate; n/a where that is not known.
func estimated(e rundir.Estimate, c table.Cell) table.Cell {
	if !e.Mean.Known() {
		return table.Absent()
	}
	return c
}

// checkedShare returns how many answers are right, or how likely a text is; n/a where nothing was checked.
func checkedShare(c findings.Checked) table.Cell {
	if c.Share == "" {
		return table.Absent()
	}
	return table.Literal(c.Share)
}

// checkedSections returns a section for each way in which answers were checked.
func checkedSections(answers []AnswerCandidate, speed answerSpeed, grades []GradeCandidate, level int) (all []table.Section) {
	if len(answers) > 0 {
		all = append(all, answerSection(answers, speed, level))
	}
	if len(grades) > 0 {
		all = append(all, gradeSection(grades, level))
	}
	return all
}
