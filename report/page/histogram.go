package page

import "math"

// The bins of a histogram have equal width on a logarithmic axis.
const (
	binsPerDecade = 12
	minBin        = 1e-6               // seconds: the unit of the gaps in records
	bins          = 12 * binsPerDecade // up to ten days
)

type traceHistogram struct {
	N       float64 // values
	Bounded float64 // of which only a lower bound is known; they are counted where that lies
	counts  [bins]float64
}

// Add counts a value, a number of times.
func (h *traceHistogram) Add(v, times float64, bound bool) {
	h.N += times
	if bound {
		h.Bounded += times
	}
	bin := 0
	if v > minBin {
		bin = min(int(math.Log10(v/minBin)*binsPerDecade), bins-1)
	}
	h.counts[bin] += times
}

type traceBar struct{ Low, High, Count float64 }

// Bars returns the bins from the first to the last that holds a value. Values below least are in the first bin that is
// returned; below tells how many. A least that is not a number leaves all bins as they are.
func (h *traceHistogram) Bars(least float64) (all []traceBar, below float64) {
	from, first, last := 0, -1, -1
	if least > minBin {
		from = min(int(math.Log10(least/minBin)*binsPerDecade), bins-1)
	}
	for i, n := range h.counts {
		if n == 0 {
			continue
		}
		if i < from {
			below += n
		} else if first < 0 {
			first = i
		}
		last = i
	}
	if last < 0 {
		return nil, 0
	}
	if below > 0 || first < 0 {
		first = min(from, last)
	}
	edge := func(i int) float64 { return minBin * math.Pow(10, float64(i)/binsPerDecade) }
	for i := first; i <= last; i++ {
		all = append(all, traceBar{edge(i), edge(i + 1), h.counts[i]})
	}
	if last >= from {
		all[0].Count += below
	}
	return all, below
}
