package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// drawnServer is a server of a family, and its truth: the highest Poisson rate at which its backlog does not grow for
// ever. It is a range where it is a matter of definition, or of how long one waits.
type drawnServer struct {
	family    string
	seed      uint64
	rng       *rand.Rand
	slots     int
	service   float64                         // seconds of an answer of meanTokens tokens
	lengths   float64                         // coefficient of variation of the lengths that are asked for,
	natural   float64                         // and of answers that end by themselves
	habit     func(m *model)                  // of a queue; nil for none
	steps     func(s *stepper) func() float64 // of a server that works in steps; nil for a queue
	about     []float64                       // what was drawn
	low, high float64                         // its truth
	quota     bool                            // the sweep has to name one
}

// families are servers of one habit each. Many were drawn by hands that had read no rule of judgement.
var families = []struct {
	name string
	draw func(k *drawnServer)
}{
	{"plain", func(*drawnServer) {}},
	{"bucket of requests", drawBucket},
	{"bucket of tokens", func(k *drawnServer) { k.lengths = 0.5; drawBucket(k) }},
	{"unequal replicas", func(k *drawnServer) { k.oneSlow(2, k.slots, k.draw(1.3, 2.5)) }},
	{"slow one of five", func(k *drawnServer) { k.oneSlow(5, 1+k.rng.IntN(4), k.draw(1.5, 4)) }},
	{"slow one balanced", drawBalanced},
	{"hash shares", drawShares},
	{"pinned connections", drawPinned},
	{"lognormal", func(k *drawnServer) {
		sigma := k.draw(0.6, 1.2)
		k.work(func(m *model) float64 { return math.Exp(sigma*m.rng.NormFloat64() - sigma*sigma/2) })
	}},
	{"pareto", func(k *drawnServer) { // the variance does not exist
		alpha := k.draw(1.6, 2)
		k.work(func(m *model) float64 { return (alpha - 1) / alpha * math.Pow(1-m.rng.Float64(), -1/alpha) })
	}},
	{"last first", func(k *drawnServer) { k.ordered(func(m *model, _ *job) float64 { return -float64(m.arrived) }) }},
	{"shortest first", func(k *drawnServer) { k.ordered(func(_ *model, j *job) float64 { return float64(j.tokens) }) }},
	{"priorities", func(k *drawnServer) {
		k.ordered(func(m *model, _ *job) float64 { return math.Ceil(m.rng.Float64() - 0.2) })
	}},
	{"batches", func(k *drawnServer) { // answers begin at multiples of the period
		period := k.draw(1, 2) * max(1, k.service)
		k.habit = func(m *model) { m.starts = func() float64 { return period - math.Mod(m.now, period) } }
		k.is(float64(k.slots) / period)
	}},
	{"static batches", drawStatic},
	{"stubs", func(k *drawnServer) {
		patience := k.draw(0.2, 1)
		k.habit = func(m *model) { m.patience = patience }
		lost := k.bisect(0.2, 1, func(m *model) bool { return float64(m.stubs) > tolerated*float64(m.arrived) })
		k.low, k.high = (1-tolerated)*lost, k.plain() // so much is completed there
	}},
	{"shortens", func(k *drawnServer) { // where more are in flight than it has slots
		k.habit = func(m *model) {
			m.length = func(asked int) int { return max(1, asked*k.slots/max(k.slots, m.inFlight)) }
		}
		k.low = k.bisect(0.2, 1, func(m *model) bool { return float64(m.answered)*1.05 < meanTokens*float64(m.served) })
		k.high = k.plain()
	}},
	{"crowding", func(k *drawnServer) { // slower by each request that waits
		share := k.draw(0.2, 0.4) / float64(k.slots)
		k.work(func(m *model) float64 { return 1 + share*float64(m.waiting()) })
		k.low, k.high = k.survives(900, 2/share), k.survives(60, 2/share)
	}},
	{"thrashes", drawThrashes},
	{"thrashing", drawThrashing},
	{"shared slots", func(k *drawnServer) { // its speed grows less than its batch
		power := k.draw(0.5, 0.9)
		k.habit = func(m *model) {
			m.slow = func(*job) float64 { return math.Pow(float64(m.busy()), 1-power) }
		}
		k.is(math.Pow(float64(k.slots), power) / k.service)
	}},
	{"outage", func(k *drawnServer) {
		at, length := k.draw(60, 900), k.draw(5, 20)
		k.habit = func(m *model) {
			m.fails = func(*job) (client.Class, float64) {
				if m.now >= at && m.now < at+length {
					return client.ClassReset, 0
				}
				return "", 0
			}
		}
	}},
	{"scales up", func(k *drawnServer) { k.scales(k.draw(1.5, 2)) }},
	{"scales down", func(k *drawnServer) { k.scales(k.draw(0.4, 0.7)) }},
	{"autoscaler", drawScaler},
	{"warms up", func(k *drawnServer) {
		cold, warm := k.draw(1.3, 2), k.draw(500, 3000)
		k.habit = func(m *model) {
			m.slow = func(*job) float64 { return 1 + (cold-1)*max(0, 1-float64(m.served)/warm) }
		}
	}},
	{"wakes slowly", drawWakes},
	{"credits", drawCredits},
	{"thermal", drawThermal},
	{"garbage", func(k *drawnServer) {
		period, pause := k.draw(30, 60), k.draw(2, 8)
		phase := k.draw(0, period)
		k.paced(func(now float64) (speed, until float64) {
			n := math.Floor((now + phase) / period)
			if now+phase-n*period < pause {
				return 0, n*period + pause - phase + 1e-9
			}
			return 1, (n+1)*period - phase + 1e-9
		})
		k.is(k.plain() * (1 - pause/period))
	}},
	{"noisy neighbour", drawNeighbour},
	{"other clients", func(k *drawnServer) {
		others := k.draw(0.2, 0.5) * k.plain()
		k.habit = func(m *model) { m.others = others }
		k.is(k.plain() - others)
	}},
	{"expiring cache", drawCache},
	{"fixed windows", func(k *drawnServer) { k.limit(k.draw(5, 60), false, false) }},
	{"quota of tokens", func(k *drawnServer) { k.lengths, k.quota = 0.5, true; k.limit(60, false, false) }},
	{"quota delays", func(k *drawnServer) { k.quota = true; k.limit(60, false, false) }},
	{"quota refuses", func(k *drawnServer) { k.quota = true; k.limit(60, true, false) }},
	{"sliding quota", func(k *drawnServer) { k.limit(k.draw(10, 60), true, true) }},
	{"speculative", drawSpeculative},
	{"priority tenant", drawTenant},
	{"reserved memory", drawReserved},
	{"swaps models", drawSwaps},
	{"preempts", drawPreempts},
	{"half a minute", func(k *drawnServer) { k.sized(4+k.rng.IntN(61), k.draw(20, 40)) }},
	{"one in ten seconds", func(k *drawnServer) { n := 1 + k.rng.IntN(4); k.sized(n, 10*float64(n)) }},
	{"one slot", func(k *drawnServer) { k.sized(1, k.draw(0.3, 8)) }},
	{"thousand slots", func(k *drawnServer) { k.sized(1000, k.draw(5, 20)) }},
	{"wide", func(k *drawnServer) {
		k.sized(int(8*math.Pow(32, k.rng.Float64())), 0.3*math.Pow(8/0.3, k.rng.Float64()))
	}},
	{"natural lengths", func(k *drawnServer) {
		k.natural = k.draw(0.4, 1)
		k.habit = func(m *model) { m.length = func(int) int { return k.naturalTokens(m.rng) } }
		k.sized(4+k.rng.IntN(29), k.draw(0.3, 4))
	}},
	{"mixed lengths", func(k *drawnServer) { k.lengths = k.draw(0.5, 1); k.sized(4+k.rng.IntN(29), k.draw(0.3, 4)) }},
}

