package answer

import (
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// A search for the ceiling that was cut gives a lower bound, unless an arrival rate was shown to be saturated; and no interval reaches
// below zero.
func TestACutSearchGivesALowerBound(t *testing.T) {
	ceiling := rundir.Stage{
		Name: "throughput", Role: rundir.Ceiling, State: rundir.Complete, Verdict: rundir.Closed, MaxConcurrency: 16,
		Requests: rundir.Requests{OK: 16}, Progress: rundir.Progress{Rate: rundir.Exactly(13), Low: rundir.Exactly(13), High: rundir.Exactly(13), Batches: 1},
	}
	stable := rundir.Stage{
		Name: "poisson@14.00", Role: rundir.Grid, State: rundir.Complete, Verdict: rundir.Stable, Rate: rundir.Exactly(14),
		Requests: rundir.Requests{OK: 100}, Progress: rundir.Progress{Rate: rundir.Exactly(13), Low: rundir.Exactly(12), High: rundir.Exactly(14), Batches: 9},
	}
	saturated := stable
	saturated.Name, saturated.Verdict, saturated.Rate = "poisson@18.00", rundir.Saturated, rundir.Exactly(18)
	saturated.Rates.Offered = rundir.Exactly(18)
	for _, c := range []struct {
		stages []rundir.Stage
		cut    []note.Note
		rate   rundir.Number
	}{
		{[]rundir.Stage{ceiling, stable}, []note.Note{BudgetCeiling.New(16)}, rundir.Over(14)},
		{[]rundir.Stage{ceiling}, []note.Note{CeilingBounded.New(16)}, rundir.Over(13)},
		{[]rundir.Stage{ceiling}, nil, rundir.Exactly(13)},
		{[]rundir.Stage{ceiling, saturated}, []note.Note{BudgetCeiling.New(16)}, rundir.Exactly(13)},
	} {
		run := &rundir.Run{Stages: c.stages, Warnings: c.cut}
		conclude(run)
		s := run.Saturation
		if s == nil || s.Rate != c.rate || s.Low.Value() < 0 || s.Reason.IsZero() {
			t.Errorf("%d stages, %v: %+v, want %v", len(c.stages), c.cut, s, c.rate)
		}
	}
}
