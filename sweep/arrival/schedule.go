// Package arrival says when requests are due. Each kind of load is a type in a file of its own: a closed loop, and
// constant, Poisson, gamma, ramp and trace arrivals, and those of recorded clients. It knows nothing of requests or
// servers.
package arrival

import (
	"slices"
	"time"

	"llmsweep/sweep/stats"
)

// Schedule yields the instants at which requests are due, as offsets from the stage's start that never go back. It is
// fixed before the stage begins and does not depend on what the server does: this makes a loop open. ok is false when
// no more are due.
type Schedule interface {
	Next() (due time.Duration, ok bool)
}

// Opening returns when each of width slots of a closed loop is first filled, in ascending order: at random within a
// time, which should be that of one request. Requests that all begin at once stay in step: the server would prefill
// them together, wave after wave, which no arrivals make it do.
func Opening(width int, within time.Duration, runSeed uint64, stage string) []time.Duration {
	rng := stats.Rand(runSeed, "opening", stage)
	at := make([]time.Duration, width)
	for i := range at {
		at[i] = time.Duration(rng.Float64() * float64(within))
	}
	slices.Sort(at)
	return at
}
