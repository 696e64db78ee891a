package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/sweep/load"
)

// blindFamily is a family of models. Where capacity is nil, the truth is found by running the model alone.
type blindFamily struct {
	name     string
	draw     func(rng *rand.Rand, c *blindCase)
	capacity func(c *blindCase) (low, high float64)
}

// blindCase is what a family draws of a server.
type blindCase struct {
	slots   int
	service float64
	about   []any          // what else was drawn
	rate    float64        // its capacity, where the oddity changes it and it can be computed
	peak    float64        // what it does at its best, where it collapses from there by chance,
	least   float64        // and what it does once it has: it recovers from no higher rate
	change  func(b *blind) // makes the model odd
}

// plain returns the capacity in requests per second without anything odd.
func (c *blindCase) plain() float64 { return float64(c.slots) / c.service }

func (c *blindCase) note(v ...any) { c.about = append(c.about, v...) }

// model returns a fresh model.
func (c *blindCase) model(seed uint64) *blind {
	b := &blind{rng: rand.New(rand.NewPCG(seed, 23)), service: c.service, stations: []blindStation{{slots: c.slots}}}
	c.change(b)
	return b
}

func drawBlind(f blindFamily, seed uint64) *oddTrial {
	rng := rand.New(rand.NewPCG(seed, 31))
	c := &blindCase{slots: 4 + rng.IntN(13), service: 0.3 * math.Pow(4, rng.Float64())}
	f.draw(rng, c)
	k := &oddTrial{family: f.name, seed: seed, about: fmt.Sprintf("slots %d service %.2f %.3v", c.slots, c.service, c.about)}
	if f.capacity != nil {
		k.low, k.high = f.capacity(c)
	} else {
		rate := sustains(func() *blind { return c.model(seed) }, c.plain(), seed)
		k.low, k.high = 0.99*rate, max(c.peak, 1.01*rate) // with the simulation's own error
		if c.least > 0 {
			k.low = min(k.low, c.least)
		}
	}
	k.server = func() (load.Doer, func()) {
		d := newBlindDoer(c.model(seed))
		return d, d.close
	}
	return k
}

// from draws a number between two.
func from(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }

// plainCapacity is the truth of servers whose oddity takes nothing of their capacity.
func plainCapacity(c *blindCase) (low, high float64) { return c.plain(), c.plain() }

// drawnCapacity is the truth of servers whose capacity can be computed from what was drawn.
func drawnCapacity(c *blindCase) (low, high float64) { return c.rate, c.rate }

func blindFamilies() []blindFamily {
	return []blindFamily{
		{"pareto", drawPareto, plainCapacity},
		{"down 20 s", drawDown, plainCapacity},
		{"thermal", drawThermal, drawnCapacity},
		{"wakes slowly", drawWakes, plainCapacity},
		{"pinned connections", drawPinned, nil},
		{"slow one of five", func(rng *rand.Rand, c *blindCase) { drawFive(rng, c, true) }, drawnCapacity},
		{"slow one balanced", func(rng *rand.Rand, c *blindCase) { drawFive(rng, c, false) }, nil},
		{"fixed windows", drawWindows, drawnCapacity},
		{"static batches", drawStatic, plainCapacity},
		{"shared slots", drawShared, drawnCapacity},
		{"thrashes", drawThrashes, nil},
		{"halves answers", drawHalves, func(c *blindCase) (float64, float64) { return 0.85 * c.plain(), c.plain() }},
		{"other clients", drawOthers, drawnCapacity},
		{"expiring cache", drawCache, nil},
		{"autoscaler", drawScaler, drawnCapacity},
	}
}

// drawPareto draws service times with a heavy tail: the variance does not exist.
func drawPareto(rng *rand.Rand, c *blindCase) {
	alpha := from(rng, 1.6, 2)
	c.note("alpha", alpha)
	c.change = func(b *blind) {
		b.slow = func(b *blind, j *blindJob) float64 {
			if j.work == 0 {
				j.work = (alpha - 1) / alpha * math.Pow(1-b.rng.Float64(), -1/alpha)
			}
			return j.work
		}
	}
}

// drawDown draws a server of which all new requests fail for 20 s.
func drawDown(rng *rand.Rand, c *blindCase) {
	at := from(rng, 60, 900)
	c.note("at", at)
	c.change = func(b *blind) { b.down = func(now float64) bool { return now >= at && now < at+20 } }
}

