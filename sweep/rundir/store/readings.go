package store

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// AppendReadings writes the readings of a stage.
func (d *Dir) AppendReadings(all []rundir.Reading) error {
	return appendTo(d, rundir.ReadingsFile, all)
}

// Readings yields the readings in a run directory, in the order in which they were written; none where there is no
// file.
func Readings(path string) iter.Seq2[*rundir.Reading, error] {
	return values[rundir.Reading](path, rundir.ReadingsFile)
}
