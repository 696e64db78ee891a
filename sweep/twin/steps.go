package twin

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"llmsweep/client/sim"
)

// observation is the time between two instants that the client saw, and what the server computed in it, if its limits are as supposed.
type observation struct {
	seconds float64
	batches []sim.Batch // more than one where steps end without a token
	rested  bool        // the server was idle before: the time has in it what is not known of the time that a request needs to reach the engine
	block   int         // of the resampling
}

// limits are what the scheduler keeps to, supposed or known. 0 is none.
type limits struct {
	slots, budget int
	latency       float64 // seconds from sending a request until the engine knows of it
}

// replay is what a stage shows under supposed limits.
type replay struct {
	seen []observation
	// misses counts the prompts that were done earlier or later than the limits allow.
	misses int
	// prompts counts the prompts that could show it.
	prompts  int
	running  []int     // sequences in each step
	held     []int     // tokens in the cache in each step
	queued   []int     // requests that waited through each step
	blocked  []blocked // steps in which a request waited though there was budget for it
	preempts int
}

// blocked is a step in which the first request of the queue was not taken.
type blocked struct{ running, held, needs int }

// clock is the precision of instants in records, twice, in seconds.
const clock = 4e-6

// replayer follows a stage step by step. Which requests get a token is known; what is supposed is how much of the prompts that wait was
// computed in which step.
type replayer struct {
	limits
	all     []StageRequest
	got     []int   // tokens so far
	lastly  []int   // step of the latest
	left    []int   // prompt tokens that are not computed yet
	served  []int   // step of the first token of each request
	queue   []int   // requests that have been sent and have no token yet, in the order in which they are served
	sent    int     // requests before this one have been queued
	decodes int     // requests with a token and more to come
	usual   float64 // median gap of the stage
	held    int     // tokens of the cache that the step under way holds, whole blocks
	out     replay
}

// replay follows the steps of a stage under supposed limits.
func (d *stageData) replay(l limits) replay {
	all := d.Requests
	r := &replayer{limits: l, all: all, usual: d.usual, served: d.served, got: make([]int, len(all)), lastly: make([]int, len(all)), left: make([]int, len(all))}
	for i, q := range all {
		r.left[i], r.lastly[i] = q.Prompt, -1
	}
	before := math.Inf(-1)
	for k := range d.ticks {
		before = r.step(k, &d.ticks[k], before)
	}
	return r.out
}

// servedIn returns the step of the first token of each of n requests; neverServed of those without one.
func servedIn(n int, ticks []tick) []int {
	served := slices.Repeat([]int{neverServed}, n)
	for k := range ticks {
		for _, i := range ticks[k].gets {
			served[i] = min(served[i], k)
		}
	}
	return served
}

// neverServed is a step after all others.
const neverServed = math.MaxInt

