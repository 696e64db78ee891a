package sweep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// A fourth set of families, by a hand that had read no rule of judgement: a tenant with priority, memory that is
// reserved, models that are swapped, a neighbour on the GPU, and a cache that overflows.

// inventedFamily draws servers with a habit; low and high are their truth.
type inventedFamily struct {
	name string
	draw func(rng *rand.Rand, seed uint64, c *blindCase) (m inventedModel, low, high float64)
}

// inventedModel is a server; how many requests it has left after a time in seconds with Poisson arrivals at a rate; and
// what it completes per second of more than it can do, where that is its truth.
type inventedModel struct {
	server    func() (load.Doer, func())
	alone     func(rate, seconds float64, rng *rand.Rand) int
	saturated func() float64
}

func drawInvented(f inventedFamily, seed uint64) (*oddTrial, inventedModel) {
	rng := rand.New(rand.NewPCG(seed, 61))
	c := &blindCase{slots: 4 + rng.IntN(13), service: 0.3 * math.Pow(4, rng.Float64())}
	m, low, high := f.draw(rng, seed, c)
	return &oddTrial{
		family: f.name, seed: seed, server: m.server, low: low, high: high,
		about: fmt.Sprintf("slots %d service %.2f %.3v", c.slots, c.service, c.about),
	}, m
}