// drawThermal draws a server that becomes slower after a minute of full load, until it has cooled down.
func drawThermal(rng *rand.Rand, c *blindCase) {
	speed, cooling := from(rng, 0.55, 0.8), from(rng, 0.3, 0.5)
	c.note("speed", speed, "cooling", cooling)
	c.rate = speed * c.plain()
	c.change = func(b *blind) {
		heat, most, hot := 0.0, 60*(1-cooling), false
		b.passes = func(b *blind, dt float64) {
			power := float64(b.busy()) / float64(c.slots)
			if hot {
				power *= speed
			}
			heat = min(most, max(0, heat+(power-cooling)*dt))
			hot = heat >= most || hot && heat > 0.8*most
		}
		b.slow = func(*blind, *blindJob) float64 {
			if hot {
				return 1 / speed
			}
			return 1
		}
	}
}

// drawWakes draws a server that is slow for a while after it was idle for some seconds.
func drawWakes(rng *rand.Rand, c *blindCase) {
	idle, slow, times := from(rng, 1, 5), from(rng, 5, 15), from(rng, 1.5, 3)
	c.note("idle", idle, "slow", slow, "times", times)
	c.change = func(b *blind) {
		quiet, until := 0.0, slow
		b.passes = func(b *blind, dt float64) {
			if quiet += dt; b.inFlight > 0 {
				quiet = 0
			}
			if quiet > idle {
				until = b.now + dt + slow
			}
		}
		b.slow = func(b *blind, _ *blindJob) float64 {
			if b.now < until {
				return times
			}
			return 1
		}
	}
}

// drawPinned draws a server of several workers. A connection belongs to one of them for good, and clients use the connection that became idle last.
func drawPinned(rng *rand.Rand, c *blindCase) {
	workers, each := 2+rng.IntN(4), 2+rng.IntN(4)
	c.slots = workers * each
	c.note("workers", workers)
	c.change = func(b *blind) {
		b.stations = make([]blindStation, workers)
		for i := range b.stations {
			b.stations[i].slots = each
		}
		var worker, idle []int // of each connection; connections that are idle
		b.route = func(b *blind, j *blindJob) int {
			if n := len(idle); n > 0 {
				j.conn, idle = idle[n-1], idle[:n-1]
			} else {
				j.conn, worker = len(worker), append(worker, b.rng.IntN(workers))
			}
			return worker[j.conn]
		}
		b.departs = func(_ *blind, j *blindJob) { idle = append(idle, j.conn) }
	}
}

// drawFive draws five replicas of which one is slower, in turns or each request to the one with the fewest in flight.
func drawFive(rng *rand.Rand, c *blindCase, turns bool) {
	each, slower := 1+rng.IntN(4), from(rng, 1.5, 4)
	c.slots = 5 * each
	c.note("slower", slower)
	c.rate = c.plain() / slower // in turns the slow one gets a fifth, and has to keep up with it
	c.change = func(b *blind) {
		b.stations = make([]blindStation, 5)
		for i := range b.stations {
			b.stations[i].slots = each
		}
		var load [5]int
		b.route = func(b *blind, _ *blindJob) int {
			to := b.arrived % 5
			if !turns {
				for i := range load {
					if i := (i + b.arrived) % 5; load[i] < load[to] {
						to = i
					}
				}
			}
			load[to]++
			return to
		}
		b.departs = func(_ *blind, j *blindJob) { load[j.station]-- }
		b.slow = func(_ *blind, j *blindJob) float64 {
			if j.station == 0 {
				return slower
			}
			return 1
		}
	}
}

// drawWindows draws a gateway that lets so many requests pass in each window of a fixed clock.
func drawWindows(rng *rand.Rand, c *blindCase) {
	period := from(rng, 5, 60)
	most := math.Ceil(from(rng, 0.4, 0.8) * c.plain() * period)
	c.note("period", period, "most", most)
	c.rate = most / period
	c.change = func(b *blind) {
		window, passed := 0.0, 0.0
		b.gate = func(b *blind) float64 {
			if now := math.Floor(b.now / period); now > window {
				window, passed = now, 0
			}
			if passed >= most {
				window, passed = window+1, 0
			}
			passed++
			return max(0, window*period-b.now)
		}
	}
}

