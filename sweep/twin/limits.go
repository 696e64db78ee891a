package twin

import (
	"math"
	"slices"
)

// stageData is a stage that has been sorted into steps.
type stageData struct {
	LoadedStages
	ticks  []tick
	usual  float64 // median gap in seconds
	served []int   // step of the first token of each request
}

// dataOf sorts the stages into steps. Stages in which fewer than a few steps were seen are left out.
func dataOf(measured []Stage) []stageData {
	const least = 20
	var all []stageData
	for _, s := range measured {
		d := stageData{LoadedStages: loadStages(s)}
		if d.ticks = ticksOf(d.Requests); len(d.ticks) >= least {
			d.usual, d.served = usualGap(d.Requests), servedIn(len(d.Requests), d.ticks)
			all = append(all, d)
		}
	}
	return all
}

// scheduling is what the stages show of the scheduler's limits.
type scheduling struct {
	limits
	slotsShown  bool // a request waited though only the number of slots kept it
	budgetShown bool // another budget does not explain when prompts ended
	largest     int  // tokens of the largest step
	kv          int  // tokens in the cache; 0 where it never ran out
	kvLow       int
	kvHigh      int
	held        int // most tokens in the cache
	most        int // sequences in a step
	missed      float64
	seen        []observation
	blocks      []int // first block of each stage
}

// schedulingOf finds the limits, if requests take some time to reach the engine.
func schedulingOf(all []stageData, latency float64) scheduling {
	var s scheduling
	s.latency = latency
	s.slots = fitWidest(all)
	s.findBudget(calm(all, s.limits))
	s.findCache(all)
	s.findSlots(all)
	return s
}

// fitWidest returns the most requests that ran at once, but for a few steps of many: two steps of which the client saw the tokens together.
func fitWidest(all []stageData) int {
	const enough, few = 50, 0.02 // steps; share of them
	var steps []int              // by the number of requests
	for _, d := range all {
		for _, t := range d.ticks {
			for len(steps) <= len(t.gets) {
				steps = append(steps, 0)
			}
			steps[len(t.gets)]++
		}
	}
	n := max(0, len(steps)-1)
	for more := 0; n > 1 && steps[n-1] >= enough && float64(more+steps[n]) < few*float64(steps[n-1]); n-- {
		more += steps[n]
	}
	return n
}

// full reports whether the cache kept requests waiting in much of a stage. In such a stage not all is seen that the server computes, and the
// order of the queue is not known. A cache has one size: some of those that waited would not have fitted in beside the fullest step. What
// prompts hold that are not yet whole is not seen, so that others seem to fit.
func (r *replay) full(most int) bool {
	const much, some = 0.2, 0.08
	kept, over := 0, 0
	size := aboveCache * float64(slices.Max(r.held))
	for _, b := range r.blocked {
		if float64(b.running) >= nearlyAll(most) {
			continue
		}
		kept++
		if float64(b.held+b.needs) > size {
			over++
		}
	}
	return float64(kept) > much*float64(len(r.running)) && float64(over) > some*float64(kept)
}

// aboveCache is how much larger a cache may be than the most that was seen in it when it was full.
const aboveCache = 1.02

// nearlyAll is how many of the slots count as all: when exactly a slot is free the client does not see.
func nearlyAll(slots int) float64 {
	const nearly = 0.95
	return min(nearly*float64(slots), float64(slots-1))
}

// calm returns the stages in which the cache does not run out; all, where that leaves too few steps.
func calm(all []stageData, l limits) []stageData {
	const enough = 1000 // steps
	var some []stageData
	steps := 0
	for _, d := range all {
		if r := d.replay(limits{l.slots, unlimited, l.latency}); !r.full(l.slots) {
			some = append(some, d)
			steps += len(d.ticks)
		}
	}
	if steps < enough {
		return all
	}
	return some
}

// unlimited is a budget that any prompt fits into.
const unlimited = 1 << 30

// tally is what stages together say of supposed limits.
type tally struct {
	replays []replay
	misses  int
	prompts int
	held    int
}

