package saturation

import (
	"math"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// A search for the ceiling that was cut gives a lower bound, unless an arrival rate was shown to be saturated; and no interval reaches
// below zero.
func TestACutSearchGivesALowerBound(t *testing.T) {
	ceiling := rundir.Stage{
		Name: "throughput", Role: rundir.Ceiling, State: rundir.Complete, Verdict: rundir.Closed, MaxConcurrency: 16,
		Requests: rundir.Requests{OK: 16}, Progress: rundir.Progress{Rate: rundir.Exactly(13), Low: rundir.Exactly(13), High: rundir.Exactly(13), Batches: 9},
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
		if s == nil || s.Rate.Bound() != c.rate.Bound() || math.Abs(s.Rate.Value()-c.rate.Value()) > 1e-9 || s.Low.Value() < 0 || s.Reason.IsZero() {
			t.Errorf("%d stages, %v: %+v, want %v", len(c.stages), c.cut, s, c.rate)
		}
	}
}

// An interval that is too wide to plan with is no answer: the bounds that were found are given instead, and a longer run is advised. What the
// search for the ceiling completed is a lower bound.
func TestAWideIntervalIsNoAnswer(t *testing.T) {
	sweep := func(low, high, output float64) *rundir.Run {
		floor := rundir.Stage{
			Name: "synchronous", Role: rundir.Floor, State: rundir.Complete, Verdict: rundir.Closed, MaxConcurrency: 1, Requests: rundir.Requests{OK: 10},
			Progress: rundir.Progress{Rate: rundir.Exactly(2)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(200)},
		}
		ceiling := floor
		ceiling.Name, ceiling.Role, ceiling.MaxConcurrency = "throughput", rundir.Ceiling, 16
		ceiling.Progress = rundir.Progress{Rate: rundir.Exactly((low + high) / 2), Low: rundir.Exactly(low), High: rundir.Exactly(high), Batches: 12}
		return &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep, Budget: 60, StageTime: 60}, Stages: []rundir.Stage{floor, ceiling},
			Search: []rundir.SearchStep{{Name: "search@16", Output: rundir.Exactly(output)}},
		}
	}
	for _, c := range []struct {
		low, high, output   float64
		rate, from, to, ask float64
	}{
		{18, 22, 1000, 20, 18, 22, 0},
		{16, 24, 1000, 20, 16, 24, 0},                             // by 20 % to either side: its comfortable load is sustained
		{15, 25, 1000, math.NaN(), 15, 25, 120},                   // by 25 %
		{-4, 44, 1050, math.NaN(), 1050 / 1.05 / 100, 44, 60 * 4}, // the search completed 10 req/s
		{-4, 8, 1050, math.NaN(), 0, 8, 4 * 60},                   // more than any stage did later: a short step of the search decides nothing
	} {
		run := sweep(c.low, c.high, c.output)
		conclude(run)
		s := run.Saturation
		same := func(n rundir.Number, want float64) bool {
			return n.Known() && math.Abs(n.Value()-want) < 0.5 || !n.Known() && math.IsNaN(want)
		}
		if s == nil || !same(s.Rate, c.rate) || !same(s.Low, c.from) || !same(s.High, c.to) || s.Comfortable.Known() != s.Rate.Known() {
			t.Errorf("%v-%v: %+v", c.low, c.high, s)
			continue
		}
		if ask, _ := s.Reason.Args["budget"].(float64); ask != c.ask {
			t.Errorf("%v-%v asks for a budget of %v s, want %v", c.low, c.high, ask, c.ask)
		}
	}
}

// TestARateThatOnlySpoiledRowsWouldTest is not located: of two unequal replicas the throughput shows more than they sustain.
func TestARateThatOnlySpoiledRowsWouldTest(t *testing.T) {
	floor, spoiled := ceilingRow(2), holdRow(16, 16, rundir.Stable)
	floor.Role, floor.Name, floor.MaxConcurrency = rundir.Floor, "synchronous", 1
	for _, late := range []bool{false, true} {
		if late {
			spoiled.Invalid = note.Text.New("the client sent late")
		}
		run := &rundir.Run{Plan: rundir.Plan{Kind: rundir.KindSweep}, Stages: []rundir.Stage{floor, ceilingRow(17), spoiled}}
		conclude(run)
		if s := run.Saturation; s == nil || s.Rate.Known() == late || late && !(s.Low.Value() <= 2) {
			t.Errorf("late %v: %+v", late, s)
		}
	}
}

// TestACollapseBoundsNothingFromAbove: what a server completes that slows down under overload is not the most that it sustains, where no stage below was stable.
func TestACollapseBoundsNothingFromAbove(t *testing.T) {
	run := &rundir.Run{Plan: rundir.Plan{Kind: rundir.KindSweep}, Stages: []rundir.Stage{ceilingRow(22.9), endedAt(holdRow(21.7, 12, rundir.Saturated), 6.7)}}
	conclude(run)
	if s := run.Saturation; s == nil || s.Rate.Known() || s.High.Value() < 21 {
		t.Errorf("%+v", s)
	}
}

