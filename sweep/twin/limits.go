package twin

import (
	"math"
	"slices"
)

// stageData is a stage that has been sorted into steps.
type stageData struct {
	Stage
	all    []request
	ticks  []tick
	joined float64
}

// dataOf sorts the stages into steps. Stages in which fewer than a few steps were seen are left out.
func dataOf(stages []Stage) []stageData {
	const least = 20
	var all []stageData
	for i := range stages {
		d := stageData{Stage: stages[i]}
		d.all, d.joined = requestsOf(&stages[i])
		if d.ticks = ticksOf(d.all); len(d.ticks) >= least {
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
	missed      float64
	preempts    int
	seen        []observation
	blocks      []int // first block of each stage
}

// schedulingOf finds the limits.
func schedulingOf(all []stageData) scheduling {
	var s scheduling
	for _, d := range all {
		for _, t := range d.ticks {
			s.slots = max(s.slots, len(t.gets))
		}
	}
	s.findBudget(all)
	s.findCache(all)
	return s
}

// tally is what all stages together say of supposed limits.
type tally struct {
	replays []replay
	misses  int
	prompts int
	held    int
}

func tallyOf(all []stageData, l limits) tally {
	var t tally
	for _, d := range all {
		r := replayOf(d.all, d.ticks, l)
		t.replays = append(t.replays, r)
		t.prompts += r.prompts
		t.misses += r.misses
		for _, h := range r.held {
			t.held = max(t.held, h)
		}
	}
	for _, r := range t.replays { // a full cache is another reason to wait
		const full = 0.85
		for _, b := range r.blocked {
			if float64(b.held+b.needs) > full*float64(t.held) {
				t.misses--
			}
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
		t := tallyOf(all, limits{s.slots, budget})
		scores[budget] = float64(t.misses) / max(1, float64(t.prompts))
		return scores[budget]
	}
	largest := 0
	for _, r := range tallyOf(all, limits{s.slots, 0}).replays {
		for _, o := range r.seen {
			if len(o.batches) == 1 {
				largest = max(largest, o.batches[0].Tokens)
			}
		}
	}
	s.largest = largest
	best, score := 0, math.Inf(1)
	for _, b := range budgets() {
		if b < s.slots {
			continue
		}
		if v := try(b); v < score-few/4 {
			best, score = b, v
		}
		if b > 4*largest {
			break
		}
	}
	if score > few { // no power of two
		for _, f := range []float64{0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.6} {
			b := int(f * float64(best))
			if v := try(b); b >= s.slots && v < score-few/4 {
				best, score = b, v
			}
		}
	}
	s.budget, s.missed = best, score
	// Any larger one would do as well where no step was full.
	worse := try(2 * best)
	s.budgetShown = worse > score+few/4
}

// findCache takes the observations from a replay with the limits, and finds the size of the cache where it ran out.
func (s *scheduling) findCache(all []stageData) {
	t := tallyOf(all, s.limits)
	low, high, waits, atSlots := t.held, math.MaxInt, 0, 0
	var needs []int
	for i, r := range t.replays {
		s.blocks = append(s.blocks, len(s.seen))
		s.seen = append(s.seen, r.seen...)
		s.preempts += r.preempts
		for _, b := range r.blocked {
			if b.running < s.slots {
				waits++
				needs = append(needs, b.held+b.needs)
			}
		}
		for _, n := range r.running {
			if n >= s.slots {
				atSlots++
			}
		}
		if d := all[i]; d.Width > s.slots && atSlots > len(r.running)/4 {
			s.slotsShown = true
		}
	}
	s.held = low
	const enough = 30
	if waits >= enough || s.preempts >= enough {
		slices.Sort(needs)
		if len(needs) > 0 {
			high = needs[len(needs)/20]
		}
		s.kvLow, s.kvHigh = low, max(low, min(high, 2*low))
		s.kv = low
		if waits < 2*atSlots && s.preempts < enough && high < low {
			s.kv, s.kvLow, s.kvHigh = 0, 0, 0
		}
	}
}
