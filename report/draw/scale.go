package draw

import (
	"math"

	"llmsweep/report/lang"
)

// Axis is an axis of a plot.
type Axis struct {
	Label     lang.Text
	Log       bool
	Low, High float64 // the range that must be seen; both 0 for that of the data
	Format    func(v float64) string
}

// Number formats ticks as numbers.
func Number(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e6:
		return trim(v/1e6) + "M"
	case a >= 1e4:
		return trim(v/1e3) + "k"
	}
	return trim(v)
}

// Seconds formats ticks of times.
func Seconds(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case a < 0.9995e-3:
		return trim(v*1e6) + " µs"
	case a < 0.9995:
		return trim(v*1e3) + " ms"
	}
	return trim(v) + " s"
}

// Share formats ticks of shares as per cent.
func Share(v float64) string { return trim(100*v) + " %" }

func trim(v float64) string { return lang.Shortest(roundTo(v, 4)) }

func roundTo(v float64, digits int) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*unit) / unit
}

type scale struct {
	low, high float64 // values
	from, to  float64 // pixels
	log       bool
}

func (s scale) at(v float64) float64 {
	share := (v - s.low) / (s.high - s.low)
	if s.log {
		share = math.Log(v/s.low) / math.Log(s.high/s.low)
	}
	return s.from + share*(s.to-s.from)
}

func (s scale) clamp(v float64) float64 { return s.at(min(max(v, s.low), s.high)) }

type extent struct {
	low, high float64
	least     float64 // the least value above 0, for a logarithmic axis
}

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1), math.Inf(1)} }

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		e.low, e.high = min(e.low, v), max(e.high, v)
		if v > 0 {
			e.least = min(e.least, v)
		}
	}
}

// fit begins a linear axis at 0, so that lengths can be compared, unless the axis asks for another range.
func (a Axis) fit(e extent, from, to float64) scale {
	const room = 1.06 // of the range, so that no marker is cut
	if a.Low != 0 || a.High != 0 {
		e.add(a.Low, a.High)
	}
	s := scale{low: min(0, e.low), high: e.high, from: from, to: to}
	if a.Log {
		if math.IsInf(e.least, 1) {
			e.least, e.high = 0.1, 1
		}
		s.log, s.low, s.high = true, e.least/1.25, max(e.high*1.25, e.least*2)
		return s
	}
	if math.IsInf(e.high, -1) {
		s.low, s.high = 0, 1
	}
	if e.low < 0 {
		s.low = e.low * room
	}
	if s.high *= room; s.high <= s.low {
		s.high = s.low + 1
	}
	return s
}

// ticks returns 1, 2 and 5 times powers of ten, about as many as asked for.
func (s scale) ticks(about int) []float64 {
	var all []float64
	if s.log {
		for _, digits := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
			all = logTicks(s, digits, 1)
			if len(all) <= about+1 {
				return all
			}
		}
		for every := 2; len(all) > about+1; every++ {
			all = logTicks(s, []float64{1}, every)
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/float64(about))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(step*m) <= float64(about)+0.5 {
			step *= m
			break
		}
	}
	for i := math.Ceil(s.low / step); i*step <= s.high; i++ {
		all = append(all, roundTo(i*step, 9))
	}
	return all
}

// logTicks returns the digits times powers of ten within the scale, of each decade or of every few.
func logTicks(s scale, digits []float64, every int) []float64 {
	var all []float64
	for e := int(math.Floor(math.Log10(s.low))); float64(e) <= math.Log10(s.high); e++ {
		if every > 1 && (e%every+every)%every != 0 {
			continue
		}
		for _, m := range digits {
			if v := m * math.Pow(10, float64(e)); v >= s.low && v <= s.high {
				all = append(all, roundTo(v, 9))
			}
		}
	}
	return all
}
