package sweep

import (
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A capped closed loop sends no more than the cap, and what holds it back is queued and no lag.
func TestCapsHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caps *load.Caps
		most float64 // requests per second
	}{
		"requests": {load.NewCaps(3, 0), 3},
		"tokens":   {load.NewCaps(0, 60*20), 20.0 / 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			config := experimentWith(stalling{began: time.Now()}, simtest.SameInAll(4, 1))
			config.Caps, config.StageTime = c.caps, time.Minute
			st := oneStage(t, config, func(x *experiment.Experiment) experiment.Stage {
				return x.Closed("concurrent@8",
					rundir.Single, 8)
			})
			if got := st.Rates.Completed.Value(); got > c.most*1.2 || got < c.most*0.8 {
				t.Errorf("%s: %.3f req/s under a cap of %v", name, got, c.most)
			}
			if st.Lag.P99.Value() > 1e-6 || st.Queued.P50.Value() < 0.1 {
				t.Errorf("%s: lag %v, queued %v", name, st.Lag.P99.Value(), st.Queued.P50.Value())
			}
			// Arrivals above the cap: the same, and the schedule keeps its rate.
			st = oneStage(t, config, func(x *experiment.Experiment) experiment.Stage {
				return x.Poisson(2*c.most,
					rundir.Single)
			})
			if got := st.Rates.Sent.Value(); got > c.most*1.2 || st.Lag.P99.Value() > 1e-3 || st.Queued.P50.Value() < 0.1 ||
				st.Rates.Offered.Value() < 1.5*c.most {
				t.Errorf("%s, arrivals: %.3f req/s sent of %.3f offered, lag %v, queued %v", name, got, st.Rates.Offered.Value(),
					st.Lag.P99.Value(), st.Queued.P50.Value())
			}
		})
	}
}
