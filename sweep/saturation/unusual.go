package saturation

import "llmsweep/sweep/rundir"

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

// cachedShare returns the share of the answers that come from a cache, by the stages in which no answer is late: 0 where few do.
func cachedShare(stages []rundir.Stage) float64 {
	if caches(stages).IsZero() {
		return 0
	}
	n, all := 0.0, 0.0
	for i := range stages {
		st := &stages[i]
		if st.Role != rundir.Floor && st.Verdict != rundir.Stable {
			continue
		}
		all += float64(st.Requests.OK)
		if w := st.Traits.Whole; w.Known() {
			n += float64(st.Requests.OK) * w.Value()
		}
	}
	if all == 0 {
		return 0
	}
	return n / all
}

// withoutCache returns overloaded stages of a server with a cache as if no more had arrived than it takes: the cache answers its share of
// all arrivals, also of those beyond what the model can do, so that more is completed the more arrives.
func (f *finder) withoutCache(rows []*rundir.Stage) []*rundir.Stage {
	if f.cached == 0 {
		return rows
	}
	var out []*rundir.Stage
	for _, r := range rows {
		st := *r
		takes := func(done rundir.Number) rundir.Number {
			if !done.Known() {
				return done
			}
			return rundir.Exactly(max(0, (done.Value()-f.cached*r.Rates.Offered.Value())/(1-f.cached)))
		}
		st.Progress.Rate, st.Progress.Low, st.Progress.High = takes(st.Progress.Rate), takes(st.Progress.Low), takes(st.Progress.High)
		out = append(out, &st)
	}
	return out
}
