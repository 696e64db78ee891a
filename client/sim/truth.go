package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"llmsweep/client/sim/habit"
)

// Truth is what a server with habits does with a stream of equal requests that arrive at random (Poisson). Rates are
// requests a second.
//
// Each habit alone is exact, but for Sustained under collapses, which is found by simulation. Several habits together are
// combined as if they were independent.
type Truth struct {
	// Capacity is what the engine completes under an endless queue, with its slots, drift and pauses, but with every
	// request worked through to its end.
	Capacity float64
	// Takes is the highest rate of arrivals that the server keeps up with: at more, a queue grows or requests are refused. Under
	// the habit drops it includes those dropped: a queue grows no longer than AFTER, since what is dropped in it costs no work.
	Takes float64
	// Sustained is how many of them are answered.
	Sustained float64
	// Overload is how many a closed loop of far more clients than slots gets answered. It is below Sustained where a server
	// collapses, and 0 where its collapse has no limit: see Config.Collapsed.
	Overload float64
	// Refused reports whether the server refuses what is too much, so that no queue grows without end.
	Refused bool
	// Dropped is the share of the arrivals whose connection is closed without an answer; Cached the share that is answered
	// from a cache.
	Dropped, Cached float64
	// Limit is the rate of the token bucket, and Burst the requests that it holds. 0: there is none.
	Limit, Burst float64
}

// SustainedFor is how long a rate must be kept up without a collapse to count as sustained: as long as the longest stage of a
// sweep.
const SustainedFor = 3 * time.Minute

// Truth computes what the server does at a time since its start. It reads no clock. It panics on a configuration that
// Start refuses.
func (c Config) Truth(w Workload, at time.Duration) Truth {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		panic(err)
	}
	b := newBehaviour(c)
	var t Truth
	if b.frozen(at) {
		return t
	}
	engine := c.at(at)
	t.Capacity = engine.Capacity(w).RequestsPerSecond * b.availability(at)

	t.Takes = t.Capacity
	if b.caches != nil {
		t.Cached = b.caches.Share
	}
	if b.drops != nil {
		dropped := 1 / float64(b.drops.Every)
		t.Takes /= max(1-dropped, 1e-9)
		t.Dropped = dropped * (1 - t.Cached)
	}
	t.Takes /= 1 - t.Cached

	overload := t.Takes
	if b.collapses != nil {
		worst := b.collapses.Worst
		if b.sheds != nil {
			worst = b.collapses.Slowdown(float64(b.sheds.Waiting), engine.MaxNumSeqs) // the queue is no longer than that
		}
		overload = 0
		if worst > 0 {
			overload = t.Takes / worst
		}
		if b.sheds == nil {
			t.Takes *= engine.withstands(w, SustainedFor)
		} else {
			t.Takes = overload
		}
	}
	t.Refused = b.sheds != nil
	t.Limit, t.Burst = b.bucketOf(w)
	if t.Limit > 0 && t.Limit < t.Takes {
		t.Takes, t.Refused = t.Limit, true
		overload = t.Limit
	}
	t.Sustained = t.Takes * (1 - t.Dropped)
	t.Overload = min(overload, t.Takes) * (1 - t.Dropped)
	return t
}

// at is the configuration after the habit scales has struck, or not.
func (c Config) at(at time.Duration) Config {
	if s, ok := habit.Find[habit.Scales](c.Habits); ok {
		budget := s.Slots(c.MaxBatchedTokens, at)
		c.MaxNumSeqs = s.Slots(c.MaxNumSeqs, at)
		c.MaxBatchedTokens = max(c.MaxNumSeqs, budget)
	}
	return c
}

// availability is the speed of steps, pauses included, as a share of a server's without habits.
func (b *behaviour) availability(at time.Duration) float64 {
	speed := 1.0
	if b.drifts != nil {
		speed /= b.drifts.Slowdown(at)
	}
	if b.pauses != nil {
		speed *= 1 - b.pauses.Lost()
	}
	return speed
}

// bucketOf returns the rate and the size of the narrower token bucket, in requests; 0 for none.
func (b *behaviour) bucketOf(w Workload) (rate, burst float64) {
	if b.limited == nil {
		return 0, 0
	}
	cost := float64(w.PromptTokens + w.OutputTokens)
	if b.requests.rate > 0 {
		rate, burst = b.requests.rate, b.requests.size
	}
	if byTokens := b.tokens.rate / cost; byTokens > 0 && (rate == 0 || byTokens < rate) {
		rate, burst = byTokens, max(1, b.tokens.size/cost)
	}
	return rate, burst
}

// Accepts is how many requests a second are accepted of a Poisson stream. For a server that refuses because it is full it is
// an upper bound, which is reached when far more arrive than it takes; below its rate it refuses few.
//
// For a token bucket it is exact: what is missing in the bucket is the work that waits in an M/D/1 queue whose customers
// turn away where more than Burst-1 requests are before them. Its states are computed by Ramaswami's recursion, which
// adds positive terms only.
func (t Truth) Accepts(offered float64) float64 {
	if t.Limit == 0 || t.Limit > t.Takes {
		return min(offered, t.Takes)
	}
	const most = 500 // requests in a bucket, beyond which its size hardly matters
	room := min(t.Burst-1, most)
	rho := offered / t.Limit
	n := int(room)
	low, high := bucketStates(rho, n), bucketStates(rho, n+1)
	q := low + (room-float64(n))*(high-low)
	if math.IsInf(q, 1) {
		return t.Limit
	}
	return t.Limit * rho * q / (rho*q + 1)
}

