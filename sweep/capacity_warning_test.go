package sweep

import (
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A plan, and rows, that go beyond what the client was shown to measure well are marked, and valid all the same.
func TestBeyondTheSelftest(t *testing.T) {
	f := rundir.Exactly
	type excess struct {
		kind  note.Kind
		asked float64
		shown float64
	}
	for name, c := range map[string]struct {
		shown      *rundir.Selftest
		plan, row0 excess
	}{
		"nobody tried":      {nil, excess{}, excess{}},
		"all within":        {&rundir.Selftest{Streams: 10, TokensPerS: f(1e4), ArrivalsPerS: f(1000)}, excess{}, excess{}},
		"nothing is known":  {&rundir.Selftest{Streams: 10}, excess{}, excess{}},
		"too many streams":  {&rundir.Selftest{Streams: 9}, excess{noteExcessStreams, 10, 9}, excess{noteExcessStreams, 10, 9}},
		"too many tokens":   {&rundir.Selftest{Streams: 10, TokensPerS: f(39)}, excess{noteExcessTokens, 40, 39}, excess{kind: noteExcessTokens, shown: 39}},
		"too many arrivals": {&rundir.Selftest{Streams: 10, ArrivalsPerS: f(19)}, excess{noteExcessArrivals, 20, 19}, excess{}},
	} {
		check := func(what string, notes []note.Note, of note.Kind, want excess) {
			t.Helper()
			if want.kind.Code == "" {
				if len(notes) > 0 {
					t.Errorf("%s: the %s has the warnings %v", name, what, notes)
				}
				return
			}
			if len(notes) != 1 || !notes[0].Is(of) {
				t.Errorf("%s: the %s has the warnings %v", name, what, notes)
				return
			}
			all := notes[0].Args["excess"].([]note.Note)
			asked, _ := all[0].Number("asked")
			shown, _ := all[0].Number("shown")
			if len(all) != 1 || !all[0].Is(want.kind) || shown != want.shown || want.asked > 0 && asked != want.asked {
				t.Errorf("%s: the %s exceeds %v, want %v", name, what, all, want)
			}
		}
		run := &rundir.Run{Client: rundir.Client{Selftest: c.shown}, Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 2}}}
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			cfg := experimentWith(d, simtest.Same(4, 1))
			cfg.Warmup = Warmup{}
			if err := Run(t.Context(), cfg, []Stage{NewStage(arrival.Closed{Concurrency: 10}, 100, 0), NewStage(arrival.Constant{Rate: 20}, 100, 0)}, run); err != nil {
				t.Fatal(err)
			}
		})
		check("run", run.Warnings, notePlanBeyondClient, c.plan)
		check("client", run.Client.Warnings, notePlanBeyondClient, c.plan)
		st := &run.Stages[0]
		check("row", st.Warnings, noteBeyondClient, c.row0)
		if !st.Invalid.IsZero() || !run.Client.Valid {
			t.Errorf("%s: %s", name, st.Invalid)
		}
	}
}

// A chunk of four tokens is one piece of work.
func TestManyTokensInAChunkAreOnePieceOfWork(t *testing.T) {
	shown := &rundir.Selftest{Streams: 10, TokensPerS: rundir.Exactly(1000)}
	st := &rundir.Stage{TokensPerS: rundir.TokenRates{Output: rundir.Exactly(3999)}, TokensPerChunk: rundir.Exactly(4)}
	if w, ok := overreached(shown, st); ok {
		t.Error(w)
	}
	st.TokensPerS.Output = rundir.Exactly(4004)
	if w, ok := overreached(shown, st); !ok || !w.Is(noteBeyondClient) || !w.Args["excess"].([]note.Note)[0].Equal(noteExcessTokens.New(1001, 1000)) {
		t.Errorf("%q", w)
	}
}