// tolerated is the share of the requests that a server may refuse at the rate that it accepts.
const tolerated = 0.05

// server draws a server of a family.
func server(family string, seed uint64) *drawnServer {
	rng := rand.New(rand.NewPCG(seed, 31))
	k := &drawnServer{family: family, seed: seed, rng: rng, slots: 4 + rng.IntN(13),
		service: 0.3 * math.Pow(4, rng.Float64())}
	for _, f := range families {
		if f.name == family {
			f.draw(k)
		}
	}
	if k.high == 0 {
		k.is(k.plain())
	}
	return k
}

// queueServer is a server of equal slots without a habit.
func queueServer(slots int, service float64) *drawnServer {
	k := &drawnServer{family: "queue", slots: slots, service: service}
	k.is(k.plain())
	return k
}

// draw returns a number between two.
func (k *drawnServer) draw(low, high float64) float64 {
	v := low + (high-low)*k.rng.Float64()
	k.about = append(k.about, v)
	return v
}

// plain returns the capacity in requests per second without a habit.
func (k *drawnServer) plain() float64 { return float64(k.slots) / k.service }

func (k *drawnServer) is(rate float64) { k.low, k.high = rate, rate }

func (k *drawnServer) String() string {
	return fmt.Sprintf("%s %d: %d slots, %.2f s, %.3v, %.2f-%.2f req/s", k.family, k.seed, k.slots, k.service, k.about,
		k.low, k.high)
}

