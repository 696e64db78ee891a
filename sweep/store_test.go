package sweep

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// collect reads all records of a stage.
func collect(l Log, stage string) ([]*rundir.Record, error) {
	var records []*rundir.Record
	for r, err := range l.Records(stage) {
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// listed yields records as a log does.
func listed(records []*rundir.Record) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
