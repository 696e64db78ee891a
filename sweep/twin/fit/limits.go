package fit

import (
	"llmsweep/sweep/twin/stages"
	"math"
	"slices"
)

// stageData is a stage that has been sorted into steps.
type stageData struct {
	stages.Loaded
	ticks []tick
}

// dataOf sorts the stages into steps. Stages in which fewer than a few steps were seen are left out.
func dataOf(measured []stages.Stage, pace float64) []stageData {
	const least = 20
	var all []stageData
	for _, s := range measured {
		d := stageData{Loaded: stages.Load(s)}
		if d.ticks = ticksOf(d.Requests, pace); len(d.ticks) >= least {
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
	for _, d := range all {
		for _, t := range d.ticks {
			s.slots = max(s.slots, len(t.gets))
		}
	}
	s.findBudget(calm(all, s.limits))
	s.findCache(all)
	s.findSlots(all)
	return s
}

// full reports whether something else than slots and budget kept requests waiting in much of a stage: its cache was full. In such a stage not
// all is seen that the server computes, and the order of the queue is not known.
func (r *replay) full(most int) bool {
	const much = 0.2
	kept := 0
	for _, b := range r.blocked {
		if float64(b.running) < nearlyAll(most) {
			kept++
		}
	}
	return float64(kept) > much*float64(len(r.running))
}

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
		if r := replayOf(d.Requests, d.ticks, limits{l.slots, unlimited, l.latency}); !r.full(l.slots) {
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
		r := replayOf(d.Requests, d.ticks, l)
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
	if s.kv > 0 {
		const above = 1.02
		s.kvLow, s.kvHigh = s.kv, int(above*float64(s.kv))
	}
}

// findSlots decides whether the most requests that ran at once are all that the server runs: then about as many run in most steps in which
// others wait. If not, nothing is known but that there are at least so many: as many as were in flight are supposed.
func (s *scheduling) findSlots(all []stageData) {
	const most, enough = 0.5, 30
	widest, waits, full := s.slots, 0, 0
	for _, d := range all {
		widest = max(widest, d.Width)
		r := replayOf(d.Requests, d.ticks, s.limits)
		if r.full(s.slots) {
			continue
		}
		for k, n := range r.running {
			if r.queued[k] == 0 {
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
		s.slots = widest
	}
}
