// Package sample keeps what a stage yields in memory that does not grow with the stage: the values of a metric
// ([Sample]), a number that changes in steps ([Level]), sums per tick ([Ticks]) and the waves of a closed loop
// ([Waves]).
package sample

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/stats"
)

// A sample keeps up to this many values as they are. Beyond, all are counted in a histogram instead.
const (
	// DefaultLimit is for a metric that each request has one of: 256 KiB.
	DefaultLimit = 1 << 15
	// TokenLimit is for the gaps between the tokens of all requests: 2 MiB.
	TokenLimit = 1 << 18
)

// Sample collects the values of one metric over requests. A value may be known, or only a lower bound of it: the age of
// a request that was cancelled before its end.
//
// Up to a limit the values are kept, and percentiles are exact. Beyond the limit a histogram (HdrHistogram) counts
// them: number, mean, deviation and extremes stay exact, percentiles have three significant digits. records.jsonl has
// all values in any case. The zero value is an empty sample with [DefaultLimit].
type Sample struct {
	limit  int // 0 for DefaultLimit
	known  []float64
	bounds []float64
	groups []group
	hist   *histogram // nil up to the limit
}

// group is the place in the known values where those of one request begin, and when that request was due.
type group struct {
	due float64
	at  int
}

// New returns an empty sample that keeps up to limit values as they are.
func New(limit int) Sample { return Sample{limit: limit} }

// Add adds a value of a request that was due at the given instant. Values are in the unit of the metric, instants in
// seconds. Requests may come in any order.
func (s *Sample) Add(due, value float64) {
	if s.full() {
		s.hist.add(value)
		return
	}
	if n := len(s.groups); n == 0 || s.groups[n-1].due != due {
		s.groups = append(s.groups, group{due, len(s.known)})
	}
	s.known = append(s.known, value)
}

// AddBound adds a value of which only a lower bound is known.
func (s *Sample) AddBound(bound float64) {
	if s.full() {
		s.hist.addBound(bound)
		return
	}
	s.bounds = append(s.bounds, bound)
}

// full reports whether values are no longer kept. It moves them to a histogram when the limit is reached.
func (s *Sample) full() bool {
	if s.hist == nil && len(s.known)+len(s.bounds) >= cmp.Or(s.limit, DefaultLimit) {
		s.hist = newHistogram()
		for _, v := range s.known {
			s.hist.add(v)
		}
		for _, v := range s.bounds {
			s.hist.addBound(v)
		}
		s.known, s.bounds, s.groups = nil, nil, nil
	}
	return s.hist != nil
}

// Known returns the number of known values.
func (s *Sample) Known() int {
	if s.hist != nil {
		return s.hist.known
	}
	return len(s.known)
}

// Quantile returns the p-quantile of values and bounds together, 0 <= p <= 1; NaN for an empty sample.
func (s *Sample) Quantile(p float64) float64 { return stats.QuantileOf(s.summary(), p) }

// series is in the order in which requests were due.
func (s *Sample) series() []float64 {
	byDue := func(a, b group) int { return cmp.Compare(a.due, b.due) }
	if slices.IsSortedFunc(s.groups, byDue) {
		return s.known
	}
	series := make([]float64, 0, len(s.known))
	for _, g := range slices.SortedStableFunc(slices.Values(s.groups), byDue) {
		next, _ := slices.BinarySearchFunc(s.groups, g.at+1, func(g group, at int) int { return cmp.Compare(g.at, at) })
		end := len(s.known)
		if next < len(s.groups) {
			end = s.groups[next].at
		}
		series = append(series, s.known[g.at:end]...)
	}
	return series
}

type summary struct {
	ascending       // values and bounds together
	known, bounds   int
	smallestBound   float64 // bound; infinite where there is none
	mean, deviation float64
	series          []float64 // the known values in due order, or means of batches of them
	digits          int       // significant digits of the value at a rank; 0 for all
}

type ascending interface {
	stats.Ascending
	upper(rank int) float64 // the largest that the value of that rank may be
}

func (s *Sample) summary() *summary {
	if s.hist != nil {
		return s.hist.summary()
	}
	all := slices.Concat(s.known, s.bounds)
	slices.Sort(all)
	sum := &summary{
		ascending: sorted{all}, known: len(s.known), bounds: len(s.bounds), smallestBound: math.Inf(1),
		mean: stats.Mean(all), deviation: stats.Deviation(all), series: s.series(),
	}
	if len(s.bounds) > 0 {
		sum.smallestBound = slices.Min(s.bounds)
	}
	return sum
}

type sorted struct{ stats.Sorted }

func (s sorted) upper(rank int) float64 { return s.At(rank) }

// effectiveN returns the number of independent values that the known ones are worth. For means of batches it is the
// number of independent values whose batch means would vary as little; [stats.EffectiveN] finds the correlation left
// between batches.
func (s *summary) effectiveN() float64 {
	n := stats.EffectiveN(s.series)
	if s.digits == 0 {
		return n
	}
	spread := stats.Deviation(s.series)
	if !(spread > 0) {
		return float64(s.known)
	}
	return min(n*s.deviation*s.deviation/(spread*spread), float64(s.known))
}
