package probe

import (
	"testing"

	"llmsweep/client"
	"llmsweep/client/api"
)

// Chunks that were counted for lack of a count do not show a short answer, and a count far beyond the chunks is
// doubted.
func TestLearnLength(t *testing.T) {
	for name, c := range map[string]struct {
		chunks, tokens int
		source         string
		want           string
	}{
		"exact":                  {trialTokens, trialTokens, client.SourceServer, ""},
		"short":                  {10, 10, client.SourceServer, noteShorter.Code},
		"several tokens a chunk": {10, 10, client.SourceChunks, ""},
		"longer":                 {240, 240, client.SourceServer, noteLengthIgnored.Code},
		"counted ten times":      {trialTokens, 10 * trialTokens, client.SourceServer, noteCountDoubtful.Code},
	} {
		f := &Facts{API: "chat", Fields: api.Fields{IgnoreEOS: true}}
		r := &client.Result{}
		r.Reset(r.Epoch)
		for range c.chunks {
			r.Token(0, 1, false)
		}
		r.OutputTokens, r.TokenSource = c.tokens, c.source
		learnLength(f, r, false)
		got := ""
		if len(f.Notes) > 0 {
			got = f.Notes[0].Code
		}
		if got != c.want || f.LengthForced != (name == "exact") {
			t.Errorf("%s: note %q, want %q; forced %v", name, got, c.want, f.LengthForced)
		}
	}
}
