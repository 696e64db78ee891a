package saturation

import (
	"math"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A change between two stages of one load counts from here on. Smaller ones are within what stages of one server differ by (rhythm).
const (
	leastDrift = 0.03 // of the time per token with one request in flight, or at one rate
	leastScale = 0.10 // of the completed rate of a closed loop, or of the time per token, where the floor has not changed
)

// Change is how a metric differs between two stages of one load, as a share of the earlier: 0.12 is 12 % more.
type Change struct {
	Metric           string // "itl_s", "ttft_s", "rates.completed"
	Before, After    float64
	Value, Low, High float64 // 95 % interval
}

// Shown reports whether the interval is above a share, or below minus that share.
func (c Change) Shown(least float64) bool {
	return c.Before > 0 && (c.Low > 0 && c.Value >= least || c.High < 0 && c.Value <= -least)
}

// Beyond reports whether the whole interval is above a share, or below minus that share.
func (c Change) Beyond(least float64) bool {
	return c.Before > 0 && (c.Low >= least || c.High <= -least)
}

// Compare returns how two stages of one load differ: the time per token, the time to the first one, and the completed rate.
func Compare(before, after *rundir.Stage) []Change {
	return []Change{
		compare("itl_s", meanOf(before, before.InterToken, &before.TPOT), meanOf(after, after.InterToken, &after.TPOT)),
		compare("ttft_s", meanOf(before, before.TTFT.Mean, &before.TTFT), meanOf(after, after.TTFT.Mean, &after.TTFT)),
		compare("rates.completed", progressOf(before), progressOf(after)),
	}
}

// estimate is a value with its standard error, and the degrees of freedom of that.
type estimate struct{ value, se, freedom float64 }

// meanOf returns a mean with the error that the deviation between requests gives it. Requests in flight at the same time are not
// independent: the number worth counting is divided by how many there are.
func meanOf(st *rundir.Stage, mean rundir.Number, d *rundir.Dist) estimate {
	if !mean.Known() || d.N < 2 || !d.Std.Known() {
		return estimate{}
	}
	n := float64(d.N) / max(1, orZero(st.Concurrency.Mean))
	if d.Neff.Known() {
		n = min(n, d.Neff.Value())
	}
	n = max(n, 2)
	const resolution = 0.002 // of the mean: below that two stages of one server differ anyway
	return estimate{mean.Value(), math.Hypot(d.Std.Value()/math.Sqrt(n), resolution*mean.Value()), n - 1}
}

func progressOf(st *rundir.Stage) estimate {
	if !st.Progress.Rate.Known() {
		return estimate{}
	}
	return estimate{st.Progress.Rate.Value(), standardError(st.Progress), float64(max(1, st.Progress.Batches-1))}
}

func compare(metric string, before, after estimate) Change {
	c := Change{Metric: metric, Before: before.value, After: after.value}
	if before.value <= 0 || after.value <= 0 {
		return Change{Metric: metric}
	}
	ratio := math.Log(after.value / before.value)
	half := stats.StudentQuantile(0.975, max(1, min(before.freedom, after.freedom))) * math.Hypot(before.se/before.value, after.se/after.value)
	c.Value, c.Low, c.High = math.Expm1(ratio), math.Expm1(ratio-half), math.Expm1(ratio+half)
	return c
}

// Changed returns a note where a control measurement differs from the earlier stage of the same load: the server drifts where a lone
// request got slower or quicker, and scales where a lone request did not, and many at once did. floor is the change of the lone
// request, where that was measured again; nil where not.
func Changed(before, after *rundir.Stage, floor *Change) (n note.Note, changed bool) {
	changes := Compare(before, after)
	itl, rate := changes[0], changes[2]
	args := func(k note.Kind, c Change) (note.Note, bool) {
		return k.New(before.Name, c.Metric, c.Before, c.After, c.Value, c.Low, c.High), true
	}
	lone := before.MaxConcurrency == 1
	switch {
	case lone && itl.Shown(leastDrift):
		return args(noteDrifts, itl)
	case lone, floor != nil && floor.Shown(leastDrift):
		return note.Note{}, false
	case before.Refused.Known(), after.Refused.Known(): // a short stage may live on the burst of a rate limit
		return note.Note{}, false
	case !before.Rate.Known() && rate.Shown(leastScale):
		return args(noteScales, rate)
	case before.Rate.Known() && rate.Shown(leastScale) && (over(before) || over(after)):
		return args(noteScales, rate)
	case before.Rate.Known() && itl.Beyond(leastScale): // two stages at one rate also differ in when requests arrive
		return args(noteScales, itl)
	}
	return note.Note{}, false
}

// Changes returns the notes that the control measurements of a run give: each is compared with the first stage of its load.
func Changes(stages []rundir.Stage) (all []note.Note) {
	var floor *Change
	for _, lone := range []bool{true, false} {
		for i := range stages {
			after := &stages[i]
			if after.Role != rundir.Control || !usable(after) || (after.MaxConcurrency == 1) != lone {
				continue
			}
			before := sameLoad(stages[:i], after)
			if before == nil {
				continue
			}
			if lone {
				floor = &Compare(before, after)[0]
			}
			if n, changed := Changed(before, after, floor); changed {
				all = append(all, n)
			}
		}
	}
	return all
}

// sameLoad returns the first stage with the load of another.
func sameLoad(stages []rundir.Stage, as *rundir.Stage) *rundir.Stage {
	for i := range stages {
		st := &stages[i]
		if st.Role != rundir.Control && usable(st) && st.Kind == as.Kind && st.Rate == as.Rate && st.MaxConcurrency == as.MaxConcurrency {
			return st
		}
	}
	return nil
}
