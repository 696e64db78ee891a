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
