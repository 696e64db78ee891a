package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim/habit"
)

// Truth is the computed behaviour of a server with habits under a stream of equal requests that arrive at random (Poisson). Rates are
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
	// from a cache, where the cache does not depend on what is asked.
	Dropped, Cached float64
	// Limit is the rate of the token bucket, and Burst the requests that it holds. 0: there is none.
	Limit, Burst float64

	room float64 // the requests that may be missing in the bucket when another passes
}

// SustainedFor is how long a rate must be kept up without a collapse to count as sustained: as long as the longest stage of a
// sweep. For other times see Config.Sustains: a server of few slots collapses at almost any rate, if it has the time.
const SustainedFor = 3 * time.Minute

// Truth computes what the server does at a time since its start with requests of equal lengths. It reads no clock. It panics
// on a configuration that Start refuses.
func (c Config) Truth(w Workload, at time.Duration) Truth { return c.TruthOf(w, 0, at) }

// TruthOf is Truth for requests of random lengths: spread is their coefficient of variation.
func (c Config) TruthOf(w Workload, spread float64, at time.Duration) Truth {
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
	bare := engine.overloaded(w, spread)
	t.Capacity = bare * b.availability(at)

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
			t.Takes *= engine.withstands(stream{w, spread, bare}, SustainedFor)
		} else {
			t.Takes = overload
		}
	}
	t.Refused = b.sheds != nil
	t.Limit, t.Burst, t.room = b.bucketOf(w)
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
func (b *behaviour) bucketOf(w Workload) (rate, burst, room float64) {
	if b.limited == nil {
		return 0, 0, 0
	}
	cost := float64(w.PromptTokens + w.OutputTokens)
	if b.requests.rate > 0 {
		rate, burst, room = b.requests.rate, b.requests.size, b.requests.size-1
	}
	if byTokens := b.tokens.rate / cost; byTokens > 0 && (rate == 0 || byTokens < rate) {
		rate, burst, room = byTokens, b.tokens.size/cost, b.tokens.size/cost
	}
	return rate, burst, room
}

// Accepts returns the requests per second that the server accepts of a Poisson stream. For a server that refuses because it is full it is
// an upper bound, which is reached when far more arrive than it takes; below its rate it refuses few.
//
// For a token bucket it is exact if lengths are equal: what is missing in the bucket is the work that waits in an M/D/1
// queue whose customers turn away where more than some requests are before them (Burst-1, or Burst in a bucket of tokens). Its states are computed by Ramaswami's recursion, which
// adds positive terms only.
func (t Truth) Accepts(offered float64) float64 {
	if t.Limit == 0 || t.Limit > t.Takes {
		return min(offered, t.Takes)
	}
	const most = 500 // requests in a bucket, beyond which its size hardly matters
	room := min(t.room, most)
	rho := offered / t.Limit
	n := int(room)
	low, high := bucketStates(rho, n), bucketStates(rho, n+1)
	q := low * math.Pow(high/low, room-float64(n)) // exact below 1, where it is exp(rho x room)
	if math.IsInf(q, 1) {
		return t.Limit
	}
	return t.Limit * rho * q / (rho*q + 1)
}

// Answers returns the requests per second that the server answers of a Poisson stream. Just above Takes it is too low, where a queue
// grows so slowly that a collapse has not come yet.
func (t Truth) Answers(offered float64) float64 {
	if offered <= t.Takes || t.Limit > 0 && t.Limit <= t.Takes {
		return t.Accepts(offered) * (1 - t.Dropped)
	}
	return t.Overload*(1-t.Cached) + t.Cached*offered
}

// bucketStates returns P(at most n in an M/D/1 queue of load rho) / P(the queue is empty). The ratio is defined above load 1 too,
// where the probabilities are not.
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

// Collapsed returns the requests per second that a server with the habit collapses completes while some wait and all slots are busy. A closed
// loop of slots+W requests is such a state.
func (c Config) Collapsed(w Workload, waiting float64) float64 {
	c = c.withDefaults()
	rate := c.Capacity(w).RequestsPerSecond
	if h, ok := habit.Find[habit.Collapses](c.Habits); ok {
		rate /= h.Slowdown(waiting, c.MaxNumSeqs)
	}
	return rate
}

// PointOfNoReturn returns the number of requests that must wait before a server with the habit collapses falls further and further behind
// arrivals at a rate: infinitely many where it keeps up with them however many wait, 0 where it never keeps up.
func (c Config) PointOfNoReturn(w Workload, rate float64) float64 {
	c = c.withDefaults()
	return c.turn(c.Capacity(w).RequestsPerSecond / rate)
}

