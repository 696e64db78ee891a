// Package workload makes prompts: texts of a given length in tokens that no server has seen before, alone, behind
// shared prefixes or in conversations, rows of a dataset, and requests of a trace. It needs no tokenizer: it learns the
// length of texts by asking the server under test to count a few. It sends no requests itself.
package workload

import (
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Workload is the source of the requests of a run.
type Workload interface {
	// Stage returns a source of sessions for one stage. The same seed and name give the same sessions.
	Stage(name string) load.Source
	// Describe returns the workload as run.json has it. Lengths are in tokens, as asked for or as found in the data.
	Describe() rundir.Workload
}
