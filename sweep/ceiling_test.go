package sweep

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// sharing is a server that answers n requests at once each at a speed of its own: rates are the requests per second that it then completes, the
// last one with that many and more.
type sharing struct {
	rates    []float64 // of 1, 2, ... in flight
	inFlight atomic.Int64
}

func (*sharing) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

func (s *sharing) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	n := s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	tokens := call.Request.OutputTokens
	took := float64(n) / s.rates[min(int(n), len(s.rates))-1]
	for range tokens {
		select {
		case <-time.After(time.Duration(took / float64(tokens) * 1e9)):
			res.Burst(time.Since(res.Epoch), 1)
		case <-ctx.Done():
			res.Status = client.StatusIncomplete
			return
		}
	}
	res.PromptTokens, res.OutputTokens, res.TokenSource, res.Finish = call.Request.PromptTokens, tokens, client.SourceServer, "length"
	res.Status, res.Headers, res.End = client.StatusOK, res.FirstToken, res.LastToken
}

// TestTheCeilingOfAServerThatBatches: two and four requests at once are served no faster than one, and eight are. A level that is as fast as the
// one before is taken, since it is full.
func TestTheCeilingOfAServerThatBatches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rates []float64
		level int
	}{
		"eight slots":                  {[]float64{16, 15, 15, 15, 17, 19, 21, 23}, 16},
		"slower with two than one":     {[]float64{16, 13, 13.5, 14, 15, 16, 17, 18}, 16},
		"one at a time":                {[]float64{16}, 2},
		"as fast with two as with one": {[]float64{16, 16, 16, 16, 16, 16, 16, 16, 16}, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			x := fresh(t, experimentWith(&sharing{rates: c.rates}, simtest.SameInAll(16, 8)))
			floor, err := x.Measure(t.Context(), x.Closed("synchronous", rundir.Floor, 1))
			if err != nil {
				t.Fatal(err)
			}
			level, err := SearchCeiling(t.Context(), x, floor, 64)
			if err != nil || level != c.level {
				t.Errorf("%s: the search ended at %d in flight, want %d (%v); steps %v", name, level, c.level, err, x.Run().Search)
			}
		})
	}
}

// One step of hundreds of requests that brings nothing ends the search: the next would take as long again, and show the same.
func TestAClearStepEndsTheSearch(t *testing.T) {
	t.Parallel()
	rates := make([]float64, 128)
	for i := range rates {
		rates[i] = 1 + float64(i)/4
	}
	synctest.Test(t, func(t *testing.T) {
		x := fresh(t, experimentWith(&sharing{rates: rates}, simtest.SameInAll(16, 8)))
		floor, err := x.Measure(t.Context(), x.Closed("synchronous", rundir.Floor, 1))
		if err != nil {
			t.Fatal(err)
		}
		level, err := SearchCeiling(t.Context(), x, floor, 1024)
		if steps := x.Run().Search; err != nil || level != 256 || steps[len(steps)-1].Name != SearchPrefix+"256" {
			t.Errorf("%d in flight (%v) after %v", level, err, steps)
		}
	})
}

var _ load.Doer = &sharing{}
