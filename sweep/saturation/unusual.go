package saturation

import (
	"math"

	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Plateaus of servers with a habit.

// notChosenByPauses returns the stages that are far enough beyond the edge to be saturated however many pauses fell into them, where there
// are any. Nearer to it only those with many pauses are, and their mean is too low.
func (f *finder) notChosenByPauses(rows []*rundir.Stage) []*rundir.Stage {
	const farBeyond = 1.2 // times what was completed
	if !f.pausing {
		return rows
	}
	var far []*rundir.Stage
	for _, r := range rows {
		if r.Rate.Value() > farBeyond*r.Progress.Rate.Value() {
			far = append(far, r)
		}
	}
	if len(far) == 0 {
		return rows
	}
	return far
}

// cached is what a cache answers, by the stages in which no answer is late. The zero value stands for no cache.
type cached struct {
	share float64 // of the answers
	error float64 // its standard error
}

// cachedShare returns the share of the answers that come from a cache: none where few do.
func cachedShare(stages []rundir.Stage) (c cached) {
	if caches(stages).IsZero() {
		return c
	}
	n, all := 0.0, 0.0
	for i := range stages {
		st := &stages[i]
		if measure.ByClient(st.Invalid) || st.Role != rundir.Floor && st.Verdict != rundir.Stable {
			continue
		}
		all += float64(st.Requests.OK)
		if w := st.Traits.Whole; w.Known() {
			n += float64(st.Requests.OK) * w.Value()
		}
	}
	if all == 0 || n == all {
		return c
	}
	c.share = n / all
	c.error = math.Sqrt(c.share * (1 - c.share) / all)
	return c
}

// withoutCache returns stages of a server with a cache as if its share of the answers had come from the cache, and no more had arrived than
// the server takes: the cache answers its share of all arrivals, also of those beyond what the model can do, so that more is completed the
// more arrives. In a short stage chance decides how large the share is.
func (f *finder) withoutCache(rows []*rundir.Stage) []*rundir.Stage {
	if f.cached.share == 0 {
		return rows
	}
	var out []*rundir.Stage
	for _, r := range rows {
		st := *r
		whole := st.Traits.WholeRate
		if !whole.Known() { // runs of earlier versions
			if whole = rundir.Exactly(f.cached.share * r.Rates.Offered.Value()); !whole.Known() {
				out = append(out, r)
				continue
			}
		}
		takes := func(done rundir.Number) rundir.Number {
			if !done.Known() {
				return done
			}
			return rundir.Exactly(max(0, (done.Value()-whole.Value())/(1-f.cached.share)))
		}
		st.Progress.Rate, st.Progress.Low, st.Progress.High = takes(st.Progress.Rate), takes(st.Progress.Low), takes(st.Progress.High)
		out = append(out, &st)
	}
	return out
}

// allowForCache widens the interval by the error of the cache's share.
func (f *finder) allowForCache(s *rundir.Saturation) {
	if f.cached.share == 0 {
		return
	}
	own := (s.High.Value() - s.Low.Value()) / 2
	half := math.Hypot(own, stats.Z95*f.cached.error/(1-f.cached.share)*s.Rate.Value())
	s.Low, s.High = rundir.Exactly(max(0, s.Rate.Value()-half)), rundir.Exactly(s.Rate.Value()+half)
}

// allowForPauses weighs the stages by their time: those with many pauses are found saturated sooner, so that the mean of the stages is too
// low, and that of their time is not. It widens the interval by the error of how many pauses fell into them, as if they came at random:
// batches of a stage hold too few of them to show it.
func (f *finder) allowForPauses(s *rundir.Saturation, rows []*rundir.Stage) {
	if !f.pausing {
		return
	}
	pauses, time, windows := 0.0, 0.0, 0.0
	for _, st := range f.open {
		if n := float64(st.Traits.Stalls); n > 0 && st.Verdict == rundir.Stable {
			pauses, time, windows = pauses+n, time+n*st.Traits.StallTime.Value(), windows+st.Window
		}
	}
	span, done := 0.0, 0.0
	for _, st := range rows {
		span, done = span+st.Window, done+st.Window*st.Progress.Rate.Value()
	}
	if pauses == 0 || span <= 0 {
		return
	}
	s.Rate = rundir.Exactly(done / span)
	lost := time / windows                        // share of the time
	few := math.Sqrt(max(1, pauses*span/windows)) // of the number expected in the rows
	half := stats.Z95 * lost / few / max(0.1, 1-lost) * s.Rate.Value()
	own := (s.High.Value() - s.Low.Value()) / 2
	const moreThanChance = 1.3 // the stages were chosen by what they showed; TestHabitsAreNamed
	half = moreThanChance * math.Hypot(own, half)
	s.Low, s.High = rundir.Exactly(max(0, s.Rate.Value()-half)), rundir.Exactly(s.Rate.Value()+half)
}
