// Draws random simulated servers, with and without bad habits, for statistical tests: a test runs over a
// hundred of them and compares what was measured with the truth.

package simtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
)

// DrawnServer is a simulated server and a workload that it can hold.
type DrawnServer struct {
	Config sim.MachineConfig
	Work   sim.Workload // mean lengths
	Spread float64      // coefficient of variation of the lengths; 0: all are equal
}

// Limits on the capacity of a random server, in requests a second: a sweep of it takes minutes of virtual time, and not too
// many requests.
const (
	leastCapacity = 0.5
	mostCapacity  = 60
)

// randomServer draws a server without habits: any GPU, model and quantization, 8 to 128 slots, answers of 16 to 256 tokens.
func randomServer(rng *rand.Rand) DrawnServer {
	gpus, models := sim.GPUs(), sim.Models()
	for {
		c := sim.MachineConfig{
			GPU: gpus[rng.IntN(len(gpus))], Model: models[rng.IntN(len(models))], TP: 1 << rng.IntN(3),
			Quant:      []sim.Quant{sim.FP16, sim.INT8, sim.INT4}[rng.IntN(3)],
			MaxNumSeqs: 8 << rng.IntN(5), Jitter: 0.05 * rng.Float64(), Seed: rng.Uint64(),
		}
		w := sim.Workload{PromptTokens: 32 << rng.IntN(6), OutputTokens: 16 << rng.IntN(5)}
		spread := []float64{0, 0.2, 0.5}[rng.IntN(3)]
		// The capacity of a configuration that cannot be is 0.
		if k := sim.CapacityOf(c, w).RequestsPerSecond; k > leastCapacity && k < mostCapacity {
			return DrawnServer{c, w, spread}
		}
	}
}

// RandomServerWith draws a server with a habit of a name, strong enough to matter. It panics on an unknown name.
func RandomServerWith(rng *rand.Rand, name string) DrawnServer {
	for {
		s := randomServer(rng)
		s = s.With(s.habit(rng, name))
		if s.matters() {
			return s
		}
	}
}

// With returns the server with more habits.
func (s DrawnServer) With(habits ...habit.Habit) DrawnServer {
	s.Config.Habits = append(append(habit.List(nil), s.Config.Habits...), habits...)
	return s
}

// Truth is the truth about the server at a time since its start; see [sim.Config.TruthOf].
func (s DrawnServer) Truth(at time.Duration) sim.Rates {
	return sim.TruthOf(s.Config, s.Work, s.Spread, at)
}

// Sustains is the highest rate that the server keeps up for some time with a chance of one half; see
// [sim.Config.Sustains].
func (s DrawnServer) Sustains(during time.Duration) float64 {
	return sim.Sustains(s.Config, s.Work, s.Spread, during)
}

// String describes the server in one line.
func (s DrawnServer) String() string {
	c := s.Config
	line := fmt.Sprintf("%s/%sx%d/%s seqs %d %d->%d+-%.1f jitter %.3f", c.Model.Name, c.GPU.Name, c.TP, c.Quant, c.MaxNumSeqs,
		s.Work.PromptTokens, s.Work.OutputTokens, s.Spread, c.Jitter)
	if len(c.Habits) > 0 {
		line += " " + c.Habits.String()
	}
	return line
}

