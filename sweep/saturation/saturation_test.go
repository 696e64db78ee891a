package saturation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
)

// row is a whole stage at an asked rate.
func row(rate, done float64, verdict rundir.Verdict) rundir.Stage {
	return rundir.Stage{
		Name: "poisson@" + arrival.RateName(rate), Role: rundir.Grid, State: rundir.Complete, Rate: rundir.Exactly(rate), Verdict: verdict,
		Window: 60, Requests: rundir.Requests{OK: 100}, Rates: rundir.Rates{Offered: rundir.Exactly(rate)},
		Progress:   rundir.Progress{Rate: rundir.Exactly(done), Low: rundir.Exactly(done * 0.99), High: rundir.Exactly(done * 1.01), Batches: 12},
		TokensPerS: rundir.TokenRates{Output: rundir.Exactly(done * 100)},
		Drift:      rundir.Drift{Value: rundir.Exactly(rate/done - 1)},
	}
}

func ceilingRow(done float64) rundir.Stage {
	st := row(1, done, rundir.Closed)
	st.Name, st.Role, st.Rate, st.MaxConcurrency = "throughput", rundir.Ceiling, rundir.Number{}, 64
	return st
}

func TestFind(t *testing.T) {
	spoiled := row(12, 5, rundir.Saturated)
	spoiled.Invalid = note.Text.New("the client sent late")
	against := func(stage string) []note.Note { return []note.Note{noteAgainst.New(stage, rundir.Saturated)} }
	costs := func(overload float64) []note.Note {
		return []note.Note{noteOverloadOrChange.New(12., 64, overload, 30.)}
	}
	for name, c := range map[string]struct {
		rows              []rundir.Stage
		rate              float64
		stable, saturated float64 // 0: none
		notes             []note.Note
	}{
		"as it should be": {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable), row(9, 9, rundir.Stable), row(11, 10, rundir.Saturated)}, 10, 9, 11, nil},
		"none saturated":  {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable)}, 10, 5, 0, nil},
		"a lone exception": {[]rundir.Stage{ceilingRow(10), row(4, 4, rundir.Stable), row(5, 5, rundir.Saturated), row(8, 8, rundir.Stable),
			row(12, 10, rundir.Saturated)}, 10, 8, 12, against("poisson@5.00")},
		"a lull taken for a limit, until it is held": {[]rundir.Stage{ceilingRow(9), row(4, 3, rundir.Saturated), row(7, 7, rundir.Undecided), row(12, 10, rundir.Saturated)}, 3.58, 0, 12,
			[]note.Note{noteOverloadOrChange.New(9., 64, 3.7867584599075457, 30.)}},
		"the closed loop was too narrow":                 {[]rundir.Stage{ceilingRow(7), row(8, 8, rundir.Stable), row(12, 10, rundir.Saturated)}, 10, 8, 12, nil},
		"overload costs":                                 {[]rundir.Stage{ceilingRow(12), row(8, 8, rundir.Stable), row(13, 10, rundir.Saturated), row(14, 10, rundir.Saturated)}, 9.97, 8, 13, costs(10)},
		"the client's fault":                             {[]rundir.Stage{ceilingRow(10), row(8, 8, rundir.Stable), spoiled}, 10, 8, 0, nil},
		"saturated at what it was offered is no plateau": {[]rundir.Stage{ceilingRow(10), row(6, 6, rundir.Saturated), row(12, 10, rundir.Saturated)}, 6, 0, 12, nil},
		"most repetitions decide": {[]rundir.Stage{ceilingRow(10), row(8, 8, rundir.Saturated), row(8, 8, rundir.Stable), row(8, 8, rundir.Stable),
			row(12, 10, rundir.Saturated), row(12, 10, rundir.Stable), row(12, 10, rundir.Saturated)}, 10, 8, 12,
			[]note.Note{noteMixedVerdicts.New(8, 2, 1), noteMixedVerdicts.New(12, 1, 2)}},
		"no repetition outdoes another at its own rate": {[]rundir.Stage{row(5, 5, rundir.Stable), row(12, 9.85, rundir.Saturated), row(12, 10.15, rundir.Saturated)},
			10, 5, 12, nil},
		"a rate that is half this and half that is neither": {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable), row(5, 5, rundir.Stable),
			row(9, 9, rundir.Stable), row(9, 9, rundir.Saturated), row(12, 10, rundir.Saturated), row(12, 10, rundir.Saturated)}, 10, 5, 12,
			[]note.Note{noteMixedVerdicts.New(9, 1, 1)}},
	} {
		s, notes := Find(&rundir.Run{Stages: c.rows})
		if s == nil {
			t.Errorf("%s: no saturation", name)
			continue
		}
		if off := s.Rate.Value() - c.rate; off > 0.05 || off < -0.05 || s.Low.Value() > c.rate || s.High.Value() < c.rate {
			t.Errorf("%s: %v (%v-%v), want %v", name, s.Rate.Value(), s.Low.Value(), s.High.Value(), c.rate)
		}
		for what, f := range map[string]struct {
			got  rundir.Number
			want float64
		}{"highest stable": {s.HighestStable, c.stable}, "lowest saturated": {s.LowestSaturated, c.saturated}} {
			if f.got.Known() != (f.want > 0) || f.want > 0 && f.got.Value() != f.want {
				t.Errorf("%s: %s is %v, want %v", name, what, f.got.Value(), f.want)
			}
		}
		if diff := cmp.Diff(c.notes, notes, cmpopts.EquateApprox(0.01, 0)); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
		if s.Reason.IsZero() {
			t.Errorf("%s: no reason", name)
		}
	}
	if s, notes := Find(&rundir.Run{Stages: []rundir.Stage{ceilingRow(5), row(6, 6, rundir.Stable), row(9, 9, rundir.Undecided)}}); s != nil || len(notes) != 1 || !notes[0].Is(noteNotFilled) {
		t.Errorf("a ceiling that was no limit saturates at %v, notes %v", s, notes)
	}
	if s, notes := Find(&rundir.Run{Stages: nil}); s != nil || notes != nil {
		t.Errorf("nothing saturates at %v, notes %v", s, notes)
	}
}

