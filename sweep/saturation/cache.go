package saturation

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

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
	for st := range timed(stages) {
		if st.Role != rundir.Floor && st.Verdict != rundir.Stable {
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
		st.Traits.Behind = rundir.Progress{} // of which the cache's part is not known
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