// drawStatic draws a server that serves one batch at a time: who comes later waits for the next.
func drawStatic(_ *rand.Rand, c *blindCase) {
	c.change = func(b *blind) {
		began, ends, next := -1.0, -1.0, false
		const same = 1e-6
		b.starts = func(b *blind) float64 {
			if next && b.now >= ends-same { // the batch that waited began when the last one ended
				began, ends, next = ends, ends+c.service, false
			}
			switch {
			case b.now >= ends-same:
				began, ends = b.now, b.now+c.service
			case b.now > began+same:
				next = true
				return ends - b.now
			}
			return 0
		}
	}
}

// drawShared draws a server whose speed grows less than its batch.
func drawShared(rng *rand.Rand, c *blindCase) {
	power := from(rng, 0.5, 0.9)
	c.note("power", power)
	c.rate = math.Pow(float64(c.slots), power) / c.service
	c.change = func(b *blind) {
		b.slow = func(b *blind, _ *blindJob) float64 { return math.Pow(float64(b.busy()), 1-power) }
	}
}

// drawThrashes draws a server whose throughput falls above a number of requests in flight, and that takes two to three times as many.
func drawThrashes(rng *rand.Rand, c *blindCase) {
	best := float64(c.slots)
	c.slots = int(best * from(rng, 2, 3))
	c.note("best", best)
	slow := func(n float64) float64 { return 1 + 0.02*(n-1) + 0.98*n*(n-1)/best/best }
	c.peak, c.least = best/slow(best)/c.service, float64(c.slots)/slow(float64(c.slots))/c.service
	c.change = func(b *blind) {
		b.slow = func(b *blind, _ *blindJob) float64 { return slow(float64(b.busy())) }
	}
}

// drawHalves draws a server that shortens answers, to a half at the least, where more are in flight than it has slots.
func drawHalves(_ *rand.Rand, c *blindCase) {
	c.change = func(b *blind) {
		b.length = func(b *blind, asked int) int {
			return max((asked+1)/2, asked*c.slots/max(c.slots, b.inFlight))
		}
	}
}

// drawOthers draws a server that other clients use too.
func drawOthers(rng *rand.Rand, c *blindCase) {
	others := from(rng, 0.2, 0.5) * c.plain()
	c.note("others", others)
	c.rate = c.plain() - others
	c.change = func(b *blind) { b.others = others }
}

// drawCache draws a server that answers faster what was asked within some seconds; keys are asked for with frequencies by Zipf's law.
func drawCache(rng *rand.Rand, c *blindCase) {
	keys, expires, share := 100+rng.IntN(900), from(rng, 10, 60), from(rng, 0.3, 0.7)
	c.note("keys", keys, "expires", expires, "share", share)
	c.change = func(b *blind) {
		zipf, asked := rand.NewZipf(b.rng, 1.1, 5, uint64(keys-1)), map[uint64]float64{}
		b.slow = func(b *blind, j *blindJob) float64 {
			if j.work == 0 {
				key := zipf.Uint64()
				at, known := asked[key]
				if asked[key], j.work = b.now, 1; known && b.now-at < expires {
					j.work = 1 - share
				}
			}
			return j.work
		}
	}
}

// drawScaler draws a server that adds a quarter of its slots every 30 s in which requests wait, up to twice as many.
func drawScaler(_ *rand.Rand, c *blindCase) {
	first := c.slots
	c.rate = 2 * c.plain()
	c.change = func(b *blind) {
		checked := 0.0
		b.route = func(b *blind, _ *blindJob) int {
			if s := &b.stations[0]; b.now-checked >= 30 {
				if checked = b.now; len(s.queue) > first/2 {
					s.slots = min(2*first, s.slots+(first+3)/4)
				}
			}
			return 0
		}
	}
}

// The models that run alone sustain what can be computed. Pareto's backlog varies too much to see that; answers that shorten have no sharp truth.
func TestBlindTruths(t *testing.T) {
	for _, f := range blindFamilies() {
		if f.capacity == nil || f.name == "pareto" || f.name == "halves answers" {
			continue
		}
		computed := drawBlind(f, 3)
		f.capacity = nil
		if alone := drawBlind(f, 3); alone.high < 0.97*computed.low || alone.low > 1.1*computed.high {
			t.Errorf("%s: sustains %.3f to %.3f req/s, computed %.3f", f.name, alone.low, alone.high, computed.low)
		}
	}
}