// TestTheLoneRequestMayBeFaster: where the floor completes more than the saturation rate, the answer says so.
func TestTheLoneRequestMayBeFaster(t *testing.T) {
	for _, alone := range []float64{13.7, 16.2} {
		floor := row(1, alone, rundir.Closed)
		floor.Role, floor.Rate, floor.MaxConcurrency = rundir.Floor, rundir.Number{}, 1
		s, _ := Find(&rundir.Run{Stages: []rundir.Stage{floor, ceilingRow(13.7), row(10, 10, rundir.Stable), row(18, 13.7, rundir.Saturated)}})
		if got := len(s.Cautions) == 1 && s.Cautions[0].Is(noteBelowLone); got != (alone > 14) {
			t.Errorf("%v req/s alone: cautions %v", alone, s.Cautions)
		}
	}
}

// The edge never parts the repetitions of one rate, in whatever order they ran.
func TestTheEdgePartsNoRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verdicts := []rundir.Verdict{rundir.Stable, rundir.Saturated, rundir.Undecided}
		var rows []rundir.Stage
		for rate := range rapid.IntRange(1, 5).Draw(t, "rates") {
			for range rapid.IntRange(1, 4).Draw(t, "repeats") {
				rows = append(rows, row(float64(rate+1), float64(rate+1), rapid.SampledFrom(verdicts).Draw(t, "verdict")))
			}
		}
		f := finder{open: Open(rows)}
		open, cut := f.open, f.edge()
		if cut > 0 && cut < len(open) && open[cut-1].Rate == open[cut].Rate {
			t.Fatalf("cut at %d of %d, among the rows at %v req/s", cut, len(open), open[cut].Rate.Value())
		}
	})
}

func TestWhatAServerRanOutOf(t *testing.T) {
	f := rundir.Exactly
	for name, c := range map[string]struct {
		s    *rundir.Server
		want string
	}{
		"nothing known":         {nil, ""},
		"preemptions":           {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(0), KVUsageMax: f(0.9), Preemptions: f(3)}, rundir.LimitKV},
		"a full cache":          {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(9), KVUsageMax: f(0.98), Preemptions: f(0)}, rundir.LimitKV},
		"as many as ever":       {&rundir.Server{Running: f(255), RunningMax: f(256), Waiting: f(30), KVUsageMax: f(0.6), Preemptions: f(0)}, rundir.LimitSlots},
		"all run, none waits":   {&rundir.Server{Running: f(90), RunningMax: f(140), Waiting: f(0), KVUsageMax: f(0.3), Preemptions: f(0)}, rundir.LimitCompute},
		"no word of a KV cache": {&rundir.Server{Running: f(4), RunningMax: f(4), Waiting: f(12)}, rundir.LimitSlots},
		"none ever runs":        {&rundir.Server{Running: f(0), RunningMax: f(0), Waiting: f(711), KVUsageMax: f(0), Preemptions: f(0)}, ""},
	} {
		if got := ranOut(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
