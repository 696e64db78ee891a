package recorded

import (
	"iter"
	"time"
)

// Row is a request of a trace.
type Row struct {
	At             time.Duration // since the first request, as it was recorded
	Prompt, Output int
	Hashes         []int64 // of the leading blocks of the prompt, each for everything up to its end; only with the option Share
}

// All returns the requests of the trace in order.
func (t *Trace) All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i, at := range t.log.at {
			if !yield(Row{at, int(t.log.prompt[i]), int(t.log.output[i]), t.log.hashesOf(i)}) {
				return
			}
		}
	}
}

// Block returns the number of tokens that a hash of a [Row] stands for.
func (t *Trace) Block() int { return t.options.Block }
