package sweep

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// mute answers well, and without a token in all but some of its answers.
type mute struct {
	n     *atomic.Int64
	every int64 // one in so many has a token; 0 for none
}

func (mute) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

func (m mute) Do(_ context.Context, _ *client.Prepared, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	time.Sleep(20 * time.Millisecond)
	now := time.Since(res.Epoch)
	if n := m.n.Add(1); m.every > 0 && n%m.every == 0 {
		res.Token(now, 1, false)
		res.OutputTokens, res.TokenSource = 1, client.SourceServer
	}
	res.Headers, res.End, res.Status = now, now, client.StatusOK
}

// An answer without a token is a failure: nothing was generated.
func TestAnswersWithoutTokensFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every int64
		load  arrival.Load
	}{"none, closed": {0, arrival.Closed{Concurrency: 4}}, "none, open": {0, arrival.Poisson{Rate: 20}},
		"one in two": {2, arrival.Closed{Concurrency: 4}}} {
		synctest.Test(t, func(t *testing.T) {
			config := experimentWith(mute{&atomic.Int64{}, c.every}, simtest.SameInAll(8, 1))
			var err error
			if config.SLO, err = slo.ParseAll([]string{"errors<5%"}); err != nil {
				t.Fatal(err)
			}
			st := oneStage(t, config, func(*experiment.Experiment) experiment.Stage {
				return experiment.NewStage(c.load, 0,
					10*time.Second)
			})
			if st.Errors[string(client.ClassEmpty)] == 0 || st.Goodput.Verdict != rundir.Missed {
				t.Errorf("%s: errors %v, SLO %s", name, st.Errors, st.Goodput.Verdict)
			}
			if ok := st.Requests.OK > 0; ok != (c.every > 0) || ok != st.Rates.Completed.Known() {
				t.Errorf("%s: %+v, %v req/s", name, st.Requests, st.Rates.Completed)
			}
		})
	}
}
