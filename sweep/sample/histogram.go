package sample

import (
	"math"
	"slices"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The histogram counts whole nanoseconds.
const (
	histogramDigits = 3    // significant digits that it keeps
	maxNanos        = 1e15 // nanoseconds: eleven days, longer than any request
)

// histogram is a sample of any size in a fixed amount of memory. Number, mean, deviation and extremes are exact; the
// value at a rank has three digits.
type histogram struct {
	hist            *hdrhistogram.Histogram // values and bounds
	known, bounds   int
	mean, squares   float64 // of the known values, and their squared distances from it (Welford, Technometrics 4 (1962))
	boundSum        float64
	lowest, highest float64
	smallestBound   float64 // bound; infinite where there is none
	batches         batches
}

func newHistogram() *histogram {
	return &histogram{
		hist:   hdrhistogram.New(1, maxNanos, histogramDigits),
		lowest: math.Inf(1), highest: math.Inf(-1), smallestBound: math.Inf(1),
	}
}

func (h *histogram) add(v float64) {
	h.known++
	off := v - h.mean
	h.mean += off / float64(h.known)
	h.squares += off * (v - h.mean)
	h.batches.add(v)
	h.count(v)
}

func (h *histogram) addBound(bound float64) {
	h.bounds++
	h.boundSum += bound
	h.smallestBound = min(h.smallestBound, bound)
	h.count(bound)
}

func (h *histogram) count(v float64) {
	h.lowest, h.highest = min(h.lowest, v), max(h.highest, v)
	ns := int64(math.Round(min(max(v, 0)*1e9, maxNanos)))
	if err := h.hist.RecordValue(ns); err != nil { // never: ns lies between the histogram's ends
		panic(err)
	}
}

func (h *histogram) summary() *summary {
	known := float64(h.known)
	return &summary{
		ascending: h.ranks(), known: h.known, bounds: h.bounds, smallestBound: h.smallestBound,
		mean: (h.mean*known + h.boundSum) / (known + float64(h.bounds)), deviation: math.Sqrt(h.squares / known),
		series: h.batches.means(), digits: histogramDigits,
	}
}

func (h *histogram) ranks() *ranks {
	r := &ranks{lowest: h.lowest, highest: h.highest}
	for _, bar := range h.hist.Distribution() {
		if bar.Count > 0 {
			r.n += int(bar.Count)
			r.cumulative = append(r.cumulative, r.n)
			r.bars = append(r.bars, [2]float64{float64(bar.From) / 1e9, float64(bar.To) / 1e9})
		}
	}
	return r
}

type ranks struct {
	n               int
	cumulative      []int // number of values in each bar and those before it
	bars            [][2]float64
	lowest, highest float64 // exact
}

// Len returns the number of values.
func (r *ranks) Len() int { return r.n }

// At returns the middle of the bar that holds the value of that rank. The first and the last are exact.
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

func (r *ranks) upper(rank int) float64 {
	const rounding = 0.5e-9 // values are rounded to nanoseconds
	return min(r.bar(rank)[1]+rounding, r.highest)
}

func (r *ranks) bar(rank int) [2]float64 { return r.bars[sort.SearchInts(r.cumulative, rank+1)] }

// batches keeps the means of consecutive values, the same number in each batch. When there are too many batches,
// neighbours are merged and the size of a batch doubles.
type batches struct {
	size int       // values in a batch
	sums []float64 // of full batches
	sum  float64   // of the batch that fills
	n    int       // values in it
}

// maxBatches bounds the memory of a histogram's series to 32 KiB.
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
		b.sums = MergePairs(b.sums, add)
		b.size *= 2
	}
}

func (b *batches) means() []float64 {
	means := slices.Clone(b.sums)
	for i := range means {
		means[i] /= float64(b.size)
	}
	return means
}

// MergePairs merges neighbours in place. An odd one at the end stays alone.
func MergePairs[T any](x []T, merge func(a, b T) T) []T {
	half := (len(x) + 1) / 2
	for i := range half {
		x[i] = x[2*i]
		if 2*i+1 < len(x) {
			x[i] = merge(x[i], x[2*i+1])
		}
	}
	return x[:half]
}

func add(a, b float64) float64 { return a + b }
