package sweep

import (
	"context"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A plan, and stages, that go beyond what the client was shown to measure well are marked, and still valid: also where
// it was shown after the first stage.
func TestBeyondTheSelftest(t *testing.T) {
	t.Parallel()
	f := rundir.Exactly
	type excess struct {
		kind  string
		asked float64
		shown float64
	}
	for name, c := range map[string]struct {
		shown      *rundir.Selftest
		plan, row0 excess
	}{
		"no self-test":     {nil, excess{}, excess{}},
		"all within":       {&rundir.Selftest{Streams: 10, TokensPerS: f(1e4), ArrivalsPerS: f(1000)}, excess{}, excess{}},
		"nothing is known": {&rundir.Selftest{Streams: 10}, excess{}, excess{}},
		"too many streams": {&rundir.Selftest{Streams: 9}, excess{"excess.streams", 10, 9}, excess{"excess.streams", 10, 9}},
		"too many tokens": {&rundir.Selftest{Streams: 10, TokensPerS: f(39)}, excess{"excess.tokens", 40, 39},
			excess{kind: "excess.tokens", shown: 39}},
		"too many arrivals": {&rundir.Selftest{Streams: 10, ArrivalsPerS: f(19)}, excess{"excess.arrivals", 20, 19},
			excess{}},
	} {
		check := func(what string, notes []note.Note, of string, want excess) {
			t.Helper()
			if want.kind == "" {
				if len(notes) > 0 {
					t.Errorf("%s: the %s has the warnings %v", name, what, notes)
				}
				return
			}
			if len(notes) != 1 || notes[0].Code != of {
				t.Errorf("%s: the %s has the warnings %v", name, what, notes)
				return
			}
			all := notes[0].Args["excess"].([]note.Note)
			asked, _ := all[0].Number("asked")
			shown, _ := all[0].Number("shown")
			if len(all) != 1 || all[0].Code != want.kind || shown != want.shown || want.asked > 0 && asked != want.asked {
				t.Errorf("%s: the %s exceeds %v, want %v", name, what, all, want)
			}
		}
		for _, later := range []bool{false, true} {
			run := &rundir.Run{Client: rundir.Client{Selftest: c.shown},
				Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 2}}}
			simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
				cfg := experimentWith(d, simtest.SameInAll(4, 1))
				cfg.Warmup = experiment.Warmup{}
				if later {
					run.Client.Selftest = nil
					cfg.Selftest = func(context.Context) *rundir.Selftest {
						if n := len(run.Stages); n != 1 {
							t.Errorf("%s: tested after %d stages", name, n)
						}
						time.Sleep(time.Hour)
						return c.shown
					}
				}
				if err := Run(t.Context(), cfg, []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 10}, 100, 0),
					experiment.NewStage(arrival.Constant{Rate: 20}, 100, 0)}, run); err != nil {
					t.Fatal(err)
				}
			})
			check("run", run.Warnings, "client.plan-beyond", c.plan)
			check("client", run.Client.Warnings, "client.plan-beyond", c.plan)
			st := &run.Stages[0]
			check("row", st.Warnings, "stage.beyond-client", c.row0)
			if !st.Invalid.IsZero() || !run.Client.Valid {
				t.Errorf("%s: %s", name, st.Invalid)
			}
			if began := run.Stages[1].Started; began > 60 {
				t.Errorf("%s: the time of the test counts: the second stage began after %v s", name, began)
			}
		}
	}
}
