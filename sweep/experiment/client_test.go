package experiment

import (
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// A chunk of four tokens is one piece of work.
func TestManyTokensInAChunkAreOnePieceOfWork(t *testing.T) {
	shown := &rundir.Selftest{Streams: 10, TokensPerS: rundir.Exactly(1000)}
	st := &rundir.Stage{TokensPerS: rundir.TokenRates{Output: rundir.Exactly(3999)}, TokensPerChunk: rundir.Exactly(4)}
	if w, ok := clientOverload(shown, st, 1); ok {
		t.Error(w)
	}
	st.TokensPerS.Output = rundir.Exactly(4004)
	if w, ok := clientOverload(shown, st, 1); !ok || !w.Is(noteBeyondClient) ||
		!w.Args["excess"].([]note.Note)[0].Equal(noteExcessTokens.New(1001, 1000)) {
		t.Errorf("%q", w)
	}
}

// A run whose server crashed goes on before the stages in which it crashed, and not only before those that got no
// answer at all. A server that always breaks some connections has not crashed.
func TestStagesOfACrashAreNotKept(t *testing.T) {
	type stage struct{ ok, resets, refused int }
	for name, c := range map[string]struct {
		stages []stage
		want   int
	}{
		"crash":      {[]stage{{10, 0, 0}, {54, 64, 0}, {0, 20, 0}}, 1},
		"refusals":   {[]stage{{10, 0, 0}, {54, 0, 64}, {0, 20, 0}}, 2},
		"every time": {[]stage{{8, 2, 0}, {80, 25, 0}, {0, 20, 0}}, 2},
	} {
		run := &rundir.Run{State: rundir.Failed}
		for i, s := range c.stages {
			st := rundir.Stage{Name: []string{"synchronous", "throughput", "poisson@5.64"}[i], State: rundir.Complete,
				Requests: rundir.Requests{OK: s.ok, Error: s.resets + s.refused}, Errors: map[string]int{}}
			if s.resets > 0 {
				st.Errors["reset"] = s.resets
			}
			if s.refused > 0 {
				st.Errors["http_429"] = s.refused
			}
			run.Stages = append(run.Stages, st)
		}
		if got := len(Kept(run)); got != c.want {
			t.Errorf("%s: %d stages are kept, want %d", name, got, c.want)
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
