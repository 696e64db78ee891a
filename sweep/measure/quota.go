package measure

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A quota lets so much through in a period, and refuses or delays the rest until the next. Requests then pass in one
// part of each period, and none in the other.

// Limits of what counts as a quota.
const (
	// arrivals on either side, of which most are refused or most pass: a few small ones pass at the end
	quotaNeighbours = 5
	quotaOpen       = 8    // of those and the one between pass, at least
	quotaClosed     = 3    // at most
	quotaShut       = 1.0  // seconds without a passage, at least
	quotaEven       = 0.15 // share by which a period may differ from the mean one
	quotaFewest     = 20   // requests that pass, and that are refused or wait, at least
	quotaQueue      = 3    // requests that waited for the next period, at least
	quotaTimes      = 8    // a gap between two passages is long from so many median ones on
)

type quotas struct{ events []quotaEvent }

// quotaEvent is a request, in seconds.
type quotaEvent struct {
	sent, first, last, tokens float64
	refused                   bool
	limit                     bool // the refusal names a limit on the rate
}

func (q *quotas) add(r *rundir.Record) {
	if len(q.events) >= mostTraced || !r.Sent.Known() || !r.OK() && !r.Refused() {
		return
	}
	e := quotaEvent{
		sent:    r.Sent.Value(),
		refused: r.Refused(),
		limit:   r.Error == string(client.ClassRateLimited),
		tokens:  r.OutputTokens.Or(0),
	}
	if r.OK() {
		e.first, e.last = r.FirstToken.Or(e.sent), r.LastToken.Or(e.sent)
	}
	q.events = append(q.events, e)
}

func (q *quotas) sum() (out rundir.Quota) {
	var passed []quotaEvent
	refused, limited := 0.0, 0.0
	slices.SortFunc(q.events, func(a, b quotaEvent) int { return cmp.Compare(a.sent, b.sent) })
	for _, e := range q.events {
		if !e.refused {
			passed = append(passed, e)
			continue
		}
		refused++
		if e.limit {
			limited++
		}
	}
	if refused >= quotaFewest {
		out.Named = rundir.Exactly(limited / refused)
	}
	if len(passed) < quotaFewest {
		return out
	}
	var starts []float64
	passage := func(e quotaEvent) float64 { return e.sent }
	if refused >= quotaFewest {
		starts = q.periodStarts()
	} else {
		starts = queuePeriodStarts(passed)
		passage = func(e quotaEvent) float64 { return e.first }
	}
	n := len(starts)
	if n < 2 {
		return out
	}
	period := (starts[n-1] - starts[0]) / float64(n-1)
	for i := range starts[1:] {
		if math.Abs(starts[i+1]-starts[i]-period) > quotaEven*period {
			return out
		}
	}
	tokens, requests := make([]float64, n-1), make([]float64, n-1) // of each period
	for _, e := range passed {
		if i, _ := slices.BinarySearch(starts, math.Nextafter(passage(e), math.Inf(1))); i > 0 && i < n {
			requests[i-1], tokens[i-1] = requests[i-1]+1, tokens[i-1]+e.tokens
		}
	}
	out.Period, out.Periods = rundir.Exactly(period), n-1
	out.Requests, out.Tokens = rundir.Exactly(stats.Mean(requests)), rundir.Exactly(stats.Mean(tokens))
	out.ByTokens = n > 2 && unevenness(tokens) < unevenness(requests)/2
	return out
}

// unevenness is the largest difference from the mean, as a share of it.
func unevenness(values []float64) (most float64) {
	mean := stats.Mean(values)
	for _, v := range values {
		most = max(most, math.Abs(v/mean-1))
	}
	return most
}

// periodStarts returns when requests passed again, each time after a while in which they were refused.
func (q *quotas) periodStarts() (starts []float64) {
	shut := math.NaN() // since when
	for i := quotaNeighbours; i < len(q.events)-quotaNeighbours; i++ {
		pass := 0
		for _, e := range q.events[i-quotaNeighbours : i+quotaNeighbours+1] {
			if !e.refused {
				pass++
			}
		}
		switch {
		case pass <= quotaClosed && math.IsNaN(shut):
			shut = q.events[i].sent
		case pass >= quotaOpen && !math.IsNaN(shut):
			if q.events[i].sent-shut >= quotaShut {
				starts = append(starts, q.events[i-quotaNeighbours+1].sent)
			}
			shut = math.NaN()
		}
	}
	return starts
}

// queuePeriodStarts returns when answers began again, each time after a while in which none did and none ran although
// requests waited.
func queuePeriodStarts(passed []quotaEvent) (starts []float64) {
	byFirst := slices.SortedFunc(slices.Values(passed), func(a, b quotaEvent) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.sent, b.sent)) // a batch begins at one instant
	})
	var gaps []float64
	for i := range byFirst[1:] {
		gaps = append(gaps, byFirst[i+1].first-byFirst[i].first)
	}
	usual := stats.Quantile(slices.Sorted(slices.Values(gaps)), 0.5)
	ends := 0.0 // of the answers that have begun
	for i := range byFirst[1:] {
		ends = max(ends, byFirst[i].last)
		next := byFirst[i+1]
		idle := next.first - max(ends, next.sent)
		if idle < max(quotaShut, quotaTimes*usual) || i+quotaQueue >= len(byFirst) {
			continue
		}
		if !slices.ContainsFunc(
			byFirst[i+1:i+1+quotaQueue],
			func(e quotaEvent) bool { return e.sent > next.first-quotaShut/2 },
		) {
			starts = append(starts, next.first)
		}
	}
	return starts
}
