package simtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"llmsweep/client/sim"
)

// DrawnOutcome counts the requests of a window of time by how they ended. Rates are per second of the window.
type DrawnOutcome struct {
	Offered  float64 // that arrived in the window
	Answered float64 // whose answer ended in it
	Refused  float64 // that were refused in it
	Dropped  float64 // whose connection was closed in it
	InFlight int     // at its end
}

// Next draws a request of the workload.
func (s DrawnServer) Next(rng *rand.Rand) sim.Request {
	prompt := drawLength(rng, s.Work.PromptTokens, s.Spread)
	return sim.Request{PromptTokens: prompt, OutputTokens: drawLength(rng, s.Work.OutputTokens, s.Spread)}
}

// Offer sends Poisson arrivals of the workload to a running server, and counts what happens between two times from the
// call. It is meant for a testing/synctest bubble. What is under way at the end is cancelled.
func (s DrawnServer) Offer(ctx context.Context, live *sim.Engine, rate float64, from, to time.Duration,
	seed uint64) DrawnOutcome {
	rng := rand.New(rand.NewPCG(seed, 43))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var offered, answered, refused, dropped, inFlight int
	wait := func() time.Duration { return time.Duration(rng.ExpFloat64() / rate * 1e9) }
	for at := wait(); at < to; at += wait() {
		seq := s.Next(rng)
		time.Sleep(time.Until(began.Add(at)))
		if at >= from {
			offered++
		}
		mu.Lock()
		inFlight++
		mu.Unlock()
		wg.Go(func() {
			_, err := live.Generate(ctx, seq, func(int, time.Time) {})
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil {
				return
			}
			inFlight--
			var r *sim.Refusal
			switch {
			case time.Since(began) < from:
			case err == nil:
				answered++
			case errors.As(err, &r):
				refused++
			case errors.Is(err, sim.ErrDropped):
				dropped++
			}
		})
	}
	time.Sleep(time.Until(began.Add(to)))
	mu.Lock()
	window := (to - from).Seconds()
	out := DrawnOutcome{float64(offered) / window, float64(answered) / window, float64(refused) / window,
		float64(dropped) / window, inFlight}
	cancel()
	mu.Unlock()
	wg.Wait()
	return out
}