func inventedFamilies() []inventedFamily {
	return []inventedFamily{
		// Another tenant's requests come by a timetable, many at once, and go before all that wait.
		{"priority tenant", func(rng *rand.Rand, seed uint64, c *blindCase) (inventedModel, float64, float64) {
			period := from(rng, 10, 40)
			n, phase := math.Round(from(rng, 0.2, 0.5)*c.plain()*period), period*rng.Float64()
			c.note("every", period, "requests", n)
			rate := c.plain() - n/period
			return steps(seed, func(s *invented) func() float64 {
				next := phase
				return func() float64 {
					for ; s.now >= next; next += period {
						var burst []*inventedJob
						for range int(n) {
							burst = append(burst, &inventedJob{asked: oddTokens, left: oddTokens})
						}
						s.waiting = append(burst, s.waiting...)
					}
					s.admit(func(*inventedJob) bool { return len(s.running) < c.slots })
					return c.service / oddTokens
				}
			}), rate, rate
		}},
		// A request begins once all the memory that it will need is free. A large one at the head of the queue holds up
		// the small ones behind it.
		{"reserved memory", func(rng *rand.Rand, seed uint64, c *blindCase) (inventedModel, float64, float64) {
			memory := 3 * c.slots
			large, share := int(float64(memory)*from(rng, 0.35, 0.7)), from(rng, 0.05, 0.3)
			c.note("memory", memory, "large", large, "share", share)
			m := steps(seed, func(s *invented) func() float64 {
				return func() float64 {
					used := 0
					for _, j := range s.running {
						used += j.memory
					}
					s.admit(func(j *inventedJob) bool {
						if j.memory == 0 { // it was not yet seen
							if j.memory = 1 + s.rng.IntN(3); s.rng.Float64() < share {
								j.memory, j.pause = large, 3 // steps for its long prompt
							}
						}
						if used+j.memory > memory {
							return false
						}
						used += j.memory
						return true
					})
					return c.service / oddTokens
				}
			})
			rate := m.saturated()
			return m, 0.995 * rate, 1.005 * rate
		}},
		// One of several models is loaded. It serves a turn with a limited number of requests, and then another one is
		// loaded, if requests wait for it.
		{"swaps models", func(rng *rand.Rand, seed uint64, c *blindCase) (inventedModel, float64, float64) {
			models, batches, swap := 2+rng.IntN(3), 2+rng.IntN(4), from(rng, 0.3, 2)
			most := batches * c.slots
			c.note("models", models, "turn", most, "swap", swap)
			rate := float64(most) / (swap + float64(batches)*c.service) // where all wait, each turn is full
			return steps(seed, func(s *invented) func() float64 {
				queues, loaded, begun, over := make([][]*inventedJob, models), 0, 0, false
				return func() float64 {
					for _, j := range s.waiting {
						to := s.rng.IntN(models)
						queues[to] = append(queues[to], j)
					}
					for i := range queues {
						queues[i] = present(queues[i])
					}
					s.waiting = nil
					for i := 1; over && len(s.running) == 0 && i <= models; i++ {
						if next := (loaded + i) % models; len(queues[next]) > 0 {
							same := next == loaded
							if loaded, begun, over = next, 0, false; !same {
								return swap
							}
						}
					}
					for q := &queues[loaded]; !over && len(*q) > 0 && len(s.running) < c.slots && begun < most; begun++ {
						s.running, *q = append(s.running, (*q)[0]), (*q)[1:]
					}
					over = over || begun == most || len(queues[loaded]) == 0
					return c.service / oddTokens
				}
			}), rate, rate
		}},
		// Another job on the same GPU comes and goes at random, within seconds, and takes a share of its speed.
		{"noisy neighbour", func(rng *rand.Rand, seed uint64, c *blindCase) (inventedModel, float64, float64) {
			speed, alone, shared := from(rng, 0.4, 0.7), from(rng, 2, 8), from(rng, 1, 6)
			c.note("speed", speed, "alone", alone, "shared", shared)
			c.change = func(b *blind) {
				var ends, speeds []float64
				end, there := 0.0, false
				paced(b, func(now float64) (float64, float64) {
					for len(ends) > 0 && ends[0] <= b.now {
						ends, speeds = ends[1:], speeds[1:]
					}
					for i := 0; ; i++ {
						if i == len(ends) {
							s, mean := 1.0, alone
							if there {
								s, mean = speed, shared
							}
							end, there = end+mean*b.rng.ExpFloat64(), !there
							ends, speeds = append(ends, end), append(speeds, s)
						}
						if ends[i] > now {
							return speeds[i], ends[i]
						}
					}
				})
			}
			rate := c.plain() * (alone + speed*shared) / (alone + shared)
			return inventedModel{server: c.asBlind(seed), alone: func(rate, seconds float64, rng *rand.Rand) int {
				return c.model(rng.Uint64()).alone(rate, seconds, rng)
			}}, rate, rate
		}},
		// A request begins where its prompt fits into the cache. When the answers no longer fit, the last to begin
		// loses its place, and what it had is computed again.
		{"preempts", func(rng *rand.Rand, seed uint64, c *blindCase) (inventedModel, float64, float64) {
			prompt, fixed := 2+rng.IntN(5), 0.75*c.service/oddTokens
			cache, each, compute := c.slots*(prompt+5), fixed/float64(c.slots)*from(rng, 0.2, 1), fixed*from(rng, 0.01, 0.05)
			c.note("prompt", prompt, "cache", cache, "each", each/fixed, "compute", compute/fixed)
			m := steps(seed, func(s *invented) func() float64 {
				return func() float64 {
					used, computed, full := 0, 0, false
					for _, j := range s.running {
						j.memory = prompt + j.asked - j.left + 1
						used += j.memory
					}
					for ; used > cache; full = true {
						last := s.running[len(s.running)-1]
						used -= last.memory
						s.running, s.waiting = s.running[:len(s.running)-1], append([]*inventedJob{last}, s.waiting...)
					}
					s.admit(func(j *inventedJob) bool {
						need := prompt + j.asked - j.left + 1
						if full || used+need > cache {
							return false
						}
						used, computed = used+need, computed+need-1
						return true
					})
					return fixed + each*float64(len(s.running)) + compute*float64(computed)
				}
			})
			rate := m.saturated()
			return m, 0.995 * rate, 1.005 * rate
		}},
	}
}

// invented is a server that works in steps, also where it has nothing to do. What it does in one is its habit.
type invented struct {
	unencoded
	mu               sync.Mutex
	rng              *rand.Rand
	now              float64
	waiting, running []*inventedJob
	step             func() float64 // decides who runs, and returns the seconds of a step
}

type inventedJob struct {
	res         *client.Result // nil for a request of no client
	asked, left int
	memory      int
	pause       int // steps until its first token
	gone        bool
	done        chan bool // nil for a request of another tenant
}

