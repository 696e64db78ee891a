package sweep

import (
	"sync"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// estimates keeps the estimates of a sweep's end, as times since its start.
type estimates struct {
	experiment.NoObserver
	began     time.Time
	low, high []time.Duration
}

func (e *estimates) Left(low, high time.Duration) {
	passed := time.Since(e.began)
	e.low, e.high = append(e.low, passed+low), append(e.high, passed+high)
}

// The estimate of how long a sweep takes, once the throughput is known, holds the truth within a factor of 1.5 of its
// bounds.
func TestExpectations(t *testing.T) {
	t.Parallel()
	const factor = 1.5
	all := trials(t, simtest.SampleSize(4, 100))
	var mu sync.Mutex
	near := 0
	forEach(t, all, func(t *testing.T, k *trial) {
		var seen estimates
		var took time.Duration
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			c := k.config(d, k.Seed)
			seen.began = time.Now()
			c.Observer = &seen
			if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
				t.Fatal(err)
			}
			took = time.Since(seen.began)
		})
		first := len(seen.low) / 4
		low, high := seen.low[first], seen.high[first]
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%v: took %v, expected %v to %v", k, took.Round(time.Second), low.Round(time.Second), high.Round(time.Second))
		if took.Seconds()*factor >= low.Seconds() && took.Seconds() <= factor*high.Seconds() {
			near++
		}
	})
	simtest.Claim(t, "the estimate of a sweep's time, a range, holds the truth",
		"within a factor of 1.5 of its bounds in 90 %", "%d of %d", near, len(all))
	if near*10 < len(all)*9 && len(all) >= 40 || near*4 < len(all)*3 {
		t.Errorf("%d of %d estimates hold", near, len(all))
	}
}

// A sweep of slower requests takes longer, and a budget is kept.
func TestOutlook(t *testing.T) {
	c := Defaults()
	quick, requests := c.Outlook(2 * time.Second)
	slow, _ := c.Outlook(20 * time.Second)
	if quick < 5*time.Minute || quick > 15*time.Minute || slow < 2*quick || requests < 1000 {
		t.Errorf("%v with %d requests, and %v where they are slow", quick, requests, slow)
	}
	c.Budget = 4 * time.Minute
	if takes, _ := c.Outlook(2 * time.Second); takes > c.Budget*11/10 || takes < c.Budget/2 {
		t.Errorf("%v of a budget of %v", takes, c.Budget)
	}
}
