package sweep

import (
	"fmt"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// A plan, and rows, that go beyond what the client was shown to measure well are marked, and valid all the same.
func TestBeyondTheSelftest(t *testing.T) {
	f := rundir.Exactly
	for name, c := range map[string]struct {
		shown      *rundir.Selftest
		plan, row0 string // of warnings
	}{
		"nobody tried":      {nil, "", ""},
		"all within":        {&rundir.Selftest{Streams: 10, TokensPerS: f(1e4), ArrivalsPerS: f(1000)}, "", ""},
		"nothing is known":  {&rundir.Selftest{Streams: 10}, "", ""},
		"too many streams":  {&rundir.Selftest{Streams: 9}, "10 streams at once of 9", "10 streams at once of 9"},
		"too many tokens":   {&rundir.Selftest{Streams: 10, TokensPerS: f(39)}, "40 tokens/s of 39", "tokens/s of 39"},
		"too many arrivals": {&rundir.Selftest{Streams: 10, ArrivalsPerS: f(19)}, "20 arrivals/s of 19", ""},
	} {
		run := &rundir.Run{Client: rundir.Client{Selftest: c.shown}, Workload: rundir.Workload{OutputTokens: rundir.Lengths{Mean: 2}}}
		virtually(t, preset(t, "demo"), func(t *testing.T, d Doer) {
			cfg := experimentWith(d, fixed{4, 1})
			cfg.Warmup = Warmup{}
			if err := Run(t.Context(), cfg, []Job{ClosedJob(10, 100, 0), OpenJob("constant", 20, NewConstant(20), 0, 100, 0)}, run); err != nil {
				t.Fatal(err)
			}
		})
		for what, texts := range map[string][]note.Note{"run": run.Warnings, "client": run.Client.Warnings} {
			if got := fmt.Sprint(texts); (got == "") != (c.plan == "") || !strings.Contains(got, c.plan) {
				t.Errorf("%s: the %s's warnings are %q", name, what, got)
			}
		}
		st := &run.Stages[0]
		if got := fmt.Sprint(st.Warnings); (got == "") != (c.row0 == "") || !strings.Contains(got, c.row0) {
			t.Errorf("%s: the row's warnings are %q", name, got)
		}
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
	if w, ok := overreached(shown, st); !ok || !strings.Contains(fmt.Sprint(w), "1001 tokens/s of 1000") {
		t.Errorf("%q", w)
	}
}