// model returns a fresh model.
func (k *drawnServer) model(seed uint64) *model {
	m := &model{rng: rand.New(rand.NewPCG(seed, 23)), service: k.service, stations: []station{{slots: k.slots}}}
	if k.habit != nil {
		k.habit(m)
	}
	return m
}

// start begins the server.
func (k *drawnServer) start() (d load.Doer, end func()) {
	if k.steps != nil {
		return newStepper(k.steps, k.seed).start()
	}
	m := newModelDoer(k.model(k.seed))
	return m, m.close
}

// source returns the requests to the server.
func (k *drawnServer) source(seed uint64, stage string) load.Source {
	if k.natural > 0 {
		return simtest.SameInAll(32, longestNatural*meanTokens)
	}
	return simtest.Varied{Fixed: simtest.SameInAll(32, meanTokens), Spread: k.lengths,
		Rng: stats.Rand(seed, "lengths", stage)}
}

// longestNatural is how many times the mean an answer that ends by itself may be long.
const longestNatural = 8

// naturalTokens draws the length of an answer that ends by itself.
func (k *drawnServer) naturalTokens(rng *rand.Rand) int {
	sigma := math.Sqrt(math.Log(1 + k.natural*k.natural))
	tokens := math.Round(meanTokens * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2))
	return int(min(max(1, tokens), longestNatural*meanTokens))
}

// sized gives the server a size. The mean length of its answers is not quite that for which the service time is known.
func (k *drawnServer) sized(slots int, service float64) {
	k.slots, k.service = slots, service
	const n = 20_000
	rng, source, sum := stats.Rand(1, "lengths", "natural"), k.source(1, "mean"), 0
	for range n {
		if k.natural > 0 {
			sum += k.naturalTokens(rng)
		} else {
			asked, _ := source.Next()
			sum += asked.Turns[0].OutputTokens
		}
	}
	k.is(k.plain() / (float64(sum) / n / meanTokens))
}

// bisect returns the rate between shares of the plain capacity from which on a model that ran alone, with Poisson
// arrivals of 40,000 requests, shows too much.
func (k *drawnServer) bisect(low, high float64, tooMuch func(m *model) bool) float64 {
	return bisect(low*k.plain(), high*k.plain(), func(rate float64) bool {
		m := k.model(1)
		m.alone(rate, 40_000/rate, rand.New(rand.NewPCG(1, 5)))
		return tooMuch(m)
	})
}

func bisect(low, high float64, tooMuch func(rate float64) bool) float64 {
	for range 11 {
		if rate := (low + high) / 2; tooMuch(rate) {
			high = rate
		} else {
			low = rate
		}
	}
	return (low + high) / 2
}

// sustains returns the highest rate at which the backlog of the model does not grow, by runs of an hour or 30,000
// requests.
func (k *drawnServer) sustains() float64 {
	return bisect(0.1*k.plain(), 4*k.plain(), func(rate float64) bool {
		m, seconds := k.model(k.seed), min(3600, 30_000/rate)
		left := float64(m.alone(rate, seconds, rand.New(rand.NewPCG(k.seed, 11))))
		return left > 4*float64(k.slots)+2*math.Sqrt((rate+m.others)*seconds)
	})
}

// survives returns the rate at which more than a number of requests are left in half of the runs of some seconds.
func (k *drawnServer) survives(seconds, left float64) float64 {
	return bisect(0.2*k.plain(), 1.2*k.plain(), func(rate float64) bool {
		const runs = 9
		fell := 0
		for i := range uint64(runs) {
			if n := k.model(k.seed).alone(rate, seconds, rand.New(rand.NewPCG(k.seed, 100+i))); float64(n) > left {
				fell++
			}
		}
		return 2*fell > runs
	})
}

