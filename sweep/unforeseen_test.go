package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
)

// unforeseenFamilies were drawn to find what the rules of judgement get wrong: none was made with them.
var unforeseenFamilies = []family{
	{"random routing", func(k *drawnServer) { // over many small replicas
		n := 8 + k.rng.IntN(25)
		k.replicas(n, 1+k.rng.IntN(2), equal, func(m *model, _ []int) int { return m.rng.IntN(n) })
		k.is(k.plain())
	}},
	{"slightly slower", func(k *drawnServer) { k.oneSlow(2+k.rng.IntN(23), 1+k.rng.IntN(4), k.draw(1.1, 1.5)) }},
	{"two choices", func(k *drawnServer) { // the less busy of two replicas at random; one is slower
		n := 4 + k.rng.IntN(13)
		k.replicas(n, 1+k.rng.IntN(4), slowFirst(k.draw(1.1, 1.5)), func(m *model, load []int) int {
			a, b := m.rng.IntN(n), m.rng.IntN(n-1)
			if b >= a {
				b++
			}
			if load[b] < load[a] {
				return b
			}
			return a
		})
		k.find = k.longRuns
	}},
	{"affinity", drawAffinity},
	{"short queue", func(k *drawnServer) {
		most, retry := int(float64(k.slots)*k.draw(0.5, 4)), float64(k.rng.IntN(2))
		k.refuses(func(m *model, _ *job) (bool, float64) { return m.waiting() >= most, retry })
	}},
	{"in flight limit", func(k *drawnServer) {
		most := 4 + k.rng.IntN(61)
		k.batched(k.draw(0.005, 0.06))
		k.refuses(func(m *model, _ *job) (bool, float64) { return m.inFlight >= most, 0 })
	}},
	{"predicted wait", func(k *drawnServer) { // who would wait for longer than that is refused
		patience := k.draw(1, 6)
		k.work(func(m *model) float64 { return math.Exp(0.55*m.rng.NormFloat64() - 0.15) })
		k.refuses(func(m *model, _ *job) (bool, float64) {
			wait := float64(m.waiting()) / k.plain()
			return wait > patience, math.Ceil(wait)
		})
	}},
	{"queue timeout", func(k *drawnServer) {
		patience := k.draw(5, 25)
		k.habit = func(m *model) { m.patience, m.timeout = patience, true }
		k.find = k.longRuns
	}},
	{"key bucket", func(k *drawnServer) { // of tokens, filled at a rate; what it does not hold is refused
		k.lengths = 0.5
		fill, saved := k.draw(0.3, 0.8)*k.plain()*meanTokens, k.draw(10, 60)
		k.slots *= 2
		k.habit = func(m *model) {
			level, at := fill*saved, 0.0
			m.fails = func(j *job) (client.Class, float64) {
				level, at = min(fill*saved, level+fill*(m.now-at)), m.now
				if need := float64(j.tokens); need > level {
					return client.ClassRateLimited, (need - level) / fill
				} else {
					level -= need
				}
				return "", 0
			}
		}
		k.find = k.longRuns
	}},
	{"adds replicas", drawAddsReplicas},
	{"heat", drawHeat},
	{"compaction", func(k *drawnServer) { // it stands still for some seconds every two minutes or so
		period, pause := 120*k.draw(0.9, 1.1), k.draw(4, 15)
		k.pauses(period, pause, k.draw(0, 120))
	}},
	{"streams", func(k *drawnServer) { // a proxy lets so many run on each of its connections
		n := 1 + k.rng.IntN(4)
		k.replicas(n, 8+k.rng.IntN(25), equal, func(m *model, _ []int) int { return m.rng.IntN(n) })
		k.batched(k.draw(0.005, 0.06))
		k.find = k.longRuns
	}},
	{"prefix cache fills", func(k *drawnServer) { // in the first minutes
		saved, tau := k.draw(0.3, 0.6), k.draw(60, 120)
		k.work(func(m *model) float64 {
			if m.rng.Float64() < 0.9*(1-math.Exp(-m.now/tau)) {
				return 1 - saved
			}
			return 1
		})
		k.is(k.plain() / (1 - 0.9*saved))
	}},
	{"rolling update", func(k *drawnServer) { // replicas are replaced one after another
		n, each, at, length := 3+k.rng.IntN(4), 2+k.rng.IntN(4), k.draw(60, 600), k.draw(40, 80)
		k.slots = n * each
		k.habit = func(m *model) {
			m.passes = func(seconds float64) {
				m.stations[0].slots = k.slots
				if now := m.now + seconds; now >= at && now < at+float64(n)*length {
					m.stations[0].slots -= each
				}
			}
		}
		k.is(k.plain())
	}},
	{"a minute each", func(k *drawnServer) {
		k.slots, k.service = int(k.log(1, 65)), k.draw(50, 70)
		k.is(k.plain())
	}},
	{"five milliseconds", func(k *drawnServer) {
		const tokens = 2
		k.asks = fixedLengths(32, tokens)
		k.habit = func(m *model) { m.tokens = tokens }
		k.slots, k.service = int(k.log(1, 16)), k.draw(4e-3, 6e-3)*meanTokens/tokens
		k.is(k.plain() * meanTokens / tokens)
	}},
	{"two thousand slots", func(k *drawnServer) {
		k.slots, k.service = 1000+k.rng.IntN(1001), k.draw(10, 40)
		k.is(k.plain())
	}},
	{"tiny rates", func(k *drawnServer) {
		k.slots, k.service = 1+k.rng.IntN(2), k.log(5, 20)
		k.is(k.plain())
	}},
	{"chunked prefill", func(k *drawnServer) { // beside the answers, which go first
		k.engine(engine{seqs: 16 + k.rng.IntN(49), chunk: 128 << k.rng.IntN(3),
			time: stepTime(k.draw(8e-3, 20e-3), k.draw(0.1e-3, 0.4e-3), k.draw(0.03e-3, 0.15e-3), k.draw(0, 0.3e-6))},
			variedLengths(k.draw(200, 1000), 0.7, 32, 0.5))
	}},
	{"context", func(k *drawnServer) { // a step takes longer with all that is in the cache
		k.engine(engine{seqs: 32 << k.rng.IntN(4), chunk: 1024,
			time: stepTime(k.draw(6e-3, 15e-3), k.draw(0.05e-3, 0.3e-3), k.draw(0.02e-3, 0.06e-3), k.draw(0.2e-6, 1.5e-6))},
			variedLengths(k.draw(500, 3000), 0.8, 48, 0.5))
	}},
	{"recomputes", drawRecomputes},
	{"experts", drawExperts},
	{"short and long", func(k *drawnServer) { // one answer in ten is a hundred times as long
		k.engine(engine{seqs: 16 + k.rng.IntN(49), time: stepTime(k.draw(5e-3, 12e-3), k.draw(0.05e-3, 0.3e-3), 0.02e-3, 0)},
			func(rng *rand.Rand) (int, int) {
				if rng.Float64() < 0.1 {
					return 128, 2000
				}
				return 128, 20
			})
	}},
	{"long prompts", func(k *drawnServer) { // of very different lengths, which hold up all answers
		k.engine(engine{seqs: 16 + k.rng.IntN(33),
			time: stepTime(k.draw(6e-3, 15e-3), k.draw(0.1e-3, 0.3e-3), k.draw(0.03e-3, 0.1e-3), 0)},
			variedLengths(1000, k.draw(1.3, 2.9), 32, 0))
	}},
}

