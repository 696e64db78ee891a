package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim/habit"
)

// turn returns the number of requests that must wait before a server with the habit collapses falls further and further behind arrivals at its
// capacity over a slowdown: infinitely many where it keeps up with them however many wait, 0 where it never keeps up.
func turn(c MachineConfig, slowdown float64) float64 {
	h, ok := habit.Find[habit.Collapses](c.Habits)
	switch {
	case slowdown <= 1:
		return 0
	case !ok || h.Worst > 0 && slowdown >= h.Worst:
		return math.Inf(1)
	default:
		return float64(c.MaxNumSeqs) * (h.From + (slowdown-1)/h.Share)
	}
}

// Sustains returns the highest rate of Poisson arrivals at which a server with the habit collapses, beginning idle, stays
// out of the collapse for some time with a chance of one half. Sooner or later it collapses at any rate at which it can: the
// longer the time, the lower the rate. Other servers sustain their capacity. spread is the coefficient of variation of the
// lengths.
func Sustains(c MachineConfig, w Workload, spread float64, during time.Duration) float64 {
	c = c.WithDefaults()
	bare := overloaded(c, w, spread)
	return bare * newState(c).Speed(0) * withstands(c, stream{w, spread, bare}, during)
}

// stream is Poisson arrivals at a server whose capacity for them is known.
type stream struct {
	mean     Workload
	spread   float64
	capacity float64 // requests a second, without habits
}

// next draws a request's lengths.
func (s stream) next(rng *rand.Rand) *Sequence {
	draw := func(mean int) int {
		if s.spread == 0 {
			return mean
		}
		const longest = 3 // standard deviations above the mean
		deviation := min(max(rng.NormFloat64(), -1/s.spread), longest)
		return max(1, int(math.Round(float64(mean)*(1+s.spread*deviation))))
	}
	return &Sequence{Prompt: draw(s.mean.PromptTokens), Output: draw(s.mean.OutputTokens)}
}

// witness drives a server through virtual time under random arrivals.
type witness struct {
	stream
	scheduler *Scheduler
	habits    *behaviour
	arrivals  *rand.Rand
	rate      float64
	now       time.Duration
	next      time.Duration // arrival
}

// newWitness begins with an idle server. The arrivals of a seed are the same at each rate but for their pace.
func newWitness(c MachineConfig, s stream, rate float64, seed uint64) *witness {
	c.Seed += seed
	w := &witness{stream: s, scheduler: newScheduler(c), habits: newState(c), arrivals: rand.New(rand.NewPCG(seed, 29)), rate: rate}
	w.await()
	return w
}

func (w *witness) await() { w.next += time.Duration(w.arrivals.ExpFloat64() / w.rate * 1e9) }

// step does one step, after a rest if nothing is there to do.
func (w *witness) step() {
	if w.scheduler.Idle() {
		w.now = max(w.now, w.next)
	}
	for w.next <= w.now {
		w.scheduler.Add(w.stream.next(w.arrivals))
		w.await()
	}
	d, _ := w.habits.Plan(w.scheduler, w.now)
	w.now += d
	w.scheduler.Complete()
}

// How overloaded measures: several runs, because equal requests keep the rhythm in which a run began.
const (
	overload        = 1.5 // times the capacity
	overloadRuns    = 4
	overloadOpening = 10 // mean latencies
	overloadLength  = 150
)

// overloaded is the capacity, without habits, where random arrivals built the queue: see Capacity for how that can differ from
// what a burst builds.
func overloaded(c MachineConfig, w Workload, spread float64) float64 {
	c.Habits, c.PrefixCache = nil, false
	k := CapacityOf(c, w)
	if k.RequestsPerSecond == 0 || c.IsPlain() && spread == 0 {
		return k.RequestsPerSecond
	}
	tokens, seconds := 0, 0.0
	for seed := range uint64(overloadRuns) {
		run := newWitness(c, stream{w, spread, 0}, overload*k.RequestsPerSecond, seed)
		for run.now < overloadOpening*k.Latency {
			run.step()
		}
		from, before := run.now, run.scheduler.Stats().GenerationTokens
		for run.now < from+overloadLength*k.Latency {
			run.step()
		}
		tokens += run.scheduler.Stats().GenerationTokens - before
		seconds += (run.now - from).Seconds()
	}
	return float64(tokens) / float64(w.OutputTokens) / seconds
}

// How withstands searches.
const (
	witnesses       = 21   // random streams of arrivals, of which the majority counts
	bisections      = 8    // of the range of rates: to 0.4 % of the capacity
	lowestWithstood = 0.05 // of the capacity
	lostBeyond      = 2    // times the point of no return, and so many requests per slot: no way back
)

// withstands is Sustains as a share of the capacity. Other streams of arrivals change it by some 1 to 2 %.
func withstands(c MachineConfig, s stream, during time.Duration) float64 {
	h, ok := habit.Find[habit.Collapses](c.Habits)
	if !ok {
		return 1
	}
	engine := habit.List{h}
	if p, ok := habit.Find[habit.Pauses](c.Habits); ok {
		engine = append(engine, p)
		s.capacity *= 1 - p.Lost()
	}
	c.Habits, c.PrefixCache = engine, false
	if mostKeepUp(c, s, 1, during) {
		return 1
	}
	low, high := lowestWithstood, 1.0
	if h.Worst > 0 {
		low = max(low, 1/h.Worst)
	}
	for range bisections {
		if middle := (low + high) / 2; mostKeepUp(c, s, middle, during) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// mostKeepUp reports whether a server stays out of a collapse under most streams of arrivals.
func mostKeepUp(c MachineConfig, s stream, share float64, during time.Duration) bool {
	var votes [2]int
	for seed := uint64(0); max(votes[0], votes[1]) <= witnesses/2; seed++ {
		vote := 0
		if keepsUp(c, s, share, during, seed) {
			vote = 1
		}
		votes[vote]++
	}
	return votes[1] > votes[0]
}

// keepsUp reports whether an idle server stays out of a collapse for some time at a share of its capacity.
func keepsUp(c MachineConfig, s stream, share float64, during time.Duration, seed uint64) bool {
	lost := lostBeyond * (turn(c, 1/share) + float64(c.MaxNumSeqs))
	w := newWitness(c, s, share*s.capacity, seed)
	for w.now < during {
		w.step()
		if float64(w.scheduler.Waiting()) > lost {
			return false
		}
	}
	return true
}
