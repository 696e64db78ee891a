package measure

import (
	"llmsweep/sweep/rundir"
	"testing"
)

func TestUnfit(t *testing.T) {
	late := func(seconds float64) rundir.Dist { return rundir.Dist{P99: rundir.Exactly(seconds)} }
	for name, c := range map[string]struct {
		st   rundir.Stage
		want string // the note's code; empty: fit
	}{
		"fit":                         {rundir.Stage{Lag: late(0.001), ReadDelay: late(0.001), ClientCPU: rundir.Exactly(0.5)}, ""},
		"sent late":                   {rundir.Stage{Lag: late(0.06)}, noteSentLate.Code},
		"read late, but each by each": {rundir.Stage{ReadDelay: late(0.06), SharedChunks: rundir.Exactly(0.1)}, ""},
		"packed by the server":        {rundir.Stage{ReadDelay: late(0.001), SharedChunks: rundir.Exactly(0.9)}, ""},
		"read late":                   {rundir.Stage{ReadDelay: late(0.06), SharedChunks: rundir.Exactly(0.5)}, noteReadLate.Code},
		"busy": {rundir.Stage{ClientCPU: rundir.Exactly(0.98), ClientGC: rundir.Exactly(0.49)},
			noteNoCPULeft.Code},
	} {
		if got := Unfit(&c.st); got.Code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}