// work draws how many times as long as others a request takes.
func (k *drawnServer) work(times func(m *model) float64) {
	k.habit = func(m *model) {
		m.slow = func(j *job) float64 {
			if j.work == 0 {
				j.work = times(m)
			}
			return j.work
		}
	}
}

func (k *drawnServer) ordered(key func(m *model, j *job) float64) {
	k.lengths = 0.5
	k.habit = func(m *model) { m.order = func(j *job) float64 { return key(m, j) } }
}

// replicas makes n stations with a number of slots each, routed by to; station i is slower by a factor.
func (k *drawnServer) replicas(n, each int, slower func(i int) float64, to func(m *model, load []int) int) {
	k.slots = n * each
	k.habit = func(m *model) {
		m.stations = make([]station, n)
		for i := range m.stations {
			m.stations[i].slots = each
		}
		load := make([]int, n)
		m.route = func(*job) int { i := to(m, load); load[i]++; return i }
		m.departs = func(j *job) { load[j.station]-- }
		m.slow = func(j *job) float64 { return slower(j.station) }
	}
}

func slowFirst(times float64) func(i int) float64 {
	return func(i int) float64 {
		if i == 0 {
			return times
		}
		return 1
	}
}

// oneSlow is round robin over n replicas, of which the slow one has to keep up with its share.
func (k *drawnServer) oneSlow(n, each int, times float64) {
	k.replicas(n, each, slowFirst(times), func(m *model, load []int) int { return m.arrived % n })
	k.is(k.plain() / times)
}

// drawBalanced gives each request to the replica with the fewest in flight.
func drawBalanced(k *drawnServer) {
	each, times := 1+k.rng.IntN(4), k.draw(1.5, 4)
	k.replicas(5, each, slowFirst(times), func(m *model, load []int) int {
		to := m.arrived % 5
		for i := range load {
			if i := (i + m.arrived) % 5; load[i] < load[to] {
				to = i
			}
		}
		return to
	})
	rate := float64(each) / k.service * (4 + 1/times)
	k.low, k.high = 0.99*rate, 1.01*rate
}

func drawShares(k *drawnServer) {
	n, each := 3+k.rng.IntN(4), 2+k.rng.IntN(4)
	shares, sum := make([]float64, n), 0.0
	for i := range shares {
		shares[i] = k.draw(1, 4)
		sum += shares[i]
	}
	k.replicas(n, each, func(int) float64 { return 1 }, func(m *model, _ []int) int {
		at := sum * m.rng.Float64()
		for i, s := range shares {
			if at -= s; at < 0 {
				return i
			}
		}
		return 0
	})
	k.is(float64(each) / k.service * sum / slices.Max(shares))
}

// drawPinned draws a server of several workers. A connection belongs to one of them for good, and clients use the
// connection that became idle last.
func drawPinned(k *drawnServer) {
	workers, each := 2+k.rng.IntN(4), 2+k.rng.IntN(4)
	k.replicas(workers, each, func(int) float64 { return 1 }, nil)
	stations := k.habit
	k.habit = func(m *model) {
		stations(m)
		var worker, idle []int // of each connection; connections that are idle
		m.route = func(j *job) int {
			if n := len(idle); n > 0 {
				j.connection, idle = idle[n-1], idle[:n-1]
			} else {
				j.connection, worker = len(worker), append(worker, m.rng.IntN(workers))
			}
			return worker[j.connection]
		}
		m.departs = func(j *job) { idle = append(idle, j.connection) }
	}
	rate := k.sustains()
	k.low, k.high = 0.99*rate, 1.01*rate
}

// drawBucket draws a gateway of which a bucket of tokens is filled at a rate.
func drawBucket(k *drawnServer) {
	k.is(k.draw(0.4, 0.8) * k.plain())
	fill := k.low * meanTokens
	most := fill * k.draw(10, 60)
	k.habit = func(m *model) {
		level, filled := most, 0.0
		m.gate = func(j *job) float64 {
			level = min(most, level+fill*(m.now-filled)) - float64(j.tokens)
			filled = m.now
			return max(0, -level/fill)
		}
	}
}