// unforeseen draws a server of an unforeseen family. A truth that takes long runs is found once.
func unforeseen(t *testing.T, name string, seed uint64) *drawnServer {
	rng := rand.New(rand.NewPCG(seed, 37))
	k := &drawnServer{family: name, seed: seed, rng: rng, slots: 4 + rng.IntN(13),
		service: 0.3 * math.Pow(4, rng.Float64())}
	i := slices.IndexFunc(unforeseenFamilies, func(f family) bool { return f.name == name })
	unforeseenFamilies[i].draw(k)
	if k.find != nil {
		tr := kept(t, fmt.Sprintf("%s-%d-%.4v", name, seed, k.about), k.find)
		k.low, k.high = tr.Low, tr.High
	}
	return k
}

func equal(int) float64 { return 1 }

// log draws a number between two, alike on each scale.
func (k *drawnServer) log(low, high float64) float64 {
	return math.Exp(k.draw(math.Log(low), math.Log(high)))
}

// batched makes each token slower by a share for each request that is served.
func (k *drawnServer) batched(share float64) {
	before := k.habit
	k.habit = func(m *model) {
		if before != nil {
			before(m)
		}
		m.slow = func(*job) float64 { return 1 + share*float64(m.busy()) }
	}
}

// refuses adds that requests get 429 where a server says so, with the seconds until they may come again.
func (k *drawnServer) refuses(says func(m *model, j *job) (bool, float64)) {
	before := k.habit
	k.habit = func(m *model) {
		if before != nil {
			before(m)
		}
		m.fails = func(j *job) (client.Class, float64) {
			refused, retry := says(m, j)
			switch {
			case refused && retry > 0:
				return client.ClassRateLimited, retry
			case refused:
				return client.ClassHTTP429, 0
			}
			return "", 0
		}
	}
	k.find = k.longRuns
}

