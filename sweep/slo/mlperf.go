package slo

import (
	"math"
	"sort"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// EarlyStopping is the verdict of MLPerf Inference on a percentile, by its rule for runs that end early
// (loadgen/early_stopping.cc): of independent requests, so few are beyond the limit that a server at the percentile
// would show as few with a probability below 1 %.
type EarlyStopping struct {
	Requests, Beyond int // those that had not ended below the limit count as beyond
	Allowed          int // most requests beyond the limit; -1 where there are too few requests for any
	Needs            int // requests with which Beyond would be allowed
}

// Passes reports whether the percentile is shown to be met.
func (e EarlyStopping) Passes() bool { return e.Beyond <= e.Allowed }

// EarlyStopping returns MLPerf's verdict on a term in a stage that was judged by it; ok is false where the term is no
// percentile of requests.
func (t Term) EarlyStopping(s *rundir.Stage) (e EarlyStopping, ok bool) {
	if !t.Percentile() || t.Metric == ITL {
		return e, false
	}
	b := t.Counted(s)
	if b == nil || b.Of == 0 {
		return e, false
	}
	e.Requests, e.Beyond = b.Of, b.Count+b.Open
	passes := func(beyond, requests int) bool {
		_, high := stats.ShareBounds(float64(beyond), float64(requests), mlperfLevel)
		return high < t.tail()
	}
	e.Allowed = sort.Search(e.Requests, func(k int) bool { return !passes(k, e.Requests) }) - 1
	least := int(math.Ceil(float64(e.Beyond) / t.tail()))
	e.Needs = least + sort.Search(math.MaxInt32, func(more int) bool { return passes(e.Beyond, least+more) })
	return e, true
}
