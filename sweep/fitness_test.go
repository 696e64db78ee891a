package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// starved waits as a client does whose machine has no time for it.
type starved struct{ late time.Duration }

func (s starved) Wait(until time.Time, quit <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(until.Add(s.late))):
		return true
	case <-quit:
		return false
	}
}

// A client that is itself the limit must say so, and not blame the server.
func TestAStarvedClientMarksItsRows(t *testing.T) {
	for _, late := range []time.Duration{0, 80 * time.Millisecond} {
		virtually(t, preset(t, "demo"), func(t *testing.T, d Doer) {
			c, run := experimentWith(d, fixed{64, 16}), &rundir.Run{}
			c.Waiter, c.Points, c.StageTime, c.StageMax = starved{late}, 3, 10*time.Second, 30*time.Second
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
			for _, st := range run.Stages {
				spoiled := st.Rate.Known() && late > 0
				if (!st.Invalid.IsZero()) != spoiled {
					t.Errorf("%v late: %s is marked %q", late, st.Name, st.Invalid)
				}
				if spoiled && !strings.Contains(fmt.Sprint(st.Invalid), noteSentLate.Code) {
					t.Errorf("%q names neither culprit nor remedy", st.Invalid)
				}
			}
			if run.Client.Valid != (late == 0) {
				t.Errorf("%v late: the client is called fit: %v", late, run.Client.Valid)
			}
			if s := run.Saturation; late > 0 && s != nil && (s.LowestSaturated.Known() || s.HighestStable.Known()) {
				t.Errorf("rows that the client spoiled bracket the answer: %+v", s)
			}
		})
	}
}

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
		if got := unfit(&c.st); got.Code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}
