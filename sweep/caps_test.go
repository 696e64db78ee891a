package sweep

import (
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/rundir"
)

// A capped closed loop sends no more than the cap, and what holds it back is queued and no lag.
func TestCapsHold(t *testing.T) {
	for name, c := range map[string]struct {
		caps *Caps
		most float64 // requests per second
	}{
		"requests": {NewCaps(3, 0), 3},
		"tokens":   {NewCaps(0, 60*20), 20.0 / 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			config := experimentWith(stalling{began: time.Now()}, fixed{4, 1})
			config.Caps = c.caps
			st := oneStage(t, config, func(x *experiment) *Spec { return x.closed("concurrent@8", rundir.Single, 8) })
			if got := st.Rates.Completed.Value(); got > c.most*1.2 || got < c.most*0.8 {
				t.Errorf("%s: %.3f req/s under a cap of %v", name, got, c.most)
			}
			if st.Lag.P99.Value() > 1e-6 || st.Queued.P50.Value() < 0.1 {
				t.Errorf("%s: lag %v, queued %v", name, st.Lag.P99.Value(), st.Queued.P50.Value())
			}
		})
	}
}
