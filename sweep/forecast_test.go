package sweep

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// estimates keeps the estimates of a sweep's end, as times since its start.
type estimates struct {
	experiment.NoObserver
	began time.Time
	all   []experiment.ForecastRange
}

func (e *estimates) Left(low, high time.Duration) {
	if low >= 0 {
		passed := time.Since(e.began)
		e.all = append(e.all, experiment.ForecastRange{Low: passed + low, High: passed + high})
	}
}

// randomSettings returns settings of a sweep of a trial's server as people choose them.
func (k *trial) randomSettings(t *testing.T, d load.Doer) Config {
	rng := rand.New(rand.NewPCG(k.Seed, 5))
	c := k.config(d, k.Seed)
	c.Points = 3 + rng.IntN(7)
	c.StageTime = []time.Duration{5, 10, 15, 30, 60}[rng.IntN(5)] * time.Second
	c.StageMax = 3 * c.StageTime
	if rng.IntN(3) == 0 {
		limit := (2 + 3*rng.Float64()) * float64(k.Work.Capacity(k.Server).SyncTTFT)
		var err error
		if c.SLO, err = slo.ParseAll([]string{fmt.Sprintf("ttft:p90<%v", time.Duration(limit).Round(time.Millisecond))}); err != nil {
			t.Fatal(err)
		}
	}
	if rng.IntN(6) == 0 {
		c.Budget = time.Duration(2+rng.IntN(14)) * time.Minute
	}
	return c
}

// The first estimate of how long a sweep takes holds the truth within a factor of 1.5 of its bounds.
func TestForecasts(t *testing.T) {
	t.Parallel()
	const factor = 1.5
	var mu sync.Mutex
	inside, near, middle, half, done := 0, 0, 0, 0, 0
	all := habitTrials(t, "", simtest.SampleSize(3, 200))
	n := len(all)
	forEach(t, all, func(t *testing.T, k *trial) {
		var seen estimates
		var took time.Duration
		var c Config
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			c = k.randomSettings(t, d)
			seen.began = time.Now()
			c.Observer = &seen
			if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
				t.Fatal(err)
			}
			took = time.Since(seen.began)
		})
		within := func(r experiment.ForecastRange, factor float64) bool {
			return took.Seconds() >= r.Low.Seconds()/factor && took.Seconds() <= r.High.Seconds()*factor
		}
		first := seen.all[0]
		var halfway experiment.ForecastRange // the last estimate in the first half
		for _, e := range seen.all[:len(seen.all)/2] {
			halfway = e
		}
		mu.Lock()
		defer mu.Unlock()
		if within(first, 1) {
			inside++
		}
		if within(first, factor) {
			near++
		}
		if within(experiment.ForecastExactly(first.Middle()), factor) {
			middle++
		}
		if within(halfway, 1.25) {
			half++
		}
		t.Logf("%d rates, stages of %v, budget %v, SLO %v, %.2f s alone: %v, first estimate %v-%v, ratio to its middle %.2f", c.Points, c.StageTime, c.Budget,
			c.SLO, k.Work.Capacity(k.Server).SyncLatency.Seconds(), took.Round(time.Second), first.Low.Round(time.Second), first.High.Round(time.Second), took.Seconds()/first.Middle().Seconds())
		if done++; simtest.Full() {
			t.Logf("so far: %d sweeps: within the first estimate %d, within a factor of %.1f of its bounds %d, of its middle %d; halfway %d", done, inside, factor, near, middle, half)
		}
	})
	t.Logf("%d sweeps: within the first estimate %d, within a factor of %.1f of its bounds %d, of its middle %d; halfway within a factor of 1.25 of the bounds %d", n, inside, factor, near, middle, half)
	simtest.Claim(t, "the first estimate of a sweep's time, a range, holds the truth", "within a factor of 1.5 of its bounds in 90 %",
		"%d of %d; within the bounds themselves %d; an estimate at half time within a factor of 1.25 of its bounds %d", near, n, inside, half)
	if near*10 < n*9 && n >= 40 || near*4 < n*3 {
		t.Error("the first estimate is off")
	}
}
