package twin

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// equations are the normal equations of each block of steps.
type equations struct{ read, compute []gram }

// equations returns those of the steps, with the weights and the kind that they have in the solution.
func (f *fitted) equations() equations {
	blocks := 0
	for i := range f.rows {
		blocks = max(blocks, f.rows[i].block+1)
	}
	e := equations{make([]gram, blocks), make([]gram, blocks)}
	width := robust * max(f.jitter, 1e-4)
	for i := range f.rows {
		r := &f.rows[i]
		v, computes := f.ratio(r)
		weight := weightOf(v/f.scale, width)
		if computes {
			e.compute[r.block].add(&r.compute, weight)
		} else {
			e.read[r.block].add(&r.read, weight)
		}
	}
	return e
}

// resamples is how many times blocks are drawn anew for the intervals.
const resamples = 60

// resample draws blocks of steps with replacement and solves again.
func (f *fitted) resample(rng *rand.Rand) {
	e := f.equations()
	blocks := len(e.read)
	for range resamples {
		var a, b gram
		for range blocks {
			k := rng.IntN(blocks)
			a.plus(&e.read[k], 1)
			b.plus(&e.compute[k], 1)
		}
		d := solution{a.solve(), b.solve()}
		f.draws = append(f.draws, d.scaled(f.scale))
	}
}

// leaveOut predicts the time of each stage with the costs of all others. How far these are off is what a prediction of one more stage
// may be off: the costs are a model, and a server or its machine is not equally fast at all times.
func (f *fitted) leaveOut() {
	const least, shared = 100, 0.02 // steps of a stage; share of all its time
	e := f.equations()
	stages := (len(e.read) + blocksEach - 1) / blocksEach
	steps, seen := make([]int, stages), make([]float64, stages)
	for i := range f.rows {
		s := f.rows[i].block / blocksEach
		steps[s]++
		seen[s] += f.rows[i].seconds
	}
	all := 0.0
	for _, v := range seen {
		all += v
	}
	for s := range stages {
		if steps[s] < least || seen[s] < shared*all {
			continue
		}
		var a, b gram
		for k := range e.read {
			if k/blocksEach != s {
				a.plus(&e.read[k], 1)
				b.plus(&e.compute[k], 1)
			}
		}
		d := solution{a.solve(), b.solve()}
		d = d.scaled(f.scale)
		predicted := 0.0
		for i := range f.rows {
			if r := &f.rows[i]; r.block/blocksEach == s {
				v, _ := d.ratio(r)
				predicted += v * r.seconds
			}
		}
		if predicted > 0 {
			f.stages = append(f.stages, stageOff{s, math.Log(predicted / seen[s])})
		}
	}
}

// stageOff is by how much the costs of all other stages are off in a stage.
type stageOff struct {
	stage int     // of those that were fitted
	log   float64 // of the predicted time over the one that was seen
}

// stageError returns the root of the mean square of the errors of left-out stages.
func (f *fitted) stageError() float64 {
	var all []float64
	for _, s := range f.stages {
		all = append(all, s.log)
	}
	return math.Sqrt(meanSquare(all))
}

// noteSlow notes the stages that took longer or shorter than the others predict, the farthest off first.
func (f *fitted) noteSlow(t *Twin, data []stageData) {
	for _, s := range f.stages {
		if off := math.Exp(-s.log) - 1; math.Abs(off) > unlike {
			t.Unlike = append(t.Unlike, Unlike{data[s.stage].Name, round(off)})
		}
	}
	slices.SortStableFunc(t.Unlike, func(a, b Unlike) int { return cmp.Compare(math.Abs(b.Off), math.Abs(a.Off)) })
}

// unlike is by how much a stage is slower or faster at least for it to be named.
const unlike = 0.05
