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
		"fit": {rundir.Stage{Lag: late(0.001), ReadDelay: late(0.001),
			ClientCPU: rundir.Exactly(0.5)}, ""},
		"sent late":                   {rundir.Stage{Lag: late(0.06)}, noteSentLate.Code},
		"read late, but each by each": {rundir.Stage{ReadDelay: late(0.06), SharedChunks: rundir.Exactly(0.1)}, ""},
		"packed by the server":        {rundir.Stage{ReadDelay: late(0.001), SharedChunks: rundir.Exactly(0.9)}, ""},
		"read late": {rundir.Stage{ReadDelay: late(0.06), SharedChunks: rundir.Exactly(0.5)},
			noteReadLate.Code},
		"busy": {rundir.Stage{ClientCPU: rundir.Exactly(0.98), ClientGC: rundir.Exactly(0.49)},
			noteNoCPULeft.Code},
	} {
		if got := Unfit(&c.st); got.Code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// TestWhoSendsTokensTogether: the server is named only where the client read them in time.
func TestWhoSendsTokensTogether(t *testing.T) {
	for name, c := range map[string]struct {
		p90, p99, gap float64
		named         bool
	}{
		"read at once":                    {0.001, 0.002, 0.02, true},
		"read later than the next token":  {0.03, 0.04, 0.02, false},
		"the client was the limit":        {0.01, 0.06, 0.02, false},
		"a few reads were late, not many": {0.005, 0.04, 0.02, true},
	} {
		st := &rundir.Stage{
			ReadDelay: rundir.Dist{P90: rundir.Exactly(c.p90), P99: rundir.Exactly(c.p99)}, InterToken: rundir.Exactly(c.gap),
			SharedChunks: rundir.Exactly(0.5),
		}
		if readLate(st) == c.named {
			t.Errorf("%s: the server is named: %v, want %v", name, !c.named, c.named)
		}
	}
}
