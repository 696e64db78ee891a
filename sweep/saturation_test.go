package sweep

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// row is a whole stage at an asked rate.
func row(rate, done float64, verdict string) rundir.Stage {
	return rundir.Stage{
		Name: "poisson@" + rateName(rate), Role: rundir.Grid, State: rundir.Complete, Rate: rundir.Exactly(rate), Verdict: verdict,
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

func TestSaturate(t *testing.T) {
	spoiled := row(12, 5, rundir.Saturated)
	spoiled.Invalid = note.Text.New("the client sent late")
	for name, c := range map[string]struct {
		rows              []rundir.Stage
		rate              float64
		stable, saturated float64 // 0: none
		warning           string
	}{
		"as it should be": {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable), row(9, 9, rundir.Stable), row(11, 10, rundir.Saturated)}, 10, 9, 11, ""},
		"none saturated":  {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable)}, 10, 5, 0, ""},
		"a lone exception": {[]rundir.Stage{ceilingRow(10), row(4, 4, rundir.Stable), row(5, 5, rundir.Saturated), row(8, 8, rundir.Stable),
			row(12, 10, rundir.Saturated)}, 10, 8, 12, "poisson@5.00 was saturated"},
		"a lull taken for a limit": {[]rundir.Stage{ceilingRow(9), row(4, 3, rundir.Saturated), row(7, 7, rundir.Undecided), row(12, 10, rundir.Saturated)}, 10, 0, 12,
			"poisson@4.00 was saturated"},
		"the closed loop was too narrow": {[]rundir.Stage{ceilingRow(7), row(8, 8, rundir.Stable), row(12, 10, rundir.Saturated)}, 10, 8, 12, ""},
		"overload costs":                 {[]rundir.Stage{ceilingRow(12), row(8, 8, rundir.Stable), row(13, 10, rundir.Saturated)}, 10, 8, 13, "overload costs"},
		"the client's fault":             {[]rundir.Stage{ceilingRow(10), row(8, 8, rundir.Stable), spoiled}, 10, 8, 0, ""},
		"saturated at what it was offered is no plateau": {[]rundir.Stage{ceilingRow(10), row(6, 6, rundir.Saturated), row(12, 10, rundir.Saturated)}, 10, 0, 12,
			"poisson@6.00 was saturated"},
		"most repetitions decide": {[]rundir.Stage{ceilingRow(10), row(8, 8, rundir.Saturated), row(8, 8, rundir.Stable), row(8, 8, rundir.Stable),
			row(12, 10, rundir.Saturated), row(12, 10, rundir.Stable), row(12, 10, rundir.Saturated)}, 10, 8, 12, "8 req/s was stable 2 times and saturated 1 times"},
		"no repetition outdoes another at its own rate": {[]rundir.Stage{row(5, 5, rundir.Stable), row(12, 9.85, rundir.Saturated), row(12, 10.15, rundir.Saturated)},
			10, 5, 12, ""},
		"a rate that is half this and half that is neither": {[]rundir.Stage{ceilingRow(10), row(5, 5, rundir.Stable), row(5, 5, rundir.Stable),
			row(9, 9, rundir.Stable), row(9, 9, rundir.Saturated), row(12, 10, rundir.Saturated), row(12, 10, rundir.Saturated)}, 10, 5, 12, "9 req/s was stable 1 times and saturated 1 times"},
	} {
		var warnings []note.Note
		s := saturate(c.rows, &warnings)
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
		if all := fmt.Sprint(warnings); !strings.Contains(all, c.warning) || c.warning == "" && all != "[]" {
			t.Errorf("%s: warnings %q, want %q", name, all, c.warning)
		}
		if s.Reason.IsZero() {
			t.Errorf("%s: reason %v", name, s.Reason)
		}
	}
	var warnings []note.Note
	if s := saturate([]rundir.Stage{ceilingRow(5), row(6, 6, rundir.Stable), row(9, 9, rundir.Undecided)}, &warnings); s != nil || len(warnings) != 1 {
		t.Errorf("a ceiling that was no limit saturates at %v, warnings %q", s.Rate, warnings)
	}
	if s := saturate(nil, new([]note.Note)); s != nil {
		t.Errorf("nothing saturates at %v", s.Rate)
	}
}

func TestGrid(t *testing.T) {
	if got := grid(1, 10, 9); got[0] != 2 || got[8] != 10 || len(got) != 9 {
		t.Errorf("grid %v", got)
	}
	if got := grid(1, 1.1, 4); got[0] > 0.3 || got[3] != 1.1 {
		t.Errorf("the grid of a server that takes one at a time is %v", got)
	}
}

func TestRateNames(t *testing.T) {
	for rate, want := range map[float64]string{1.567: "1.57", 10: "10.00", 0.512: "0.512", 0.0123: "0.0123", 1234.5: "1234.50"} {
		if got := rateName(rate); got != want {
			t.Errorf("%v is called %s, want %s", rate, got, want)
		}
	}
}

func TestParseWarmup(t *testing.T) {
	for in, want := range map[string]string{"auto": "auto", "5": "5", "10s": "10s", "0": "0"} {
		if w, err := ParseWarmup(in); err != nil || w.String() != want {
			t.Errorf("%q: %v, %v", in, w, err)
		}
	}
	for _, in := range []string{"", "-1", "x", "-3s"} {
		if w, err := ParseWarmup(in); err == nil {
			t.Errorf("%q is taken for %v", in, w)
		}
	}
}

// The edge never parts the repetitions of one rate, in whatever order they ran.
func TestTheEdgePartsNoRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		verdicts := []string{rundir.Stable, rundir.Saturated, rundir.Undecided}
		var rows []rundir.Stage
		for rate := range rapid.IntRange(1, 5).Draw(t, "rates") {
			for range rapid.IntRange(1, 4).Draw(t, "repeats") {
				rows = append(rows, row(float64(rate+1), float64(rate+1), rapid.SampledFrom(verdicts).Draw(t, "verdict")))
			}
		}
		open := openRows(rows)
		cut := edge(open, func(note.Note) {})
		if cut > 0 && cut < len(open) && open[cut-1].Rate == open[cut].Rate {
			t.Fatalf("cut at %d of %d, among the rows at %v req/s", cut, len(open), open[cut].Rate.Value())
		}
	})
}