// turn is PointOfNoReturn for arrivals at the capacity over a slowdown.
func (c Config) turn(slowdown float64) float64 {
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
func (c Config) Sustains(w Workload, spread float64, during time.Duration) float64 {
	c = c.withDefaults()
	bare := c.overloaded(w, spread)
	return bare * newBehaviour(c).availability(0) * c.withstands(stream{w, spread, bare}, during)
}

// stream is Poisson arrivals at a server whose capacity for them is known.
type stream struct {
	mean     Workload
	spread   float64
	capacity float64 // requests a second, without habits
}

// next draws a request's lengths.
func (s stream) next(rng *rand.Rand) *sequence {
	draw := func(mean int) int {
		if s.spread == 0 {
			return mean
		}
		const longest = 3 // standard deviations above the mean
		deviation := min(max(rng.NormFloat64(), -1/s.spread), longest)
		return max(1, int(math.Round(float64(mean)*(1+s.spread*deviation))))
	}
	return &sequence{listener: nobody{}, prompt: draw(s.mean.PromptTokens), output: draw(s.mean.OutputTokens)}
}

// nobody is the listener of sequences whose tokens do not matter.
type nobody struct{}

func (nobody) token(int, bool) {}

// witness drives a server through virtual time under random arrivals.
type witness struct {
	stream
	scheduler *scheduler
	habits    *behaviour
	arrivals  *rand.Rand
	rate      float64
	now       time.Duration
	next      time.Duration // arrival
}

// witness begins with an idle server. The arrivals of a seed are the same at each rate but for their pace.
func (c Config) witness(s stream, rate float64, seed uint64) *witness {
	c.Seed += seed
	w := &witness{stream: s, scheduler: newScheduler(c), habits: newBehaviour(c), arrivals: rand.New(rand.NewPCG(seed, 29)), rate: rate}
	w.await()
	return w
}

func (w *witness) await() { w.next += time.Duration(w.arrivals.ExpFloat64() / w.rate * 1e9) }

// step does one step, after a rest if nothing is there to do.
func (w *witness) step() {
	if w.scheduler.idle() {
		w.now = max(w.now, w.next)
	}
	for w.next <= w.now {
		w.scheduler.add(w.stream.next(w.arrivals))
		w.await()
	}
	d, _ := w.habits.plan(w.scheduler, w.now)
	w.now += d
	w.scheduler.complete()
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
func (c Config) overloaded(w Workload, spread float64) float64 {
	c.Habits, c.PrefixCache = nil, false
	k := c.Capacity(w)
	if k.RequestsPerSecond == 0 || c.isPlain() && spread == 0 {
		return k.RequestsPerSecond
	}
	tokens, seconds := 0, 0.0
	for seed := range uint64(overloadRuns) {
		run := c.witness(stream{w, spread, 0}, overload*k.RequestsPerSecond, seed)
		for run.now < overloadOpening*k.Latency {
			run.step()
		}
		from, before := run.now, run.scheduler.totals.outputTokens
		for run.now < from+overloadLength*k.Latency {
			run.step()
		}
		tokens += run.scheduler.totals.outputTokens - before
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
func (c Config) withstands(s stream, during time.Duration) float64 {
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
	if c.mostKeepUp(s, 1, during) {
		return 1
	}
	low, high := lowestWithstood, 1.0
	if h.Worst > 0 {
		low = max(low, 1/h.Worst)
	}
	for range bisections {
		if middle := (low + high) / 2; c.mostKeepUp(s, middle, during) {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// mostKeepUp reports whether a server stays out of a collapse under most streams of arrivals.
func (c Config) mostKeepUp(s stream, share float64, during time.Duration) bool {
	var votes [2]int
	for seed := uint64(0); max(votes[0], votes[1]) <= witnesses/2; seed++ {
		vote := 0
		if c.keepsUp(s, share, during, seed) {
			vote = 1
		}
		votes[vote]++
	}
	return votes[1] > votes[0]
}

// keepsUp reports whether an idle server stays out of a collapse for some time at a share of its capacity.
func (c Config) keepsUp(s stream, share float64, during time.Duration, seed uint64) bool {
	lost := lostBeyond * (c.turn(1/share) + float64(c.MaxNumSeqs))
	w := c.witness(s, share*s.capacity, seed)
	for w.now < during {
		w.step()
		if float64(w.scheduler.waiting.n) > lost {
			return false
		}
	}
	return true
}