// limit draws a quota of requests, or of tokens where answers have many lengths. It counts them in periods that follow
// each other, or in any.
func (k *drawnServer) limit(period float64, refuses, sliding bool) {
	most := math.Ceil(k.draw(0.4, 0.8) * k.plain() * period)
	phase := k.draw(0, period)
	k.low, k.high = most/period, most/period
	cost := func(j *job) float64 { return 1 }
	if k.lengths > 0 {
		most *= meanTokens
		cost = func(j *job) float64 { return float64(j.tokens) }
	}
	if refuses {
		k.low *= 1 - tolerated
	}
	k.habit = func(m *model) {
		var passed []float64
		window, used := 0.0, 0.0
		wait := func(j *job) float64 {
			if sliding {
				for len(passed) > 0 && passed[0] <= m.now-period {
					passed = passed[1:]
				}
				if len(passed) >= int(most) {
					return passed[0] + period - m.now
				}
				passed = append(passed, m.now)
				return 0
			}
			if now := math.Floor((m.now + phase) / period); now > window {
				window, used = now, 0
			}
			next := (window+1)*period - phase - m.now
			if used+cost(j) > most {
				if refuses {
					return next
				}
				window, used = window+1, 0
			}
			used += cost(j)
			return max(0, window*period-phase-m.now)
		}
		if !refuses {
			m.gate = wait
			return
		}
		m.fails = func(j *job) (class client.Class, retry float64) {
			if retry = wait(j); retry > 0 {
				class = client.ClassRateLimited
			}
			return class, retry
		}
	}
}

// drawStatic draws a server that serves one batch at a time: who comes later waits for the next.
func drawStatic(k *drawnServer) {
	k.habit = func(m *model) {
		began, ends, next := -1.0, -1.0, false
		const same = 1e-6
		m.starts = func() float64 {
			if next && m.now >= ends-same { // the batch that waited began when the last one ended
				began, ends, next = ends, ends+k.service, false
			}
			switch {
			case m.now >= ends-same:
				began, ends = m.now, m.now+k.service
			case m.now > began+same:
				next = true
				return ends - m.now
			}
			return 0
		}
	}
}

// drawThrashes draws a server whose throughput falls above a number of requests in flight, and that takes two to three
// times as many. It collapses from its best by chance, and recovers from no higher rate than it does then.
func drawThrashes(k *drawnServer) {
	best := float64(k.slots)
	k.slots = int(best * k.draw(2, 3))
	slow := func(n float64) float64 { return 1 + 0.02*(n-1) + 0.98*n*(n-1)/best/best }
	k.habit = func(m *model) { m.slow = func(*job) float64 { return slow(float64(m.busy())) } }
	rate := k.sustains()
	k.low = min(0.99*rate, k.plain()/slow(float64(k.slots)))
	k.high = max(1.01*rate, best/slow(best)/k.service)
}

// drawThrashing draws a server that is slowed by requests beyond a number, for some time after them too.
func drawThrashing(k *drawnServer) {
	full, decay, least := float64(k.slots), k.draw(10, 30), k.draw(0.3, 0.5)
	knee := full * k.draw(1.5, 2.5)
	k.habit = func(m *model) {
		state := 1.0
		m.stations[0].slots = 1 << 20
		m.passes = func(seconds float64) {
			target := max(least, 1/(1+max(0, float64(m.busy())-knee)/knee))
			state = min(target, 1-(1-state)*math.Exp(-seconds/decay))
		}
		m.slow = func(*job) float64 { return max(1, float64(m.busy())/full) / state }
	}
	k.low, k.high = k.survives(900, 4*knee), k.survives(60, 4*knee)
}

// scales multiplies the slots after some minutes.
func (k *drawnServer) scales(times float64) {
	at, slots := k.draw(60, 300), int(math.Round(times*float64(k.slots)))
	k.habit = func(m *model) {
		m.passes = func(seconds float64) {
			if m.now+seconds >= at {
				m.stations[0].slots = slots
			}
		}
	}
	k.is(float64(slots) / k.service)
}

// drawScaler draws a server that adds a quarter of its slots every 30 s in which requests wait, up to twice as many.
func drawScaler(k *drawnServer) {
	k.habit = func(m *model) {
		checked := 0.0
		m.route = func(*job) int {
			if s := &m.stations[0]; m.now-checked >= 30 {
				if checked = m.now; len(s.queue) > k.slots/2 {
					s.slots = min(2*k.slots, s.slots+(k.slots+3)/4)
				}
			}
			return 0
		}
	}
	k.is(2 * k.plain())
}