// habit draws the parameters of a habit.
func (s DrawnServer) habit(rng *rand.Rand, name string) habit.Habit {
	capacity := sim.CapacityOf(s.Config, s.Work)
	slots := s.Config.MaxNumSeqs
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) } // even in the logarithm
	seconds := func(low, high float64) time.Duration {
		return time.Duration(between(low, high) * 1e9).Round(time.Millisecond)
	}
	share := func(low, high float64) float64 { return rounded(between(low, high), 3) }
	either := func() bool { return rng.IntN(2) == 0 }
	switch name {
	case "collapses":
		h := habit.Collapses{Share: share(0.2, 1), From: float64(rng.IntN(3)), Worst: share(1.5, 4)}
		switch rng.IntN(3) {
		case 0:
			h.Recovery = seconds(5, 60)
		case 1:
			h.Recovery = habit.Never
		}
		return h
	case "sheds":
		h := habit.Sheds{Waiting: int(between(1, float64(slots))), Status: 429, After: seconds(0.005, 0.1)}
		if either() {
			h.Status = 503
		} else if either() {
			h.RetryAfter = time.Second
		}
		return h
	case "rate-limited":
		rate, burst := between(0.3, 0.8)*capacity.RequestsPerSecond, between(1, 10) // seconds' worth
		cost := float64(s.Work.PromptTokens + s.Work.OutputTokens)
		h := habit.RateLimited{RPM: rounded(rate*60, 4), Burst: math.Ceil(max(1, burst*rate)), After: habit.RefusalTime}
		if either() {
			h = habit.RateLimited{TPM: rounded(rate*60*cost, 4), TokenBurst: math.Ceil(max(1, burst*rate) * cost), After: habit.RefusalTime}
		}
		return h
	case "drifts":
		return habit.Drifts{Share: share(0.02, 0.1)}
	case "scales":
		return habit.Scales{Factor: []float64{0.33, 0.5, 1.5, 2, 3}[rng.IntN(5)], At: seconds(120, 600)}
	case "pauses":
		return habit.Pauses{Every: seconds(5, 20), Length: seconds(0.3, 1.5)}
	case "batches":
		if either() {
			return habit.Batches{Tokens: 4 << rng.IntN(2)}
		}
		return habit.Batches{Time: seconds(0.1, 0.5)}
	case "caches":
		return habit.Caches{Share: share(0.1, 0.5), After: habit.CacheTime} // workloads repeat nothing
	case "drops":
		return habit.Drops{Every: 2 + rng.IntN(19), After: seconds(0.05, 1)}
	case "freezes":
		return habit.Freezes{At: seconds(60, 600)}
	}
	return wrongAnswers(name, share)
}

// wrongAnswers draws a habit of a name that changes answers and not their times. share draws a share between two.
func wrongAnswers(name string, share func(low, high float64) float64) habit.Habit {
	switch name {
	case "ties":
		return habit.Ties{Share: share(0.01, 0.2), From: 2}
	case "confuses":
		return habit.Confuses{Share: share(0.01, 0.2), From: 2}
	case "rounds":
		return habit.Rounds{Share: share(0.05, 0.5), Shift: share(0.01, 0.1)}
	case "errs":
		return habit.Errs{Share: share(0.05, 0.5), Load: share(0.01, 0.2), From: 2}
	case "samples":
		return habit.Samples{Share: share(0.05, 0.5)}
	}
	panic("no habit is called " + name)
}

// The factor by which a scaled server's capacity changes, and the number of tokens in a burst: large enough to matter.
const (
	noticed    = 1.3
	leastBurst = 3
)

// What must make a collapsing server collapse: an overload that a sweep reaches. Its first probe asks for 10 % more than a server takes, for a
// minute. A collapse that begins with longer queues than those does not act on the sweep, and nothing can name it.
const (
	overloadShare   = 0.10
	overloadSeconds = 60
	collapsedBy     = 1.2
)

// matters reports whether a habit has an effect on this server in a sweep of it. A collapse must begin within the queue of an ordinary
// overload; more slots help only where slots are short; a buffer
// holds nothing where tokens come slower than it is emptied; a pause no longer than a few steps is one of the steps.
func (s DrawnServer) matters() bool {
	for _, h := range s.Config.Habits {
		k := sim.CapacityOf(s.Config, s.Work)
		switch h := h.(type) {
		case habit.Collapses:
			slots := s.Config.MaxNumSeqs
			queue := overloadShare * k.RequestsPerSecond * overloadSeconds
			if h.Slowdown(queue, slots) < collapsedBy {
				return false
			}
		case habit.Scales:
			change := s.Truth(h.At).Capacity / s.Truth(0).Capacity
			if max(change, 1/change) < noticed {
				return false
			}
		case habit.Batches:
			if h.Time > 0 && (h.Time < leastBurst*k.SyncITL || h.Time > k.SyncLatency/2) || h.Tokens > s.Work.OutputTokens/2 {
				return false
			}
		case habit.Pauses:
			if h.Length < 10*k.SyncITL {
				return false
			}
		case habit.Caches:
			if k.SyncTTFT < 2*h.After {
				return false
			}
		}
	}
	return true
}

func rounded(v float64, digits int) float64 {
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}
