package sweep

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// So many values are kept as they are. Where there are more, all are counted in a histogram instead: memory does not grow
// with the number of requests, and records.jsonl has the exact values.
const (
	mostExact     = 1 << 15 // of a figure that each request has one of
	mostExactGaps = 1 << 18 // between the tokens of all requests
)

// sample collects one figure over requests: values that are known, and lower bounds of those that are not.
type sample struct {
	most   int // values that are kept as they are; 0 for mostExact
	known  []float64
	bounds []float64
	begins []begin
	flat   *flat // from then on that there are more
}

// begin says when the request was due whose values begin at a place in the known ones.
type begin struct {
	due float64
	at  int
}

// of says when the request was due whose values come next. Where nobody says so they are in due order already.
func (s *sample) of(due float64) *sample {
	if s.flat == nil {
		if n := len(s.begins); n > 0 && s.begins[n-1].at == len(s.known) {
			s.begins = s.begins[:n-1] // it had none
		}
		s.begins = append(s.begins, begin{due, len(s.known)})
	}
	return s
}

func (s *sample) know(v float64) {
	if s.full() {
		s.flat.know(v)
		return
	}
	s.known = append(s.known, v)
}

// exceed notes a value of which only a lower bound is known.
func (s *sample) exceed(bound float64) {
	if s.full() {
		s.flat.exceed(bound)
		return
	}
	s.bounds = append(s.bounds, bound)
}

// full reports whether values are no longer kept.
func (s *sample) full() bool {
	if s.flat == nil && len(s.known)+len(s.bounds) >= cmp.Or(s.most, mostExact) {
		s.flat = newFlat()
		for _, v := range s.known {
			s.flat.know(v)
		}
		for _, v := range s.bounds {
			s.flat.exceed(v)
		}
		s.known, s.bounds, s.begins = nil, nil, nil
	}
	return s.flat != nil
}

// values is how many are known.
func (s *sample) values() int {
	if s.flat != nil {
		return s.flat.known
	}
	return len(s.known)
}

// series is the known values in the order in which their requests were due.
func (s *sample) series() []float64 {
	byDue := func(a, b begin) int { return cmp.Compare(a.due, b.due) }
	if slices.IsSortedFunc(s.begins, byDue) {
		return s.known
	}
	series := make([]float64, 0, len(s.known))
	for _, b := range slices.SortedStableFunc(slices.Values(s.begins), byDue) {
		next, _ := slices.BinarySearchFunc(s.begins, b.at+1, func(b begin, at int) int { return cmp.Compare(b.at, at) })
		end := len(s.known)
		if next < len(s.begins) {
			end = s.begins[next].at
		}
		series = append(series, s.known[b.at:end]...)
	}
	return series
}

// complete is a sample to which nothing is added any more.
type complete struct {
	ascending       // values and bounds
	known, bounds   int
	smallest        float64 // bound
	mean, deviation float64
	series          []float64 // the known values in due order, or means of batches of them
	digits          int       // significant, of what lies at a rank; 0 for all of them
}

// ascending is values by rank.
type ascending interface {
	stats.Ascending
	most(rank int) float64 // the largest that the value of that rank may be
}

func (s *sample) complete() *complete {
	if s.flat != nil {
		return s.flat.complete()
	}
	all := slices.Concat(s.known, s.bounds)
	slices.Sort(all)
	c := &complete{
		ascending: sorted{all}, known: len(s.known), bounds: len(s.bounds), smallest: math.Inf(1),
		mean: stats.Mean(all), deviation: stats.Deviation(all), series: s.series(),
	}
	if len(s.bounds) > 0 {
		c.smallest = slices.Min(s.bounds)
	}
	return c
}

// sorted is a slice as what is ascending.
type sorted struct{ stats.Sorted }

func (s sorted) most(rank int) float64 { return s.At(rank) }

// effectiveN is the number of independent values that the known ones are worth. Of batches it is how many would have means
// that vary by as little; [stats.EffectiveN] finds the correlation that is left between them.
func (c *complete) effectiveN() float64 {
	n := stats.EffectiveN(c.series)
	if c.digits == 0 {
		return n
	}
	spread := stats.Deviation(c.series)
	if !(spread > 0) {
		return float64(c.known)
	}
	return min(n*c.deviation*c.deviation/(spread*spread), float64(c.known))
}

// total sums up counts.
type total struct {
	n             int
	sum, min, max float64
}

func (t *total) add(v float64) {
	if t.n == 0 {
		t.min, t.max = v, v
	}
	t.n++
	t.sum += v
	t.min, t.max = min(t.min, v), max(t.max, v)
}

func (t *total) addFigure(f rundir.Number) {
	if f.Known() {
		t.add(f.Value())
	}
}

// mean is NaN of nothing.
func (t *total) mean() float64 { return t.sum / float64(t.n) }

func (t *total) tokens() rundir.TokenStats {
	if t.n == 0 {
		return rundir.TokenStats{}
	}
	return rundir.TokenStats{
		N: t.n, Mean: rundir.Exactly(t.mean()), Total: rundir.Exactly(math.Round(t.mean() * float64(t.n))),
		Min: rundir.Exactly(t.min), Max: rundir.Exactly(t.max),
	}
}
