package workload

import (
	"math/rand/v2"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// cutOff finds the sessions that may have been open when a recording ended, and returns how many; 0 where it is not known how often sessions end. It sets how
// many turns they would have had after that, by how often sessions ended after as many turns (the hazard of Kaplan and Meier, JASA 53 (1958)).
func cutOff(all []visit) (open int) {
	pauses, end, longest := []float64{}, time.Duration(0), 0
	for _, v := range all {
		longest = max(longest, len(v.turns))
		for n, t := range v.turns {
			if end = max(end, t.to); n > 0 {
				pauses = append(pauses, t.pause.Seconds())
			}
		}
	}
	if len(pauses) == 0 {
		return 0
	}
	const usual = 0.99 // of the pauses are over by then
	slices.Sort(pauses)
	known := end - rundir.Duration(stats.Quantile(pauses, usual))
	h := newHazard(all, known)
	if h.after(longest) == 0 {
		return 0
	}
	rng := stats.Rand(1, "traffic", "cut off")
	for i := range all {
		if v := &all[i]; v.turns[len(v.turns)-1].to > known {
			open++
			v.more = h.more(len(v.turns), 2*longest, rng)
		}
	}
	return open
}

// hazard is how many sessions had at least a number of turns, and how many of them no more. Index 0 is for all numbers together.
type hazard struct{ had, ended []int }

// newHazard counts the turns that ended early enough for the next one to be recorded.
func newHazard(all []visit, known time.Duration) (h hazard) {
	for _, v := range all {
		for n, t := range v.turns {
			if t.to > known {
				break
			}
			for len(h.had) < n+2 {
				h.had, h.ended = append(h.had, 0), append(h.ended, 0)
			}
			last := 0
			if n+1 == len(v.turns) {
				last = 1
			}
			for _, place := range [2]int{0, n + 1} {
				h.had[place]++
				h.ended[place] += last
			}
		}
	}
	return h
}

// after returns the share of the sessions with a number of turns that have no more; where few had as many, of all numbers together. It is 0 where that is
// not known.
func (h hazard) after(turns int) float64 {
	const enough = 10
	if turns >= len(h.had) || h.had[turns] < enough {
		turns = 0
	}
	if len(h.had) == 0 || h.had[turns] < enough {
		return 0
	}
	return float64(h.ended[turns]) / float64(h.had[turns])
}

// more draws how many turns a session has after those that it had.
func (h hazard) more(turns, most int, rng *rand.Rand) (more int) {
	for turns+more < most && rng.Float64() >= h.after(turns+more) {
		more++
	}
	return more
}

// whole returns sessions with the turns that they would have had, each taken from another session that had as many turns.
func whole(all []visit) []visit {
	var turns [][]visitTurn // by their place in the session
	for _, v := range all {
		for n, t := range v.turns {
			if n == len(turns) {
				turns = append(turns, nil)
			}
			turns[n] = append(turns[n], t)
		}
	}
	rng := stats.Rand(1, "traffic", "whole")
	out := slices.Clone(all)
	for i := range out {
		v := &out[i]
		v.turns = slices.Clip(v.turns)
		for ; v.more > 0 && len(turns) > 1; v.more-- {
			like := turns[min(len(v.turns), len(turns)-1)]
			v.turns = append(v.turns, like[rng.IntN(len(like))])
		}
	}
	return out
}
