package saturation

import (
	"math"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// refusing is a stage whose refusals a bucket and a full queue explain.
func refusing(rate float64, errors int, unit string, bucket, full float64) rundir.Stage {
	st := row(rate, 10, rundir.Shedding)
	st.Requests.Error = errors
	st.Traits.Limit = rundir.Bucket{Unit: unit, Rate: rundir.Exactly(10), Low: rundir.Exactly(9.9), High: rundir.Exactly(10.1), Burst: rundir.Exactly(5), Agrees: rundir.Exactly(bucket)}
	st.Traits.Full = rundir.Exactly(full)
	return st
}

// A token bucket must explain the refusals of all stages, and more of them than a full queue does.
func TestBucketOf(t *testing.T) {
	for name, c := range map[string]struct {
		rows []rundir.Stage
		want bool
	}{
		"a bucket":                           {[]rundir.Stage{refusing(11, 30, "requests", 1, 0.6), refusing(15, 200, "requests", 1, 0.7)}, true},
		"of an earlier version":              {[]rundir.Stage{{}, row(9, 9, rundir.Stable), refusing(15, 200, "requests", 1, math.NaN())}, true},
		"few refusals fit anything":          {[]rundir.Stage{refusing(11, 30, "tokens", 1, 0.9), refusing(15, 200, "requests", 0.8, 0.7)}, false},
		"a full queue explains them as well": {[]rundir.Stage{refusing(11, 30, "requests", 1, 1), refusing(15, 200, "requests", 1, 1)}, false},
	} {
		if b := bucketOf(Open(c.rows), nil); b.Rate.Known() != c.want {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// The saturation rate of a server with a cache is that with the cache's share of all answers, also where chance gave a stage another one.
func TestChanceOfACacheIsTakenOut(t *testing.T) {
	cached := func(st rundir.Stage, share, perSecond float64) rundir.Stage {
		st.Requests.OK = 1000
		st.Traits.Whole, st.Traits.WholeTime, st.Traits.WholeRate = rundir.Exactly(share), rundir.Exactly(0.005), rundir.Exactly(perSecond)
		return st
	}
	// The model does 8 per second, and a fifth comes from the cache: 10 is sustained. More came from it while the ceiling was measured.
	run := &rundir.Run{Stages: []rundir.Stage{
		cached(ceilingRow(11), 0.27, 3), cached(row(5, 5, rundir.Stable), 0.2, 1), cached(row(9, 9, rundir.Stable), 0.2, 1.8),
		cached(row(12, 10.4, rundir.Saturated), 0.2, 2.4),
	}}
	s, _ := Find(run)
	if s == nil || math.Abs(s.Rate.Value()-10) > 0.05 || s.Low.Value() > 9.9 || s.High.Value() < 10.1 {
		t.Errorf("%+v, want 10", s)
	}
}

// A collapse is shown also where the stages far behind are too short for batches: no stage beyond the edge completes nearly as much as the
// closed loop. The edge then lies between the verdicts, and may lie above what the closed loop completed.
func TestCollapseWithoutBatches(t *testing.T) {
	beyond := row(13, 6, rundir.Saturated)
	beyond.Traits.Behind = rundir.Progress{Rate: rundir.Exactly(4)}
	run := &rundir.Run{Stages: []rundir.Stage{ceilingRow(12), row(4, 4, rundir.Stable), row(8, 8, rundir.Stable), row(11, 11, rundir.Stable), beyond}}
	s, _ := Find(run)
	if s == nil || !s.Overload.Known() || s.Low.Value() < 10.5 || s.High.Value() > 13 || s.High.Value() < 12.2 {
		t.Errorf("%+v, want 11 to 13", s)
	}
}

// A ceiling that a later row exceeded is marked, and rows of a changed server are not pooled.
func TestChangedServers(t *testing.T) {
	stages := []rundir.Stage{ceilingRow(10), row(8, 8, rundir.Stable), row(18, 18, rundir.Stable), row(22, 20, rundir.Saturated), row(23, 20.4, rundir.Saturated)}
	again := ceilingRow(20)
	again.Role = rundir.Control
	alone, aloneAgain := ceilingRow(1), ceilingRow(1)
	for i, st := range []*rundir.Stage{&alone, &aloneAgain} {
		st.MaxConcurrency, st.Role = 1, []rundir.Role{rundir.Floor, rundir.Control}[i]
		st.Name, st.InterToken, st.TPOT = "synchronous", rundir.Exactly(0.01), rundir.Dist{N: 50, Std: rundir.Exactly(0.0001)}
	}
	run := &rundir.Run{Stages: append(append([]rundir.Stage{alone}, stages...), aloneAgain, again)}
	for i := range run.Stages {
		run.Stages[i].Started, run.Stages[i].Window = float64(i), 60
	}
	MarkCeiling(run.Stages)
	MarkCeiling(run.Stages)
	if w := run.Stages[1].Warnings; len(w) != 1 || !w[0].Is(Exceeded) {
		t.Errorf("the ceiling of half the server has the warnings %v", w)
	}
	if len(changes(run)) == 0 {
		t.Fatal("the change is not found")
	}
	s, notes := Find(run)
	if s == nil || s.Rate.Value() != 20.4 || len(notes) == 0 || !notes[len(notes)-1].Is(noteLatestAlone) {
		t.Errorf("%+v, %v: want the latest row alone", s, notes)
	}
	if repeats := func() bool { return len(note.Add(nil, repeated(run))) > 0 && !repeated(run).IsZero() }; repeats() {
		t.Error("repetitions that there are not are not pooled")
	}
	run.Stages[4].Repeat = 2
	if repeated(run).IsZero() {
		t.Error("repetitions of a changed server are pooled")
	}
	plain := []rundir.Stage{ceilingRow(10), row(8, 8, rundir.Stable), row(12, 10.2, rundir.Saturated)}
	if MarkCeiling(plain); len(plain[0].Warnings) > 0 {
		t.Errorf("a plain server's ceiling has the warnings %v", plain[0].Warnings)
	}
}

// The evidence for a server that drops connections is the share that failed; that less is completed than in a closed loop is no overload.
func TestDroppingServers(t *testing.T) {
	beyond := row(12, 6, rundir.Shedding)
	beyond.Requests = rundir.Requests{OK: 50, Error: 50}
	beyond.Errors = map[string]int{"reset": 50}
	ceiling := ceilingRow(10)
	ceiling.Requests.OK = 50
	s, notes := Find(&rundir.Run{Stages: []rundir.Stage{ceiling, beyond}})
	if s == nil || !s.Reason.Is(noteUndone) || len(notes) > 0 {
		t.Errorf("%+v, %v", s, notes)
	}
}
