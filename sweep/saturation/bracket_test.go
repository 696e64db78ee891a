package saturation

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// holdRow is a stage that tested an answer, after all others.
func holdRow(rate, done float64, verdict rundir.Verdict) rundir.Stage {
	st := row(rate, done, verdict)
	st.Name, st.Role, st.Started = rundir.HoldPrefix+st.Name, rundir.Hold, 1000+rate
	st.Drift = rundir.Drift{Value: rundir.Exactly(0), Low: rundir.Exactly(-0.01), High: rundir.Exactly(0.02)}
	return st
}

// endedAt is a saturated stage that completed less once it was far behind: it lived on what the server had saved up before.
func endedAt(st rundir.Stage, done float64) rundir.Stage {
	st.Traits.Behind = rundir.Progress{Rate: rundir.Exactly(done), Low: rundir.Exactly(done * 0.99), High: rundir.Exactly(done * 1.01), Batches: 8}
	return st
}

// TestNextTestsTheAnswer: which rate is held next, and what is concluded once it was.
func TestNextTestsTheAnswer(t *testing.T) {
	plain := []rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable), row(9, 9, rundir.Stable), row(11, 10, rundir.Saturated)}
	bucket := []rundir.Stage{ceilingRow(21), row(5, 5, rundir.Stable), row(14, 14, rundir.Stable), endedAt(row(25, 16, rundir.Saturated), 10)}
	crowding := []rundir.Stage{ceilingRow(14), row(8, 8, rundir.Stable), row(16, 16, rundir.Stable), row(19.5, 4, rundir.Saturated)}
	unequal := []rundir.Stage{ceilingRow(17.1), row(10, 10, rundir.Stable), row(14, 12.7, rundir.Saturated), row(19, 15.2, rundir.Saturated), row(25, 17.1, rundir.Saturated)}
	with := func(rows []rundir.Stage, more ...rundir.Stage) []rundir.Stage {
		return append(rows[:len(rows):len(rows)], more...)
	}
	for name, c := range map[string]struct {
		rows            []rundir.Stage
		next            float64 // 0: none
		rate, low, high float64
		overload        bool
	}{
		"a plain server":                     {plain, 9.5, 10, 9.5, 10.5, false},
		"that held":                          {with(plain, holdRow(9.5, 9.5, rundir.Stable)), 0, 10, 9.2, 10.5, false},
		"that cannot be decided":             {with(plain, holdRow(9.5, 9.5, rundir.Undecided)), 0, 10, 8.7, 10.5, false},
		"that did not hold":                  {with(plain, endedAt(holdRow(9.5, 8, rundir.Saturated), 8)), 8.67, 9.12, 7.69, 9.69, false},
		"a burst was saved up":               {bucket, 14, 12, 3, 21, false},
		"the burst is used up":               {with(bucket, endedAt(holdRow(14, 11, rundir.Saturated), 10)), 9.5, 10, 9.4, 10.5, false},
		"and what is left is held":           {with(bucket, endedAt(holdRow(14, 11, rundir.Saturated), 10), holdRow(9.5, 9.5, rundir.Stable)), 0, 9.7, 8.8, 10.5, false},
		"overload costs":                     {crowding, 16, 17.75, 16, 19.5, true},
		"and the rate below is held":         {with(crowding, holdRow(16, 16, rundir.Stable)), 17.75, 17.75, 16, 19.5, true},
		"until the bracket is narrow":        {with(crowding, holdRow(16, 16, rundir.Stable), holdRow(17.75, 5, rundir.Saturated)), 0, 16.9, 16, 17.75, true},
		"a replica is slow":                  {unequal, 14, 14, 12.6, 17.6, false},
		"a slow replica, and what is held":   {with(unequal, holdRow(14, 12.7, rundir.Saturated), holdRow(12.1, 12.1, rundir.Stable)), 13.3, 14, 11.6, 14.3, false},
		"the bracket then closes from above": {with(unequal, holdRow(13.3, 12.3, rundir.Saturated), holdRow(12.1, 12.1, rundir.Stable)), 12.6, 12.3, 11.1, 13.6, false},
	} {
		run := &rundir.Run{Stages: c.rows}
		if next := Next(run); next < c.next-0.1 || next > c.next+0.1 {
			t.Errorf("%s: next is %.2f, want %.2f", name, next, c.next)
		}
		s, _ := Find(run)
		if s == nil || s.Overload.Known() != c.overload || s.Rate.Value() < c.rate-0.3 || s.Rate.Value() > c.rate+0.3 || s.Low.Value() < c.low-0.35 || s.High.Value() > c.high+0.35 {
			t.Errorf("%s: %.2f (%.2f-%.2f) overload %.1f, want %.2f (%.2f-%.2f)", name, s.Rate.Value(), s.Low.Value(), s.High.Value(), s.Overload.Value(), c.rate, c.low, c.high)
		}
	}
}