// A throughput stage that a budget ended before it was steady shows only how it began. What the search completed before is known all the same,
// and the reason names a longer budget.
func TestACeilingThatIsTooShortIsNone(t *testing.T) {
	floor := rundir.Stage{
		Name: "synchronous", Role: rundir.Floor, State: rundir.Complete, MaxConcurrency: 1, Requests: rundir.Requests{OK: 10},
		Progress: rundir.Progress{Rate: rundir.Exactly(2)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(200)},
	}
	ceiling := rundir.Stage{
		Name: "throughput", Role: rundir.Ceiling, State: rundir.Complete, MaxConcurrency: 16, Requests: rundir.Requests{OK: 3},
		Progress: rundir.Progress{Rate: rundir.Exactly(0.1), Low: rundir.Exactly(0), High: rundir.Exactly(0.2), Batches: 3},
		Warnings: []note.Note{measure.TooShort.New()},
	}
	run := &rundir.Run{
		Plan: rundir.Plan{Kind: rundir.KindSweep, Budget: 60}, Stages: []rundir.Stage{floor, ceiling},
		Search: []rundir.SearchStep{{Output: rundir.Exactly(500)}, {Output: rundir.Exactly(1050)}, {}},
	}
	conclude(run)
	s := run.Saturation
	if s == nil || !s.Rate.Bound() || math.Abs(s.Rate.Value()-10) > 1e-9 || s.Reason.Args["advice"] != 120.0 {
		t.Errorf("%+v, want at least 10 req/s and advice", s)
	}
}

// TestASweepThatFilledNothing says which rate the server kept up with, and does not say so of one that was undecided. The advice is what ended the
// search for the ceiling.
func TestASweepThatFilledNothing(t *testing.T) {
	row := func(rate float64, verdict rundir.Verdict) rundir.Stage {
		return rundir.Stage{ // more was asked for than arrived: sentences have what arrived, as tables do
			Name: "poisson", Role: rundir.Grid, State: rundir.Complete, Verdict: verdict, Rate: rundir.Exactly(1.1 * rate), Requests: rundir.Requests{OK: 100},
			Rates: rundir.Rates{Offered: rundir.Exactly(rate)}, Progress: rundir.Progress{Rate: rundir.Exactly(rate), Low: rundir.Exactly(rate), High: rundir.Exactly(rate), Batches: 9},
		}
	}
	for _, c := range []struct {
		last                         rundir.Verdict
		notes                        []note.Note
		undecided, inFlight, advised float64 // 0 for none
	}{
		{rundir.Undecided, nil, 43.9, 0, 40},
		{rundir.Stable, []note.Note{CeilingBounded.New(16)}, 0, 32, 0},
	} {
		run := &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep, StageTime: 20, MaxConcurrency: 16}, Warnings: c.notes,
			Stages: []rundir.Stage{row(20, rundir.Stable), row(38.6, rundir.Stable), row(43.9, c.last)},
		}
		n, ok := whyNone(run)
		kept := 38.6
		if c.undecided == 0 {
			kept = 43.9
		}
		got := func(name string) float64 {
			v, _ := n.Args[name].(float64)
			return v
		}
		if !ok || !n.Is(noteNoneFilled) || got("rate") != kept || got("undecided") != c.undecided || got("max_concurrency") != c.inFlight || got("stage_time") != c.advised {
			t.Errorf("last row %s: %v", c.last, n)
		}
	}
}

// A throughput stage that was never steady does not show that the server was not full.
func TestAThroughputStageThatWasTooShort(t *testing.T) {
	for _, c := range []struct {
		ceiling rundir.Stage
		want    note.Kind
	}{
		{rundir.Stage{Warnings: []note.Note{measure.TooShort.New()}, Progress: rundir.Progress{Rate: rundir.Exactly(30)}}, noteNoneSteady},
		{rundir.Stage{}, noteNoneSteady}, // no rate at all
		{rundir.Stage{Progress: rundir.Progress{Rate: rundir.Exactly(30), Low: rundir.Exactly(29), High: rundir.Exactly(31), Batches: 9}}, noteNoneFilled},
	} {
		c.ceiling.Name, c.ceiling.Role, c.ceiling.State, c.ceiling.MaxConcurrency = "throughput", rundir.Ceiling, rundir.Complete, 16
		rate := rundir.Exactly(38.6)
		row := rundir.Stage{
			Name: "poisson", Role: rundir.Grid, State: rundir.Complete, Verdict: rundir.Stable, Rate: rate, Requests: rundir.Requests{OK: 100},
			Progress: rundir.Progress{Rate: rate, Low: rate, High: rate, Batches: 9},
		}
		// The limit of the search for the ceiling does not matter where the stage was too short.
		run := &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep, StageTime: 20, MaxConcurrency: 16}, Warnings: []note.Note{CeilingBounded.New(16)},
			Stages: []rundir.Stage{c.ceiling, row},
		}
		n, ok := whyNone(run)
		if !ok || !n.Is(c.want) || n.Args["rate"] != 38.6 || c.want.Code == noteNoneSteady.Code && n.Args["stage_time"] != 40.0 {
			t.Errorf("%+v: %v", c.ceiling.Warnings, n)
		}
	}
}