// admit lets those run who may, in the order of their arrival: none goes past another.
func (s *invented) admit(may func(j *inventedJob) bool) {
	for len(s.waiting) > 0 && may(s.waiting[0]) {
		s.running, s.waiting = append(s.running, s.waiting[0]), s.waiting[1:]
	}
}

func present(jobs []*inventedJob) (kept []*inventedJob) {
	for _, j := range jobs {
		if !j.gone && j.left > 0 {
			kept = append(kept, j)
		}
	}
	return kept
}

// begins returns the seconds of the step that begins; ends is its end, and returns how many answers ended.
func (s *invented) begins() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.step()
}

func (s *invented) ends(seconds float64) (ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += seconds
	for _, j := range s.running {
		if j.pause > 0 || j.gone {
			j.pause--
			continue
		}
		if j.left--; j.res != nil {
			j.res.Token(time.Since(j.res.Epoch), 1, false)
		}
		if j.left == 0 && j.done != nil {
			close(j.done)
			ended++
		}
	}
	s.running = present(s.running)
	return ended
}

// Do answers a request.
func (s *invented) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	res.Sent, res.Status = time.Since(res.Epoch), client.StatusIncomplete
	n := call.Request.OutputTokens
	j := &inventedJob{res: res, asked: n, left: n, done: make(chan bool)}
	s.mu.Lock()
	s.waiting = append(s.waiting, j)
	s.mu.Unlock()
	select {
	case <-j.done:
		oddEnd(res, n, n)
	case <-ctx.Done():
		s.mu.Lock()
		j.gone = true
		s.waiting = present(s.waiting)
		s.mu.Unlock()
	}
}

// steps returns the server with a habit, and its model that runs alone.
func steps(seed uint64, habit func(s *invented) func() float64) inventedModel {
	fresh := func(seed uint64) *invented {
		s := &invented{rng: rand.New(rand.NewPCG(seed, 67))}
		s.step = habit(s)
		return s
	}
	return inventedModel{func() (load.Doer, func()) {
		s, closed := fresh(seed), make(chan bool)
		go func() {
			for {
				seconds := s.begins()
				select {
				case <-time.After(rundir.Duration(seconds)):
					s.ends(seconds)
				case <-closed:
					return
				}
			}
		}()
		return s, func() { close(closed) }
	}, func(rate, seconds float64, rng *rand.Rand) int {
		s, next, left := fresh(rng.Uint64()), rng.ExpFloat64()/rate, 0
		for s.now < seconds {
			for ; next <= s.now; next += rng.ExpFloat64() / rate {
				s.waiting = append(s.waiting, anyJob())
				left++
			}
			left -= s.ends(s.begins())
		}
		return left
	}, func() float64 {
		const answers = 200_000
		s, ended := fresh(1), 0
		for ended < answers {
			for len(s.waiting) < 100 {
				s.waiting = append(s.waiting, anyJob())
			}
			ended += s.ends(s.begins())
		}
		return float64(ended) / s.now
	}}
}

// anyJob is a request of no client.
func anyJob() *inventedJob {
	return &inventedJob{asked: oddTokens, left: oddTokens, done: make(chan bool)}
}

// Below the truth of each family the backlog stays what it is, and above it grows for ever.
func TestInventedTruths(t *testing.T) {
	if os.Getenv("FAMILYN") == "" {
		t.Skip("FAMILYN is not set")
	}
	for _, f := range inventedFamilies() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(4) {
				k, m := drawInvented(f, seed)
				text := fmt.Sprintf("%6.3f-%6.3f", k.low, k.high)
				for _, share := range []float64{0.97, 1.03} {
					text += fmt.Sprintf(" | at %.2f", share)
					rate := share * (k.low + k.high) / 2
					for _, requests := range []float64{25_000, 50_000, 100_000, 200_000} {
						text += fmt.Sprintf(" %5d", m.alone(rate, requests/rate, rand.New(rand.NewPCG(seed, 73))))
					}
				}
				t.Log(text, k.about)
			}
		})
	}
}
