package selftest

import (
	"context"
	"math"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
)

// Arrivals is what was measured at one rate of Poisson arrivals.
type Arrivals struct {
	Rate    float64 `json:"rate"` // requests per second
	Failed  int     `json:"failed,omitempty"`
	Lag     Spread  `json:"schedule_lag_s"`  // from when a request was due to when its sending began
	Written Spread  `json:"written_lag_s"`   // from due to when its first byte was written, connecting included
	Limit   string  `json:"limit,omitempty"` // why the rate is not trusted: one of the Limits
}

// enough is the number of requests that supports a p99. A rate is held until it has them, but no longer than a second for them.
const enough = 500

// arrivalConns is how many connections a client keeps: more than are ever busy, since each request is answered at once.
const arrivalConns = 256

// arrivals measures one rate.
func (b *bench) arrivals(ctx context.Context, rate float64) (*Arrivals, error) {
	c, err := b.client(arrivalConns)
	if err != nil {
		return nil, err
	}
	defer c.CloseIdle()
	exact := load.NewExactTimer()
	defer exact.Close()
	w := &timed{Waiter: exact}
	n := int(math.Ceil(max(rate*b.Hold.Seconds(), min(rate, enough), 2)))
	st, err := b.stage(ctx, c, c.Warm, w, experiment.NewStage(arrival.Poisson{Rate: rate}, n, 0), source{PacedOrder{}, 2})
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

// timed records how late a waiter is. Only one goroutine waits.
type timed struct {
	load.Waiter
	lags []int64 // nanoseconds
}

// Wait waits and records the delay.
func (t *timed) Wait(until time.Time, quit <-chan struct{}) bool {
	ok := t.Waiter.Wait(until, quit)
	if ok {
		t.lags = append(t.lags, int64(time.Since(until)))
	}
	return ok
}
