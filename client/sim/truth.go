package sim

import (
	"time"

	"llmsweep/client/sim/habit"
)

// Rates is the computed behaviour of a server with habits under a stream of equal requests that arrive at random (Poisson). Rates are
// requests a second.
//
// Each habit alone is exact, but for Sustained under collapses, which is found by simulation. Several habits together are
// combined as if they were independent.
type Rates struct {
	// Capacity is what the engine completes under an endless queue, with its slots, drift and pauses, but with every
	// request worked through to its end.
	Capacity float64
	// Takes is the highest rate of arrivals that the server keeps up with: at more, a queue grows or requests are refused. Under
	// the habit drops it includes those dropped: a queue grows no longer than AFTER, since what is dropped in it costs no work.
	Takes float64
	// Sustained is how many of them are answered.
	Sustained float64
	// Overload is how many a closed loop of far more clients than slots gets answered. It is below Sustained where a server
	// collapses, and 0 where its collapse has no limit: see Collapsed.
	Overload float64
	// Refused reports whether the server refuses what is too much, so that no queue grows without end.
	Refused bool
	// Dropped is the share of the arrivals whose connection is closed without an answer; Cached the share that is answered
	// from a cache, where the cache does not depend on what is asked.
	Dropped, Cached float64
	// Limit is the rate of the token bucket, and Burst the requests that it holds. 0: there is none.
	Limit, Burst float64

	room float64 // the requests that may be missing in the bucket when another passes
}

// SustainedFor is how long a rate must be kept up without a collapse to count as sustained: as long as the longest stage of a
// sweep. For other times see Sustains: a server of few slots collapses at almost any rate, if it has the time.
const SustainedFor = 3 * time.Minute

// TruthOf computes what the server does at a time since its start with requests whose lengths have a mean and a coefficient of
// variation, spread: 0 where all are equal. It reads no clock. It panics on a configuration that sim.Start refuses.
func TruthOf(c MachineConfig, w Workload, spread float64, at time.Duration) Rates {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		panic(err)
	}
	b := newState(c)
	var t Rates
	if b.Frozen(at) {
		return t
	}
	engine := scaled(c, at)
	bare := overloaded(engine, w, spread)
	t.Capacity = bare * b.Speed(at)

	t.Takes = t.Capacity
	if h, ok := habit.Find[habit.Caches](c.Habits); ok {
		t.Cached = h.Share
	}
	if h, ok := habit.Find[habit.Drops](c.Habits); ok {
		dropped := 1 / float64(h.Every)
		t.Takes /= max(1-dropped, 1e-9)
		t.Dropped = dropped * (1 - t.Cached)
	}
	t.Takes /= 1 - t.Cached

	_, t.Refused = habit.Find[habit.Sheds](c.Habits)
	overload := t.collapse(engine, stream{w, spread, bare})
	t.Limit, t.Burst, t.room = b.Narrowest(w.PromptTokens + w.OutputTokens)
	if t.Limit > 0 && t.Limit < t.Takes {
		t.Takes, t.Refused = t.Limit, true
		overload = t.Limit
	}
	t.Sustained = t.Takes * (1 - t.Dropped)
	t.Overload = min(overload, t.Takes) * (1 - t.Dropped)
	return t
}

// collapse lowers Takes by the habit collapses, and returns what the server takes of far too many requests.
func (t *Rates) collapse(c MachineConfig, s stream) (overload float64) {
	h, ok := habit.Find[habit.Collapses](c.Habits)
	if !ok {
		return t.Takes
	}
	worst := h.Worst
	sheds, bounded := habit.Find[habit.Sheds](c.Habits)
	if bounded {
		worst = h.Slowdown(float64(sheds.Waiting), c.MaxNumSeqs) // the queue is no longer than that
	}
	if worst > 0 {
		overload = t.Takes / worst
	}
	if bounded {
		t.Takes = overload
	} else {
		t.Takes *= withstands(c, s, SustainedFor)
	}
	return overload
}

// scaled is the configuration after the habit scales has struck, or not.
func scaled(c MachineConfig, at time.Duration) MachineConfig {
	if s, ok := habit.Find[habit.Scales](c.Habits); ok {
		budget := s.Slots(c.MaxBatchedTokens, at)
		c.MaxNumSeqs = s.Slots(c.MaxNumSeqs, at)
		c.MaxBatchedTokens = max(c.MaxNumSeqs, budget)
	}
	return c
}