// Answers is how many of a Poisson stream's requests are answered a second. Just above Takes it is too low, where a queue
// grows so slowly that a collapse has not come yet.
func (t Truth) Answers(offered float64) float64 {
	if offered <= t.Takes || t.Limit > 0 && t.Limit <= t.Takes {
		return t.Accepts(offered) * (1 - t.Dropped)
	}
	return t.Overload*(1-t.Cached) + t.Cached*offered
}

// bucketStates is how likely an M/D/1 queue of load rho holds at most n, over how likely it is empty. It is defined above load
// 1 too, where only the ratio is.
func bucketStates(rho float64, n int) float64 {
	// beyond[k] is the chance of more than k arrivals during one service.
	beyond := make([]float64, n+2)
	term, sum := math.Exp(-rho), 0.0
	for k := range beyond {
		sum += term
		beyond[k] = max(0, 1-sum)
		term *= rho / float64(k+1)
	}
	states := []float64{1}
	total := 1.0
	for i := range n {
		next := beyond[i]
		for j := 1; j <= i; j++ {
			next += states[j] * beyond[i+1-j]
		}
		next /= math.Exp(-rho)
		states = append(states, next)
		total += next
	}
	return total
}

// Collapsed is how many requests a second a server with the habit collapses completes while some wait, all slots busy. A closed
// loop of slots+W requests is such a state.
func (c Config) Collapsed(w Workload, waiting float64) float64 {
	c = c.withDefaults()
	rate := c.Capacity(w).RequestsPerSecond
	if h, ok := habit.Find[habit.Collapses](c.Habits); ok {
		rate /= h.Slowdown(waiting, c.MaxNumSeqs)
	}
	return rate
}

// PointOfNoReturn is how many requests must wait before a server with the habit collapses falls further and further behind
// arrivals at a rate: infinitely many where it keeps up with them however many wait, 0 where it never keeps up.
func (c Config) PointOfNoReturn(w Workload, rate float64) float64 {
	c = c.withDefaults()
	capacity := c.Capacity(w).RequestsPerSecond
	h, ok := habit.Find[habit.Collapses](c.Habits)
	switch slowdown := capacity / rate; {
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
// longer the time, the lower the rate. Other servers sustain their capacity.
func (c Config) Sustains(w Workload, during time.Duration) float64 {
	c = c.withDefaults()
	return c.Truth(w, 0).Capacity * c.withstands(w, during)
}

// How withstands searches.
const (
	witnesses       = 31   // random streams of arrivals; the median over them is known to some 1 %
	bisections      = 8    // of the range of rates: to 0.4 % of the capacity
	lowestWithstood = 0.05 // of the capacity
	lostBeyond      = 2    // times the point of no return, and so many requests per slot: no way back
)

// withstands is Sustains as a share of the capacity. It runs the scheduler, without a clock, under arrivals that are the
// same at each rate but for their pace.
func (c Config) withstands(w Workload, during time.Duration) float64 {
	h, ok := habit.Find[habit.Collapses](c.Habits)
	if !ok {
		return 1
	}
	c.PrefixCache = false
	capacity := c.Capacity(w).RequestsPerSecond
	engine := habit.List{h}
	if p, ok := habit.Find[habit.Pauses](c.Habits); ok {
		engine = append(engine, p)
		capacity *= 1 - p.Lost()
	}
	c.Habits = engine
	lowest := lowestWithstood
	if h.Worst > 0 {
		lowest = max(lowest, 1/h.Worst)
	}
	var rates []float64
	for i := range uint64(witnesses) {
		low, high := lowest, 1.0
		for range bisections {
			middle := (low + high) / 2
			if c.keepsUp(w, middle*capacity, during, i) {
				low = middle
			} else {
				high = middle
			}
		}
		rates = append(rates, (low+high)/2)
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

// nobody is the client of sequences whose tokens do not matter.
type nobody struct{}

func (nobody) token(int, bool) {}

// keepsUp reports whether an idle server stays out of a collapse for some time.
func (c Config) keepsUp(w Workload, rate float64, during time.Duration, seed uint64) bool {
	lost := lostBeyond * (c.PointOfNoReturn(w, rate) + float64(c.MaxNumSeqs))
	c.Seed += seed
	arrivals := rand.New(rand.NewPCG(seed, 29))
	e, b := newEngine(c), newBehaviour(c)
	pace := 1e9 / rate
	next := time.Duration(arrivals.ExpFloat64() * pace)
	for now := time.Duration(0); now < during; {
		if e.idle() {
			now = max(now, next)
		}
		for next <= now {
			e.add(&sequence{client: nobody{}, prompt: w.PromptTokens, output: w.OutputTokens})
			next += time.Duration(arrivals.ExpFloat64() * pace)
		}
		d, ok := b.plan(e, now)
		if !ok {
			return true
		}
		now += d
		e.complete()
		if float64(e.waiting.n) > lost {
			return false
		}
	}
	return true
}
