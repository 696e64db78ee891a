package simtest

import (
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim"
)

// DrawnServer is a simulated server and a workload that it can hold.
type DrawnServer struct {
	Config sim.MachineConfig
	Work   sim.Workload // mean lengths
	Spread float64      // coefficient of variation of the lengths; 0: all are equal
}

// Limits on the capacity of a random server, in requests a second: a sweep of it takes minutes of virtual time, and not
// too many requests.
const (
	leastCapacity = 0.5
	mostCapacity  = 60
)

// randomServer draws a server without habits: any GPU, model and quantization, 8 to 128 slots, answers of 16 to 256
// tokens.
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

// randomServerWith draws a server with a habit of a name, strong enough to matter. It panics on an unknown name.
func randomServerWith(rng *rand.Rand, name string) DrawnServer {
	for {
		s := randomServer(rng)
		s.Config.Habits = s.habits(rng, name)
		if s.matters() {
			return s
		}
	}
}

func (s DrawnServer) habits(rng *rand.Rand, name string) (h sim.Habits) {
	capacity := sim.CapacityOf(s.Config, s.Work)
	slots := s.Config.MaxNumSeqs
	between := func(low, high float64) float64 { return logUniform(rng, low, high) }
	seconds := func(low, high float64) time.Duration {
		return time.Duration(between(low, high) * 1e9).Round(time.Millisecond)
	}
	share := func(low, high float64) float64 { return rounded(between(low, high), 3) }
	either := func() bool { return rng.IntN(2) == 0 }
	switch name {
	case "collapses":
		h.Collapses = sim.Collapse{Share: share(0.2, 1), Worst: share(1.5, 4)}
		switch rng.IntN(3) {
		case 0:
			h.Collapses.Recovery = seconds(5, 60)
		case 1:
			h.Collapses.Recovery = sim.Never
		}
	case "sheds":
		h.Sheds = sim.Shed{Waiting: int(between(1, float64(slots))), Status: 429}
		if either() {
			h.Sheds.Status = 503
		}
	case "rate-limited":
		rate, burst := between(0.3, 0.8)*capacity.RequestsPerSecond, between(1, 10) // seconds' worth
		h.Limits = sim.RateLimit{PerMinute: rounded(rate*60, 4), Burst: math.Ceil(max(1, burst*rate))}
		if either() {
			cost := float64(s.Work.PromptTokens + s.Work.OutputTokens)
			h.Limits = sim.RateLimit{PerMinute: rounded(rate*60*cost, 4), Burst: math.Ceil(max(1, burst*rate) * cost),
				Tokens: true}
		}
	case "drifts":
		h.Drifts = share(0.02, 0.1)
	case "scales":
		h.Scales = sim.Scale{Factor: []float64{0.33, 0.5, 1.5, 2, 3}[rng.IntN(5)], At: seconds(120, 600)}
	case "pauses":
		h.Pauses = sim.Pause{Every: seconds(5, 20), Length: seconds(0.3, 1.5)}
	case "batches":
		if either() {
			h.Bursts.Tokens = 4 << rng.IntN(2)
		} else {
			h.Bursts.Time = seconds(0.1, 0.5)
		}
	case "caches":
		h.Caches = share(0.1, 0.5)
	case "drops":
		h.Drops = sim.Drop{Every: 2 + rng.IntN(19), After: seconds(0.05, 1)}
	default:
		panic("no habit is called " + name)
	}
	return h
}

const (
	leastScale = 1.3 // factor by which a scaled server's capacity changes
	leastBurst = 3   // tokens in a burst
)

// What must make a collapsing server collapse: an overload that a sweep reaches. Its first probe asks for 10 % more
// than a server takes, for a minute. A collapse that begins with longer queues than those does not act on the sweep,
// and nothing can name it.
const (
	overloadShare   = 0.10
	overloadSeconds = 60
	collapsedBy     = 1.2
)

// matters reports whether a habit has an effect on this server in a sweep of it. A collapse must begin within the queue
// of an ordinary overload; more slots help only where slots are short; a buffer holds nothing where tokens come slower
// than it is emptied; a pause no longer than a few steps is one of the steps.
func (s DrawnServer) matters() bool {
	h, k := s.Config.Habits, sim.CapacityOf(s.Config, s.Work)
	if c := h.Collapses; c.Share > 0 {
		queue := overloadShare * k.RequestsPerSecond * overloadSeconds
		return 1+c.Share*queue/float64(s.Config.MaxNumSeqs) >= collapsedBy
	}
	if h.Scales.Factor > 0 {
		scaled := s.Config.WithDefaults()
		scaled.MaxNumSeqs = h.Scales.Slots(scaled.MaxNumSeqs, h.Scales.At)
		scaled.MaxBatchedTokens = max(scaled.MaxNumSeqs, h.Scales.Slots(scaled.MaxBatchedTokens, h.Scales.At))
		change := sim.CapacityOf(scaled, s.Work).RequestsPerSecond / k.RequestsPerSecond
		return max(change, 1/change) >= leastScale
	}
	if b := h.Bursts; b.Time > 0 && (b.Time < leastBurst*k.SyncITL || b.Time > k.SyncLatency/2) ||
		b.Tokens > s.Work.OutputTokens/2 {
		return false
	}
	return (h.Pauses.Length == 0 || h.Pauses.Length >= 10*k.SyncITL) && (h.Caches == 0 || k.SyncTTFT >= 2*sim.CacheTime)
}

func logUniform(rng *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, rng.Float64())
}

func rounded(v float64, digits int) float64 {
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}