// usualGap returns the median gap between two tokens of a request.
func usualGap(all []StageRequest) float64 {
	var gaps []float64
	for _, q := range all {
		for k := 1; k < len(q.Tokens); k++ {
			gaps = append(gaps, q.Tokens[k]-q.Tokens[k-1])
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// step follows one step and returns its end.
func (r *replayer) step(k int, t *tick, before float64) float64 {
	r.arrive(before - clock)
	start, rested := before, false
	if r.decodes == 0 && len(r.queue) == 0 { // idle until the next request
		if r.sent < len(r.all) {
			start, rested = max(before, r.all[r.sent].Sent+r.latency), true
			r.arrive(start)
		}
	}
	var decode sim.Batch
	r.held = 0
	var fresh []int // requests whose prompt ends in this step
	preempted := false
	for _, i := range t.gets {
		switch {
		case r.got[i] == 0:
			fresh = append(fresh, i)
		case r.lastly[i] < k-1 && t.end-r.all[i].Tokens[r.got[i]-1] > late*r.usual: // computed again after its memory was taken
			preempted = true
			r.out.preempts++
			decode.Tokens++
		default:
			length := r.all[i].Prompt + r.got[i]
			decode = plus(decode, sim.Batch{Tokens: 1, Samples: 1, Context: length, Pairs: length})
			r.held += inBlocks(length)
		}
	}
	for _, i := range fresh {
		r.held += inBlocks(r.all[i].Prompt)
	}
	batches, clean := r.prompts(decode, fresh, start)
	r.out.running = append(r.out.running, len(t.gets))
	r.out.held = append(r.out.held, r.held)
	r.out.queued = append(r.out.queued, r.waiting(fresh, start))
	if clean && !preempted && t.end > start {
		r.out.seen = append(r.out.seen, observation{seconds: t.end - start, batches: batches, rested: rested})
	}
	r.account(k, t)
	return t.end
}

// late is how many usual gaps a token takes at least that skipped a step because its request was preempted.
const late = 1.8

// arrive queues what was sent before an instant, and forgets what has left without a token. Requests that are sent at about the same time do not
// reach the engine in the order in which they were sent: what it served first was first in its queue. Of two prompts that ended in one step, the
// longer one was first: had it been the other, that one would have ended before, unless both were computed in that step.
func (r *replayer) arrive(before float64) {
	for r.sent < len(r.all) && r.all[r.sent].Sent+r.latency <= before {
		at := sort.Search(len(r.queue), func(k int) bool {
			i := r.queue[k]
			return cmp.Or(cmp.Compare(r.served[i], r.served[r.sent]), cmp.Compare(r.all[r.sent].Prompt, r.all[i].Prompt)) > 0
		})
		r.queue = slices.Insert(r.queue, at, r.sent)
		r.sent++
	}
	r.queue = slices.DeleteFunc(r.queue, func(i int) bool { return r.got[i] > 0 || len(r.all[i].Tokens) == 0 && r.all[i].Gone < before })
}

// prompts returns the batches of a step with the prompts that end in it, and with what the budget leaves for others. clean is false where
// the supposed limits do not allow what was seen.
func (r *replayer) prompts(decode sim.Batch, fresh []int, start float64) (batches []sim.Batch, clean bool) {
	clean = true
	budget := cmp.Or(r.budget, math.MaxInt) - decode.Tokens
	batch := decode
	for _, i := range fresh {
		r.out.prompts++
		for r.left[i] > budget { // more steps than one, of which the client sees only the last
			if decode.Tokens > 0 || budget <= 0 {
				clean = false
				r.out.misses++
				break
			}
			batch = plus(batch, chunk(r.all[i].Prompt-r.left[i], budget, false))
			r.left[i] -= budget
			batches = append(batches, batch)
			batch, budget = sim.Batch{}, r.budget
		}
		batch = plus(batch, chunk(r.all[i].Prompt-r.left[i], r.left[i], true))
		budget -= r.left[i]
		r.left[i] = 0
	}
	width := decode.Samples + len(fresh)
	for _, i := range r.queue {
		if slices.Contains(fresh, i) {
			continue
		}
		if budget <= 0 || r.slots > 0 && width >= r.slots {
			break
		}
		if r.left[i] <= budget { // it should have ended
			if r.all[i].Sent+r.latency < start-settling {
				r.out.prompts++
				if r.budget > 0 {
					r.out.misses++
				}
				r.out.blocked = append(r.out.blocked, blocked{width, r.held, inBlocks(r.all[i].Prompt)})
			}
			if r.left[i] < r.all[i].Prompt {
				clean = false
			}
			break
		}
		batch = plus(batch, chunk(r.all[i].Prompt-r.left[i], budget, false))
		r.left[i] -= budget
		break
	}
	return append(batches, batch), clean
}

// waiting counts the requests that waited through a step.
func (r *replayer) waiting(fresh []int, start float64) (n int) {
	for _, i := range r.queue {
		if r.all[i].Sent+r.latency < start-settling && r.left[i] == r.all[i].Prompt && !slices.Contains(fresh, i) {
			n++
		}
	}
	return n
}

// settling is how long before a step a request must have been sent to be sure that the engine knew of it.
const settling = 5e-3 // seconds

// account notes the tokens of a step.
func (r *replayer) account(k int, t *tick) {
	for _, i := range t.gets {
		if r.got[i] == 0 {
			r.decodes++
		}
		r.got[i]++
		r.lastly[i] = k
		if r.got[i] == len(r.all[i].Tokens) {
			r.decodes--
		}
	}
}

// inBlocks returns the size of the blocks that a number of tokens takes.
func inBlocks(tokens int) int { return (tokens + blockTokens - 1) / blockTokens * blockTokens }

// chunk returns n tokens of a prompt of which some were computed before.
func chunk(computed, n int, samples bool) sim.Batch {
	b := sim.Batch{Tokens: n, Context: computed + n, Pairs: n*computed + n*(n+1)/2}
	if samples {
		b.Samples = 1
	}
	return b
}

func plus(a, b sim.Batch) sim.Batch {
	return sim.Batch{Tokens: a.Tokens + b.Tokens, Samples: a.Samples + b.Samples, Context: a.Context + b.Context, Pairs: a.Pairs + b.Pairs}
}