// longRuns finds the highest rate at which the backlog of the model does not grow, and no more is refused or given up
// than is tolerated, in an hour, of
// 50,000 to 100,000 requests. Where it loses requests, what it completes of more counts too.
func (k *drawnServer) longRuns() truth {
	const requests, grows = 50_000, 0.004
	run := func(rate float64) (m *model, left, seconds float64) {
		m, seconds = k.model(k.seed), min(max(3600, requests/rate), 2*requests/rate)
		return m, float64(m.alone(rate, seconds, rand.New(rand.NewPCG(k.seed, 11)))), seconds
	}
	at := bisect(0.1*k.plain(), 3*k.plain(), func(rate float64) bool {
		m, left, seconds := run(rate)
		n := rate * seconds
		return left > 4*float64(k.slots)+grows*n+math.Sqrt(n) || float64(m.refused+m.stubs) > tolerated*n
	})
	tr := truth{Low: 0.985 * at, High: 1.005 * at}
	if m, _, seconds := run(1.5 * at); m.refused+m.stubs > 0 {
		tr.Low *= 1 - tolerated
		tr.High = max(tr.High, float64(m.served)/seconds)
	}
	return tr
}

// drawAffinity draws a router that sends requests of a group to the replica that has their prefix in its cache, unless
// it is much fuller than others.
func drawAffinity(k *drawnServer) {
	n, each, groups := 2+k.rng.IntN(5), 2+k.rng.IntN(5), 20+k.rng.IntN(80)
	power, spill, saved, room := k.draw(0.6, 1.1), k.draw(1.2, 2), k.draw(0.3, 0.6), groups/n/2+2
	pick := zipf(groups, power)
	k.replicas(n, each, equal, nil)
	stations := k.habit
	k.habit = func(m *model) {
		stations(m)
		load, caches := make([]int, n), make([][]int, n)
		m.route = func(j *job) int {
			j.group = pick(m.rng)
			to, sum := j.group*7919%n, 0
			for _, l := range load {
				sum += l
			}
			if float64(load[to]) > spill*(float64(sum)/float64(n)+1) {
				to = slices.Index(load, slices.Min(load))
			}
			load[to]++
			return to
		}
		m.departs = func(j *job) { load[j.station]-- }
		m.slow = func(j *job) float64 {
			if j.work == 0 {
				cache := &caches[j.station]
				j.work = 1
				if at := slices.Index(*cache, j.group); at >= 0 {
					j.work = 1 - saved
					*cache = slices.Delete(*cache, at, at+1)
				} else if len(*cache) >= room {
					*cache = (*cache)[1:]
				}
				*cache = append(*cache, j.group)
			}
			return j.work
		}
	}
	k.find = k.longRuns
}

// drawAddsReplicas draws a server that starts a replica after a minute of load, which serves after a while, and stops
// one after five minutes of little load.
func drawAddsReplicas(k *drawnServer) {
	n, each := 1+k.rng.IntN(2), 4+k.rng.IntN(9)
	most := n * (2 + k.rng.IntN(2))
	cold, high := k.draw(20, 90), k.draw(0.7, 0.9)
	const every, low, loaded, calm = 5, 0.3, 60, 300 // seconds; share of the slots; seconds of more, and of less
	k.slots = most * each
	k.habit = func(m *model) {
		have, next, busy, idle, ready := n, 0.0, 0, 0, []float64(nil) // ready: when those that start serve
		m.passes = func(seconds float64) {
			for now := m.now + seconds; next <= now; next += every {
				if len(ready) > 0 && ready[0] <= next {
					have, ready = have+1, ready[1:]
				}
				use := float64(m.busy()) / float64(have*each)
				if busy++; use < high {
					busy = 0
				}
				if idle++; use > low {
					idle = 0
				}
				if busy*every >= loaded && have+len(ready) < most {
					busy, ready = 0, append(ready, next+cold)
				}
				if idle*every >= calm && have > n && len(ready) == 0 {
					idle, have = 0, have-1
				}
			}
			m.stations[0].slots = have * each
		}
	}
	k.is(k.plain())
}

// drawHeat draws a server that is hot after three minutes of load, and slower until it has cooled down.
func drawHeat(k *drawnServer) {
	speed, hot, tau := k.draw(0.6, 0.85), k.draw(0.6, 0.8), k.draw(120, 240)
	k.habit = func(m *model) {
		heat, slow := 0.0, false
		m.passes = func(seconds float64) {
			power := float64(m.busy()) / float64(k.slots)
			if slow {
				power *= speed
			}
			heat += (power - heat) * (1 - math.Exp(-seconds/tau))
			slow = heat > hot || slow && heat > 0.93*hot
		}
		m.slow = func(*job) float64 {
			if slow {
				return 1 / speed
			}
			return 1
		}
	}
	k.find = k.longRuns
}

