package selftest

import (
	"context"
	"math"
	"time"

	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/wait"
)

// Arrivals is so many requests a second, on average, at random instants as sweeps have them.
type Arrivals struct {
	Rate    float64 `json:"rate"`
	Failed  int     `json:"failed,omitempty"`
	Lag     Spread  `json:"schedule_lag_s"` // from when a request was due to when it was let go
	Written Spread  `json:"written_lag_s"`  // to when its first byte was written, connecting included
	Limit   string  `json:"limit,omitempty"`
}

// enough requests for a p99; they are waited for where they take no longer than a second.
const enough = 500

// arrivals measures one rate.
func (b *bench) arrivals(ctx context.Context, rate float64) (*Arrivals, error) {
	c, err := b.client(256)
	if err != nil {
		return nil, err
	}
	defer c.CloseIdle()
	exact := wait.NewExact()
	defer exact.Close()
	w := &timed{Waiter: exact}
	n := int(math.Ceil(max(rate*b.Hold.Seconds(), min(rate, enough), 2)))
	st, err := b.stage(ctx, c, c.Warm, w, sweep.NewStage(arrival.Poisson{Rate: rate}, n, 0), source{order{}, 2})
	if err != nil {
		return nil, err
	}
	lag := st.Lag
	a := &Arrivals{
		Rate: rate, Failed: st.Requests.Error, Lag: spread(w.lags),
		Written: Spread{N: lag.N, P50: lag.P50, P99: lag.P99, P999: lag.P999, Max: lag.Max},
	}
	a.Limit = a.limit()
	return a, nil
}

// timed notes how late a waiter is. One goroutine waits.
type timed struct {
	load.Waiter
	lags []int64 // nanoseconds
}

// Wait waits.
func (t *timed) Wait(until time.Time, quit <-chan struct{}) bool {
	ok := t.Waiter.Wait(until, quit)
	if ok {
		t.lags = append(t.lags, int64(time.Since(until)))
	}
	return ok
}
