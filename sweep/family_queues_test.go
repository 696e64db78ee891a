package sweep

import (
	"math"
	"math/rand/v2"
	"slices"

	"llmsweep/client"
)

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