// engine is a server with continuous batching.
type engine struct {
	seqs  int                                         // most in a batch
	chunk int                                         // tokens of a step, answers first; 0: whole prompts, before answers
	kv    int                                         // tokens of the cache; 0 for as many as come
	time  func(decodes, prefill, context int) float64 // seconds of a step, by the tokens that it computes and reads
}

// stepTime is linear.
func stepTime(base, decode, prefill, context float64) func(decodes, prefill, context int) float64 {
	return func(d, p, c int) float64 {
		return base + decode*float64(d) + prefill*float64(p) + context*float64(c)
	}
}

// engine makes the server an engine that is asked for requests of some lengths. Its truth is what it completes of more
// than it can do.
func (k *drawnServer) engine(e engine, asks func(rng *rand.Rand) (prompt, output int)) {
	k.asks = asks
	k.steps = func(s *stepper) func() float64 {
		s.asks = asks
		return func() float64 { return e.step(s) }
	}
	k.find = func() truth {
		rate := newStepper(k.steps, 1).saturated(20_000)
		return truth{Low: 0.99 * rate, High: 1.01 * rate}
	}
}

// step begins a step: what does not fit into the cache loses its place, the last to begin first, and is computed again.
func (e engine) step(s *stepper) float64 {
	held := func(j *stepJob) int { return j.prompt + j.asked - j.left + 1 }
	used, full := 0, false
	for _, j := range s.running {
		used += held(j)
	}
	for ; e.kv > 0 && used > e.kv && len(s.running) > 1; full = true {
		last := s.running[len(s.running)-1]
		used -= held(last)
		s.running, s.waiting = s.running[:len(s.running)-1], append([]*stepJob{last}, s.waiting...)
	}
	s.admit(func(j *stepJob) bool {
		fits := e.kv == 0 || len(s.running) == 0 || used+held(j) <= e.kv
		if full || len(s.running) >= e.seqs || !fits {
			return false
		}
		used += held(j)
		j.todo = held(j) - 1
		return true
	})
	var prompts, answers []*stepJob
	prefill, context, left := 0, 0, e.chunk
	for _, j := range s.running {
		if j.pause = 0; j.todo > 0 {
			prompts = append(prompts, j)
		} else {
			answers, context = append(answers, j), context+held(j)-1
		}
	}
	left = max(1, left-len(answers))
	if e.chunk == 0 && len(prompts) > 0 {
		const most = 8192
		for _, j := range answers {
			j.pause = 1
		}
		answers, context, left = nil, 0, most
	}
	for _, j := range prompts {
		n := min(j.todo, left)
		switch {
		case e.chunk == 0 && prefill > 0 && n < j.todo:
			n = 0
		case e.chunk == 0:
			n = j.todo
		}
		prefill, left, j.todo = prefill+n, max(0, left-n), j.todo-n
		if j.todo > 0 {
			j.pause = 1
		}
	}
	return e.time(len(answers), prefill, context)
}

// drawRecomputes draws an engine whose cache holds fewer answers than begin. It collapses by chance: its truth is what
// it keeps up with for ten minutes, or for two hours.
func drawRecomputes(k *drawnServer) {
	prompt, output := k.draw(30, 100), k.draw(100, 200)
	k.engine(engine{seqs: 256, kv: int((prompt + output/2) * k.draw(15, 40)),
		time: stepTime(k.draw(8e-3, 20e-3), k.draw(0.1e-3, 0.4e-3), k.draw(0.1e-3, 0.5e-3), 0)},
		variedLengths(prompt, 0.3, output, 0.7))
	over := k.find
	k.find = func() truth {
		low := over().Low
		keeps := func(seconds float64) float64 {
			return bisect(low, 1.6*low, func(rate float64) bool {
				const most, grows = 100, 0.02
				left := newStepper(k.steps, k.seed).alone(rate, seconds, rand.New(rand.NewPCG(k.seed, 11)))
				return float64(left) > most+grows*rate*seconds
			})
		}
		return truth{Low: 0.985 * keeps(7200), High: 1.01 * keeps(600)}
	}
}

