package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"

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
	service   float64                                   // seconds of an answer of meanTokens tokens
	lengths   float64                                   // coefficient of variation of the lengths that are asked for,
	natural   float64                                   // and of answers that end by themselves
	habit     func(m *model)                            // of a queue; nil for none
	steps     func(s *stepper) func() float64           // of a server that works in steps; nil for a queue
	asks      func(rng *rand.Rand) (prompt, output int) // tokens of its requests; nil for meanTokens
	about     []float64                                 // what was drawn
	low, high float64                                   // its truth
	find      func() truth                              // finds it by long runs, where it is not computed
	quota     bool                                      // the sweep has to name one
}

// family is servers of one habit.
type family struct {
	name string
	draw func(k *drawnServer)
}

// families are those that the rules of judgement were made with. Many were drawn by hands that had read none.
var families = []family{
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
		k.pauses(period, pause, k.draw(0, period))
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
	if k.asks != nil {
		return drawnLengths{k.asks, stats.Rand(seed, "lengths", stage)}
	}
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
