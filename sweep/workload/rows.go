package workload

import (
	"iter"
	"math"
	"time"
)

// DatasetRow is a request of a trace.
type DatasetRow struct {
	At             time.Duration // since the first request, as it was recorded
	Prompt, Output int
	Hashes         []int64 // of the leading blocks of the prompt, each for everything up to its end; only with the option Share
}

// All returns the requests of the trace in order.
func (t *Trace) All() iter.Seq[DatasetRow] {
	return func(yield func(DatasetRow) bool) {
		for i, at := range t.log.at {
			if !yield(DatasetRow{at, int(t.log.prompt[i]), int(t.log.output[i]), t.log.hashesOf(i)}) {
				return
			}
		}
	}
}

// Block returns the number of tokens that a hash of a [Row] stands for.
func (t *Trace) Block() int { return int(math.Round(t.block)) }