func tallyOf(all []stageData, l limits) tally {
	var t tally
	for _, d := range all {
		r := d.replay(l)
		t.replays = append(t.replays, r)
		t.prompts += r.prompts
		t.misses += r.misses
		for _, h := range r.held {
			t.held = max(t.held, h)
		}
	}
	return t
}

// budgets are the token budgets of a step that are supposed.
func budgets() []int { return []int{256, 512, 1024, 2048, 4096, 8192, 16384, 32768} }

// few is the share of prompts that may disagree with the right limits, because requests take time to reach the server.
const few = 0.02

// findBudget supposes budgets, and keeps the one that explains best in which step each prompt ended.
func (s *scheduling) findBudget(all []stageData) {
	scores := map[int]float64{}
	try := func(budget int) float64 {
		if v, known := scores[budget]; known {
			return v
		}
		t := tallyOf(all, limits{s.slots, budget, s.latency})
		scores[budget] = float64(t.misses) / max(1, float64(t.prompts))
		return scores[budget]
	}
	largest := 0
	for _, r := range tallyOf(all, limits{s.slots, 0, s.latency}).replays {
		for _, o := range r.seen {
			if len(o.batches) == 1 {
				largest = max(largest, o.batches[0].Tokens)
			}
		}
	}
	s.largest = largest
	var tried []int
	score := math.Inf(1)
	suppose := func(b int) {
		if b >= s.slots {
			tried = append(tried, b)
			score = min(score, try(b))
		}
	}
	for _, b := range budgets() {
		if suppose(b); b > 4*largest {
			break
		}
	}
	if score > few { // no power of two
		_, middle := smallest(tried, try, score)
		for _, f := range []float64{0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.6} {
			suppose(int(f * float64(middle)))
		}
	}
	score, best := smallest(tried, try, score)
	s.budget, s.missed = best, score
	// Any larger one would do as well where no step was full.
	worse := try(2 * best)
	s.budgetShown = worse > score+few/4
}

// smallest returns the smallest budget that explains the prompts nearly as well as the best, and its score.
func smallest(tried []int, score func(int) float64, best float64) (float64, int) {
	const nearly = 0.0005
	slices.Sort(tried)
	for _, b := range tried {
		if v := score(b); v <= best+nearly {
			return v, b
		}
	}
	return math.Inf(1), 0
}

// findCache takes the observations from a replay with the limits, and finds the size of the cache where it ran out.
func (s *scheduling) findCache(all []stageData) {
	t := tallyOf(all, s.limits)
	s.held = t.held
	calm := 0 // steps
	for _, r := range t.replays {
		if !r.full(s.slots) {
			calm += len(r.seen)
		}
	}
	const enough = 1000
	for _, r := range t.replays {
		s.blocks = append(s.blocks, len(s.seen))
		full := r.full(s.slots)
		if !full || calm < enough {
			s.seen = append(s.seen, r.seen...)
		}
		if full {
			s.kv = max(s.kv, slices.Max(r.held))
		}
	}
	if float64(s.held) > aboveCache*float64(s.kv) { // another stage held more: something else kept them waiting
		s.kv = 0
	}
	if s.kv > 0 {
		s.kvLow, s.kvHigh = s.kv, int(aboveCache*float64(s.kv))
	}
}

// findSlots decides whether the most requests that ran at once are all that the server runs: then about as many run in most steps for which more
// were there. If not, only a lower bound is known, and as many slots as were in flight are assumed.
func (s *scheduling) findSlots(all []stageData) {
	const most, enough = 0.5, 30
	inFlight, waits, full := s.slots, 0, 0
	for _, d := range all {
		inFlight = max(inFlight, d.Width)
		r := d.replay(s.limits)
		if r.full(s.slots) {
			continue
		}
		for k, n := range r.running {
			if n+r.queued[k] <= s.slots { // there are slots for all: they wait for something else
				continue
			}
			waits++
			if float64(n) >= nearlyAll(s.slots) {
				full++
			}
		}
	}
	s.slotsShown = full >= enough && float64(full) > most*float64(waits)
	s.most = s.slots
	if !s.slotsShown {
		s.slots = inFlight
	}
}
