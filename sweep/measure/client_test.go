package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A client is unfit beyond each limit. What the server packed is no fault of the client.
func TestUnfit(t *testing.T) {
	late := func(seconds float64) rundir.Dist { return rundir.Dist{P99: rundir.Exactly(seconds)} }
	for name, c := range map[string]struct {
		lag, delay, shared, cpu float64
		want                    string // the note's code; empty: fit
	}{
		"fit":            {0.049, 0.049, 0.9, 0.949, ""},
		"sent late":      {0.051, 0, 0, 0, noteSentLate.Code},
		"read late":      {0, 0.051, 0.21, 0, noteReadLate.Code},
		"each by itself": {0, 0.051, 0.19, 0, ""},
		"busy":           {0, 0, 0, 0.951, noteNoCPULeft.Code},
	} {
		st := rundir.Stage{Lag: late(c.lag), ReadDelay: late(c.delay), SharedChunks: rundir.Exactly(c.shared),
			ClientCPU: rundir.Exactly(c.cpu)}
		if got := Unfit(&st); got.Code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// The server is named for tokens that came together only where the client read them in time.
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
