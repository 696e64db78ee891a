package sweep

import (
	"math"
	"slices"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A histogram counts whole nanoseconds, to three significant digits.
const (
	histogramDigits = 3
	longest         = 1e15 // nanoseconds that it tells apart; eleven days
)

// flat sums up one figure over requests in memory that does not grow with their number. Number, mean, spread and extremes
// are exact; what lies at a rank is known to three digits.
type flat struct {
	hist            *hdrhistogram.Histogram // values and bounds
	known, bounds   int
	mean, squares   float64 // of the known values, and their squared distances from it (Welford, Technometrics 4 (1962))
	bounded         float64 // sum of the bounds
	lowest, highest float64
	smallest        float64 // bound
	batches         batches
}

func newFlat() *flat {
	return &flat{
		hist:   hdrhistogram.New(1, longest, histogramDigits),
		lowest: math.Inf(1), highest: math.Inf(-1), smallest: math.Inf(1),
	}
}

func (f *flat) know(v float64) {
	f.known++
	off := v - f.mean
	f.mean += off / float64(f.known)
	f.squares += off * (v - f.mean)
	f.batches.add(v)
	f.note(v)
}

func (f *flat) exceed(bound float64) {
	f.bounds++
	f.bounded += bound
	f.smallest = min(f.smallest, bound)
	f.note(bound)
}

func (f *flat) note(v float64) {
	f.lowest, f.highest = min(f.lowest, v), max(f.highest, v)
	ns := int64(math.Round(min(max(v, 0)*1e9, longest)))
	if err := f.hist.RecordValue(ns); err != nil { // never: ns is between the histogram's ends
		panic(err)
	}
}

// complete is f in ascending order.
func (f *flat) complete() *complete {
	known := float64(f.known)
	return &complete{
		ascending: f.ranks(), known: f.known, bounds: f.bounds, smallest: f.smallest,
		mean: (f.mean*known + f.bounded) / (known + float64(f.bounds)), deviation: math.Sqrt(f.squares / known),
		series: f.batches.means(), digits: histogramDigits,
	}
}

// ranks finds values by rank.
func (f *flat) ranks() *ranks {
	r := &ranks{lowest: f.lowest, highest: f.highest}
	for _, bar := range f.hist.Distribution() {
		if bar.Count > 0 {
			r.n += int(bar.Count)
			r.until = append(r.until, r.n)
			r.bars = append(r.bars, [2]float64{float64(bar.From) / 1e9, float64(bar.To) / 1e9})
		}
	}
	return r
}

// ranks are a histogram's bars, ascending.
type ranks struct {
	n               int
	until           []int // how many values lie in a bar and before it
	bars            [][2]float64
	lowest, highest float64 // the true ones
}

// Len is the number of values.
func (r *ranks) Len() int { return r.n }

// At is the middle of the bar that the value of that rank lies in; the first and the last are exact.
func (r *ranks) At(rank int) float64 {
	switch rank {
	case 0:
		return r.lowest
	case r.n - 1:
		return r.highest
	}
	b := r.bar(rank)
	return min(max((b[0]+b[1])/2, r.lowest), r.highest)
}

// most is the largest that the value of that rank may be.
func (r *ranks) most(rank int) float64 {
	const half = 0.5e-9 // of a nanosecond, to which values are rounded
	return min(r.bar(rank)[1]+half, r.highest)
}

func (r *ranks) bar(rank int) [2]float64 { return r.bars[sort.SearchInts(r.until, rank+1)] }

// batches are the means of consecutive values, equally many in each. When there are too many batches, neighbours are merged,
// and what fills the next doubles.
type batches struct {
	size int       // values in a batch
	sums []float64 // of full batches
	sum  float64   // of the one that fills
	n    int       // values in it
}

const maxBatches = 4096

func (b *batches) add(v float64) {
	b.size = max(b.size, 1)
	b.sum += v
	if b.n++; b.n < b.size {
		return
	}
	b.sums = append(b.sums, b.sum)
	b.sum, b.n = 0, 0
	if len(b.sums) == maxBatches {
		b.sums = mergePairs(b.sums, func(a, b float64) float64 { return a + b })
		b.size *= 2
	}
}

// means leaves out what does not fill a batch.
func (b *batches) means() []float64 {
	means := slices.Clone(b.sums)
	for i := range means {
		means[i] /= float64(b.size)
	}
	return means
}

// mergePairs merges neighbours in place; an odd one at the end stays alone.
func mergePairs[T any](x []T, merge func(a, b T) T) []T {
	half := (len(x) + 1) / 2
	for i := range half {
		x[i] = x[2*i]
		if 2*i+1 < len(x) {
			x[i] = merge(x[i], x[2*i+1])
		}
	}
	return x[:half]
}
