package sweep

import "math"

// worksInSteps gives the server its steps, and as truth what it completes of more than it can do.
func (k *drawnServer) worksInSteps(habit func(s *stepper) func() float64) {
	k.steps = habit
	rate := newStepper(habit, 1).saturated(200_000)
	k.low, k.high = 0.995*rate, 1.005*rate
}

// drawSpeculative draws an engine that gives each request in a small batch more tokens in a step.
func drawSpeculative(k *drawnServer) {
	k.slots = 8 + k.rng.IntN(25)
	fixed, few, accepted := k.service/4, k.draw(4, 12), k.draw(1, 3)
	each := fixed / float64(k.slots) * k.draw(0.5, 3)
	k.steps = func(s *stepper) func() float64 {
		carry := 0.0
		return func() float64 {
			s.admit(func(*stepJob) bool { return len(s.running) < k.slots })
			batch := float64(len(s.running))
			carry += 1 + accepted*math.Exp(-batch/few)
			s.tokens = int(carry)
			carry -= float64(s.tokens)
			return fixed + each*batch
		}
	}
	rate, slots := newStepper(k.steps, 1).saturated(10_000), k.slots
	best := rate
	for k.slots = 1; k.slots < slots; k.slots++ {
		best = max(best, newStepper(k.steps, 1).saturated(2000))
	}
	k.low, k.high = 0.99*rate, 1.01*best
}

// drawTenant draws a server on which another tenant's requests come by a timetable, many at once, and go before all
// that wait.
func drawTenant(k *drawnServer) {
	period := k.draw(10, 40)
	n, phase := math.Round(k.draw(0.2, 0.5)*k.plain()*period), k.draw(0, period)
	k.steps = func(s *stepper) func() float64 {
		next := phase
		return func() float64 {
			for ; s.now >= next; next += period {
				var burst []*stepJob
				for range int(n) {
					burst = append(burst, &stepJob{asked: meanTokens, left: meanTokens})
				}
				s.waiting = append(burst, s.waiting...)
			}
			s.admit(func(*stepJob) bool { return len(s.running) < k.slots })
			return k.service / meanTokens
		}
	}
	k.is(k.plain() - n/period)
}

// drawReserved draws a server on which a request begins once all the memory that it will need is free. A large one at
// the head of the queue holds up the small ones behind it.
func drawReserved(k *drawnServer) {
	memory := 3 * k.slots
	large, share := int(float64(memory)*k.draw(0.35, 0.7)), k.draw(0.05, 0.3)
	k.worksInSteps(func(s *stepper) func() float64 {
		return func() float64 {
			used := 0
			for _, j := range s.running {
				used += j.memory
			}
			s.admit(func(j *stepJob) bool {
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
			return k.service / meanTokens
		}
	})
}

// drawSwaps draws a server of several models of which one is loaded. It serves a turn with a limited number of
// requests, and then another one is loaded, if requests wait for it.
func drawSwaps(k *drawnServer) {
	models, batches, swap := 2+k.rng.IntN(3), 2+k.rng.IntN(4), k.draw(0.3, 2)
	most := batches * k.slots
	k.steps = func(s *stepper) func() float64 {
		queues, loaded, begun, over := make([][]*stepJob, models), 0, 0, false
		return func() float64 {
			for _, j := range s.waiting {
				to := s.rng.IntN(models)
				queues[to] = append(queues[to], j)
			}
			for i := range queues {
				queues[i] = unfinished(queues[i])
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
			for q := &queues[loaded]; !over && len(*q) > 0 && len(s.running) < k.slots && begun < most; begun++ {
				s.running, *q = append(s.running, (*q)[0]), (*q)[1:]
			}
			over = over || begun == most || len(queues[loaded]) == 0
			return k.service / meanTokens
		}
	}
	k.is(float64(most) / (swap + float64(batches)*k.service)) // where all wait, each turn is full
}

// drawPreempts draws a server on which a request begins where its prompt fits into the cache. When the answers no
// longer fit, the last to begin loses its place, and what it had is computed again.
func drawPreempts(k *drawnServer) {
	prompt, fixed := 2+k.rng.IntN(5), 0.75*k.service/meanTokens
	cache, each, compute := k.slots*(prompt+5), fixed/float64(k.slots)*k.draw(0.2, 1), fixed*k.draw(0.01, 0.05)
	k.worksInSteps(func(s *stepper) func() float64 {
		return func() float64 {
			used, computed, full := 0, 0, false
			for _, j := range s.running {
				j.memory = prompt + j.asked - j.left + 1
				used += j.memory
			}
			for ; used > cache; full = true {
				last := s.running[len(s.running)-1]
				used -= last.memory
				s.running, s.waiting = s.running[:len(s.running)-1], append([]*stepJob{last}, s.waiting...)
			}
			s.admit(func(j *stepJob) bool {
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
}
