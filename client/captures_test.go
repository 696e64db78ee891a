package client

import (
	"slices"
	"testing"

	"llmsweep/client/api"
	"llmsweep/client/testkit"
)

// What the client makes of the streams of real servers, in every dialect.
func TestCaptures(t *testing.T) {
	for _, c := range testkit.Captures(t) {
		t.Run(c.Name, func(t *testing.T) {
			url := serveAnswer(t, 200, "Content-Type: text/event-stream", string(c.Stream))
			r := do(t, Options{URL: url, API: c.API, Params: api.Params{Model: "tiny"}})
			checkSummary(t, r, c.Want)
			if !slices.IsSorted([]int64{0, int64(r.Sent), int64(r.Headers), int64(r.FirstToken), int64(r.LastToken),
				int64(r.End)}) {
				t.Errorf("instants out of order: %+v", r)
			}
		})
	}
}
