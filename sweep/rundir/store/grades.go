package store

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// Grades yields the outcomes of graded questions in a run directory; none where there is no file.
func Grades(path string) iter.Seq2[*rundir.Grade, error] {
	return values[rundir.Grade](path, rundir.GradesFile)
}

// AppendGrades writes the outcomes of graded questions.
func (d *Dir) AppendGrades(all []rundir.Grade) error { return appendTo(d, rundir.GradesFile, all) }

// Grades yields the outcomes that have been appended so far.
func (d *Dir) Grades() iter.Seq2[*rundir.Grade, error] { return Grades(d.Path) }
