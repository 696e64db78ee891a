package selftest

import (
	"context"
	"math"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
)

const (
	minRequests  = 500 // requests support a p99. A rate is held until it has them, but no longer than a second for them
	arrivalConns = 256 // connections of the client: more than are ever busy, since each request is answered at once
)

func (b *bench) arrivals(ctx context.Context, rate float64) (a Arrivals, err error) {
	c, err := b.client(arrivalConns)
	if err != nil {
		return a, err
	}
	defer c.CloseIdle()
	n := int(math.Ceil(max(rate*b.Hold.Seconds(), min(rate, minRequests), 2)))
	st, err := b.stage(ctx, c, c.Warm, experiment.NewStage(arrival.Poisson{Rate: rate}, n, 0), source{order{}, 2})
	if err != nil {
		return a, err
	}
	lag := st.Lag
	a = Arrivals{Rate: rate, Failed: st.Requests.Error, Lag: Spread{N: lag.N, P50: lag.P50, P99: lag.P99, P999: lag.P999,
		Max: lag.Max}}
	a.Limit = a.limit()
	return a, nil
}

// limit returns why a rate is not trusted; empty where it is. With too few requests for a p99, the median decides.
func (a *Arrivals) limit() string {
	lag := a.Lag.P99
	if !a.Lag.Supported(0.99) {
		lag = a.Lag.P50
	}
	switch {
	case a.Failed > 0:
		return LimitFailed
	case !lag.Known():
		return LimitUnknown
	case lag.Value() > maxLag:
		return LimitLag
	}
	return ""
}
