// Fits twins to servers that were measured. A client that sends all of a server's requests knows its batch at each instant, and the
// time between two tokens of a request is one step of the engine: from the records of a run follow the costs of a step and the limits of the
// scheduler ([To]).
//
// The package measures nothing and knows no clock.

package twin

import (
	"cmp"
	"errors"

	"math"
	"math/rand/v2"
	"slices"
)

// fitSeed is the seed of the resampling: the same records give the same twin.
const fitSeed = 16

// errNoSteps is the error of runs from whose records no steps can be seen.
var errNoSteps = errors.New("the records hold too few tokens, one by one, to see the steps of the engine: measure with llmsweep sweep --for-fit")

// Fit fits a twin to stages, and checks it on some of them that it then leaves out.
func Fit(measured []Stage) (*Twin, error) {
	data := dataOf(measured)
	if lumped(data) {
		return nil, errNoSteps
	}
	t, err := fit(data)
	if err != nil {
		return nil, err
	}
	return checked(t, data), nil
}

// lumped reports whether most answers came all at once.
func lumped(data []stageData) bool {
	n, all := 0, 0
	for i := range data {
		for k := range data[i].Requests {
			if q := &data[i].Requests[k]; len(q.Tokens) > 1 {
				if all++; q.Lumped() {
					n++
				}
			}
		}
	}
	return 2*n > all
}

// fit fits a twin to all stages.
func fit(data []stageData) (*Twin, error) {
	rng := rand.New(rand.NewPCG(fitSeed, 0))
	if len(data) == 0 {
		return nil, errNoSteps
	}
	s := schedulingOf(data, 0)
	seen, rested := s.observations()
	if len(seen) < leastSteps {
		return nil, errNoSteps
	}
	f := fitCosts(seen, rng)
	if l := latencyOf(rested, &f); l > 0 { // what was in which step depends on it
		s = schedulingOf(data, l)
		seen, rested = s.observations()
		f = fitCosts(seen, rng)
		s.latency += latencyOf(rested, &f)
	} else {
		f = fitCosts(slices.Concat(seen, rested), rng)
	}
	f.resample(rng)
	f.leaveOut()
	t := &Twin{
		Version: Version, Slots: s.slots, StepTokens: s.budget, KVTokens: s.kv, Block: blockTokens,
		Step: stepOf(f.costs(f.miss)), Jitter: round(f.jitter), LatencyMS: round(s.latency * 1e3),
		Seen:       Seen{Batch: s.most, StepTokens: s.largest, KVTokens: s.held, Steps: len(seen)},
		StageError: round(f.stageError()), Stages: len(f.stages),
	}
	t.StepTokens = max(t.StepTokens, t.Slots)
	f.noteSlow(t, data)
	noteSeen(t, data)
	noteIntervals(t, &f, &s)
	return t, nil
}

// blocksEach is how many blocks a stage is cut into for the intervals.
const blocksEach = 12

// blockTokens is the size of a block of the KV cache: vLLM's.
const blockTokens = 16

// leastSteps is the number of steps from which costs can be fitted.
const leastSteps = 200

// observations returns the steps, in blocks, and those that began on an idle server.
func (s *scheduling) observations() (seen, rested []observation) {
	s.block()
	for _, o := range s.seen {
		if o.rested {
			rested = append(rested, o)
		} else {
			seen = append(seen, o)
		}
	}
	return seen, rested
}

// block gives each observation its block: some in each stage, one after the other.
func (s *scheduling) block() {
	for stage, from := range s.blocks {
		to := len(s.seen)
		if stage+1 < len(s.blocks) {
			to = s.blocks[stage+1]
		}
		for i := from; i < to; i++ {
			s.seen[i].block = stage*blocksEach + (i-from)*blocksEach/(to-from)
		}
	}
}

// latencyOf returns by how much longer a request takes on an idle server than the steps that it needs: the median over the shorter half, where
// an error of the steps' costs is small. It is 0 where it is no more than such an error.
func latencyOf(rested []observation, f *fitted) float64 {
	const least, unsure, clocks = 10, 0.03, 2e-4
	if len(rested) < least {
		return 0
	}
	rested = slices.Clone(rested)
	slices.SortFunc(rested, func(a, b observation) int { return cmp.Compare(a.seconds, b.seconds) })
	rested = rested[:len(rested)/2]
	var over, took []float64
	for _, o := range rested {
		r := fitRowOf(o, f.miss, 0)
		v, _ := f.ratio(&r)
		over, took = append(over, o.seconds*(1-v)), append(took, o.seconds)
	}
	slices.Sort(over)
	middle := over[len(over)/2]
	if middle < clocks || middle < unsure*took[len(took)/2] {
		return 0
	}
	return middle
}

// noteSeen notes the range of lengths.
func noteSeen(t *Twin, data []stageData) {
	var prompts, outputs []int
	for _, d := range data {
		for _, q := range d.Requests {
			if q.Whole {
				prompts, outputs = append(prompts, q.Prompt), append(outputs, q.Output)
			}
		}
	}
	if len(prompts) > 0 {
		t.Seen.Prompt = [2]int{slices.Min(prompts), slices.Max(prompts)}
		t.Seen.Output = [2]int{slices.Min(outputs), slices.Max(outputs)}
	}
}

// noteIntervals fills in the draws, the intervals of the costs and the limits, and what is not known.
func noteIntervals(t *Twin, f *fitted, s *scheduling) {
	t.Intervals = map[string][2]float64{}
	for _, d := range f.draws {
		v, _ := stepOf(d.costs(f.miss)).Values()
		t.Draws = append(t.Draws, v)
	}
	values, names := t.Step.Values()
	for i, name := range names {
		var v []float64
		for _, d := range t.Draws {
			v = append(v, d[i])
		}
		slices.Sort(v)
		low, high := min(v[len(v)/40], values[i]), max(v[len(v)-1-len(v)/40], values[i])
		if low == 0 && high == 0 {
			continue
		}
		t.Intervals[name] = [2]float64{low, high}
		if high-low > math.Abs(values[i]) { // its size is not known within a factor of two
			t.Unknown = append(t.Unknown, name)
		}
	}
	if s.kv > 0 {
		t.Intervals["kv_tokens"] = [2]float64{float64(s.kvLow), float64(s.kvHigh)}
	} else {
		t.Unknown = append(t.Unknown, "kv_tokens")
	}
	if !s.slotsShown {
		t.Unknown = append(t.Unknown, "slots")
	}
	if !s.budgetShown {
		t.Unknown = append(t.Unknown, "step_tokens")
	}
	slices.SortFunc(t.Unknown, cmp.Compare[string])
	const kept = 20 // draws in the file
	t.Draws = t.Draws[:min(kept, len(t.Draws))]
}