// drawWakes draws a server that is slow for a while after it was idle for some seconds.
func drawWakes(k *drawnServer) {
	idle, slow, times := k.draw(1, 5), k.draw(5, 15), k.draw(1.5, 3)
	k.habit = func(m *model) {
		quiet, until := 0.0, slow
		m.passes = func(seconds float64) {
			if quiet += seconds; m.inFlight > 0 {
				quiet = 0
			}
			if quiet > idle {
				until = m.now + seconds + slow
			}
		}
		m.slow = func(*job) float64 {
			if m.now < until {
				return times
			}
			return 1
		}
	}
}

// drawCredits draws a server at full speed while it has credits, which it earns while it does little.
func drawCredits(k *drawnServer) {
	base, most := k.draw(0.4, 0.7), float64(k.slots)*k.draw(10, 60)
	k.habit = func(m *model) {
		left := most
		speed := func() float64 {
			if left <= 0 {
				return base
			}
			return 1
		}
		m.passes = func(seconds float64) {
			left = min(most, max(0, left+(base*float64(k.slots)-float64(m.busy())*speed())*seconds))
		}
		m.slow = func(*job) float64 { return 1 / speed() }
	}
	k.is(base * k.plain())
}

// drawThermal draws a server that becomes slower after a minute of full load, until it has cooled down.
func drawThermal(k *drawnServer) {
	speed, cooling := k.draw(0.55, 0.8), k.draw(0.3, 0.5)
	k.habit = func(m *model) {
		heat, most, hot := 0.0, 60*(1-cooling), false
		m.passes = func(seconds float64) {
			power := float64(m.busy()) / float64(k.slots)
			if hot {
				power *= speed
			}
			heat = min(most, max(0, heat+(power-cooling)*seconds))
			hot = heat >= most || hot && heat > 0.8*most
		}
		m.slow = func(*job) float64 {
			if hot {
				return 1 / speed
			}
			return 1
		}
	}
	k.is(speed * k.plain())
}

// paced makes work go on at a speed that depends on the time alone: 0 while the server stands still.
func (k *drawnServer) paced(speed func(now float64) (s, until float64)) {
	k.habit = func(m *model) {
		m.slow = func(*job) float64 {
			work, now := m.service/meanTokens, m.now
			for {
				s, until := speed(now)
				if s*(until-now) >= work {
					return (now + work/s - m.now) / (m.service / meanTokens)
				}
				work -= s * (until - now)
				now = until
			}
		}
	}
}

// drawNeighbour draws a server beside a job that comes and goes at random, within seconds, and takes a share of its
// speed.
func drawNeighbour(k *drawnServer) {
	speed, alone, shared := k.draw(0.4, 0.7), k.draw(2, 8), k.draw(1, 6)
	rng, ends, end := rand.New(rand.NewPCG(k.seed, 29)), []float64(nil), 0.0 // the neighbour comes and goes in turn
	k.paced(func(now float64) (float64, float64) {
		for len(ends) == 0 || ends[len(ends)-1] <= now {
			mean := alone
			if len(ends)%2 == 1 {
				mean = shared
			}
			end += mean * rng.ExpFloat64()
			ends = append(ends, end)
		}
		i, _ := slices.BinarySearchFunc(ends, now, func(end, now float64) int {
			if end > now {
				return 1
			}
			return -1
		})
		if i%2 == 1 {
			return speed, ends[i]
		}
		return 1, ends[i]
	})
	k.is(k.plain() * (alone + speed*shared) / (alone + shared))
}

// drawCache draws a server that answers faster what was asked within some seconds; keys are asked for with frequencies
// by Zipf's law.
func drawCache(k *drawnServer) {
	keys, expires, share := 100+k.rng.IntN(900), k.draw(10, 60), k.draw(0.3, 0.7)
	k.habit = func(m *model) {
		zipf, asked := rand.NewZipf(m.rng, 1.1, 5, uint64(keys-1)), map[uint64]float64{}
		m.slow = func(j *job) float64 {
			if j.work == 0 {
				key := zipf.Uint64()
				at, known := asked[key]
				if asked[key], j.work = m.now, 1; known && m.now-at < expires {
					j.work = 1 - share
				}
			}
			return j.work
		}
	}
	rate := k.sustains()
	k.low, k.high = 0.99*rate, 1.01*rate
}