// drawExperts draws an engine of which a step takes as long as the expert that most tokens go to.
func drawExperts(k *drawnServer) {
	experts, seqs, skew := 8<<k.rng.IntN(3), 16+k.rng.IntN(49), k.draw(0, 0.8)
	base, each := k.draw(8e-3, 15e-3), k.draw(0.5e-3, 2e-3)
	k.engine(engine{seqs: seqs}, variedLengths(64, 0, 24, 0.4))
	k.steps = func(s *stepper) func() float64 {
		s.asks = k.asks
		pick, load := zipf(experts, skew), make([]int, experts)
		e := engine{seqs: seqs, time: func(decodes, prefill, _ int) float64 {
			clear(load)
			for range 2 * (decodes + prefill/16) {
				load[pick(s.rng)]++
			}
			return base + each*float64(slices.Max(load))
		}}
		return func() float64 { return e.step(s) }
	}
}

// zipf draws from n with frequencies that fall by a power.
func zipf(n int, power float64) func(rng *rand.Rand) int {
	sums, sum := make([]float64, n), 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -power)
		sums[i] = sum
	}
	return func(rng *rand.Rand) int {
		i, _ := slices.BinarySearch(sums, sum*rng.Float64())
		return i
	}
}

func fixedLengths(prompt, output int) func(*rand.Rand) (int, int) {
	return func(*rand.Rand) (int, int) { return prompt, output }
}

// variedLengths draws lognormal lengths of some means and coefficients of variation, up to eight times the mean, and a
// prompt up to 32 times.
func variedLengths(prompt, promptCV, output, outputCV float64) func(*rand.Rand) (int, int) {
	draw := func(rng *rand.Rand, mean, cv, most float64) float64 {
		v := math.Log(1 + cv*cv)
		return min(most*mean, mean*math.Exp(math.Sqrt(v)*rng.NormFloat64()-v/2))
	}
	return func(rng *rand.Rand) (int, int) {
		return max(1, int(draw(rng, prompt, promptCV, 32))), max(2, int(draw(rng, output, outputCV, 8)))
	}
}

// drawnLengths are the requests of a stage.
type drawnLengths struct {
	draw func(rng *rand.Rand) (prompt, output int)
	rng  *rand.Rand
}

// Next returns the next session.
func (d drawnLengths) Next() (load.Session, bool) {
	return simtest.SameInAll(d.draw(d.rng)).Next()
}

// pauses makes work stand still once in each period.
func (k *drawnServer) pauses(period, pause, phase float64) {
	k.paced(func(now float64) (speed, until float64) {
		n := math.Floor((now + phase) / period)
		if now+phase-n*period < pause {
			return 0, n*period + pause - phase + 1e-9
		}
		return 1, (n+1)*period - phase + 1e-9
	})
	k.is(k.plain() * (1 - pause/period))
}

// The truths are right: a little below the backlog does not grow and no more is refused than is tolerated, a little
// above one of the two is not so.
func TestUnforeseenTruths(t *testing.T) {
	seeds := simtest.Evidence(t, 1, 4)
	if testing.Short() {
		t.Skip("the servers are as they were: it tests them, and not the program")
	}
	for _, f := range unforeseenFamilies {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(seeds) {
				k := unforeseen(t, f.name, 5000+seed)
				run := func(rate, seconds float64) (left, lost float64) {
					rng := rand.New(rand.NewPCG(k.seed, 501))
					if k.steps != nil {
						return float64(newStepper(k.steps, k.seed+5).alone(rate, seconds, rng)), 0
					}
					m := k.model(k.seed + 5)
					return float64(m.alone(rate, seconds, rng)), float64(m.refused + m.stubs)
				}
				bad := func(rate float64) (bad bool, grows, lost float64) {
					const requests, begins = 30_000, 0.4
					seconds := min(max(3600, requests/rate), 4*requests/rate)
					before, _ := run(rate, begins*seconds)
					left, lost := run(rate, seconds)
					n := rate * seconds
					grows, lost = (left-before)/n/(1-begins), lost/n
					most := max(0.004, 1.5/math.Sqrt(n))
					if k.steps != nil {
						most = 0.02 // chance of the lengths
					}
					return grows > most || lost > tolerated, grows, lost
				}
				low := k.low
				if m := k.model(1); m.fails != nil || m.patience > 0 { // it is offered more than it accepts
					low /= 1 - tolerated
				}
				if bad, grows, lost := bad(0.96 * low); bad {
					t.Errorf("%v: below its truth the backlog grows by %.2f %%, %.1f %% are lost", k, 100*grows, 100*lost)
				}
				if bad, grows, lost := bad(1.04 * k.high); !bad && f.name != "slightly slower" { // one of 24 queues grows
					t.Errorf("%v: above its truth the backlog grows by %.2f %%, %.1f %% are lost", k, 100*grows, 100*lost)
				}
			}
		})
	}
}
