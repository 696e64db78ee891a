package stats

import (
	"math"
	"slices"
)

// Change is a step or a drift of a series.
type Change struct {
	At    int  // the first value after a step, or of a drift
	Last  int  // the last value of a drift when it was found; of a step At
	Found int  // the value with which it was found
	Drift bool // the values rose or fell from At to Last
	// Size is how much the values rose in all; Low and High are its 95 % interval.
	Size, Low, High float64
}

// The limits of a change, in values.
const (
	minSide      = 2  // values on each side of a step, at least: a single one may be an outlier
	minDrift     = 14 // values in a drift, at least
	minDF        = 10 // degrees of freedom: with fewer the spread of a series is not known
	week         = 7  // distance up to which values may be alike, and a step is moved
	settleValues = 14 // values after a step until its place is settled
	// outlierLimit is the number of robust standard deviations from the median at which values are clipped, so that no
	// change rests on one or two of them.
	outlierLimit = 3
	// independentTests is how many independent tests it is worth to test all places for a change after each value, from
	// simulated histories.
	independentTests = 5
)

// Changes returns the steps and drifts of a series, as they would have been found by looking after each value: a change
// is found where such values have a probability below level without it. The values before and after each place are
// compared with Student's t (the change-point model of Hawkins, Qiu and Kang, Journal of Quality Technology 35 (2003)),
// clipped at outliers. The spread is that between the values of a segment without a change, and so of runs and not
// within one; it grows where neighbours are alike. A segment is what lies between two changes. The spread is returned
// too.
func Changes(y []float64, level float64) ([]Change, Spread) {
	r := detector{y: y, level: level / independentTests}
	for n := range y {
		r.test(n + 1)
	}
	return r.result()
}

// detector searches a series for changes, value after value.
type detector struct {
	y     []float64
	level float64
	found []Change
}

type fit struct {
	at    int
	drift bool
	size  float64 // of the step, or of the drift until the last value
	se    float64 // of size, for a spread of 1
	sse   float64 // what is left
}

func (r *detector) start(i int) int {
	if i == 0 {
		return 0
	}
	return r.found[i-1].Last
}

func (r *detector) end(i, n int) int {
	if i == len(r.found) {
		return n
	}
	return r.found[i].At
}

// test tests whether the first n values end with another change.
func (r *detector) test(n int) {
	r.settle(n)
	x, earlier, free := r.clipOutliers(n)
	var best fit
	var most float64
	df := free + float64(len(x)-2)
	for _, f := range fits(x) {
		if t := math.Abs(f.size) / (f.se * math.Sqrt((f.sse+earlier)/df)); df >= minDF && t > most {
			best, most = f, t
		}
	}
	t := most / math.Sqrt(varianceInflation(x, best))
	if most == 0 || 2*studentTail(t, df) > r.level {
		return
	}
	from := r.start(len(r.found))
	c := Change{At: from + best.at, Last: from + best.at, Found: n - 1, Drift: best.drift, Size: best.size}
	half := StudentQuantile(0.975, df) * math.Abs(best.size) / t
	c.Low, c.High = c.Size-half, c.Size+half
	if c.Drift {
		c.Last = n - 1
	}
	r.found = append(r.found, c)
}

// settle moves the last step to where it divides the values best, as long as few have come after it.
func (r *detector) settle(n int) {
	last := len(r.found) - 1
	if last < 0 || r.found[last].Drift || n-r.found[last].At > settleValues {
		return
	}
	from, at := r.start(last), r.found[last].At
	least := math.Inf(1)
	for k := max(from+minSide, at-week); k <= min(at+week, n-minSide); k++ {
		if left := medianDistance(r.y[from:k]) + medianDistance(r.y[k:n]); left < least {
			least, r.found[last].At = left, k
		}
	}
	r.found[last].Last = r.found[last].At
}

// medianDistance is a sum over all values.
func medianDistance(x []float64) (sum float64) {
	m := median(x)
	for _, v := range x {
		sum += math.Abs(v - m)
	}
	return sum
}

// median is NaN for no values.
func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// clipOutliers returns the last segment without outliers; and the sum of squares of the segments before it, without
// outliers, with its degrees of freedom.
func (r *detector) clipOutliers(n int) (x []float64, squares, df float64) {
	const normal = 1.4826 // of the standard deviation of a normal distribution to its median absolute deviation
	var parts [][]float64
	var distances []float64
	for i := range len(r.found) + 1 {
		part := slices.Clone(r.y[r.start(i):r.end(i, n)])
		m := median(part)
		for j := range part {
			part[j] -= m
			distances = append(distances, math.Abs(part[j]))
		}
		parts = append(parts, part)
	}
	far := outlierLimit * normal * median(distances)
	for i, part := range parts {
		for j := range part {
			part[j] = max(-far, min(far, part[j]))
		}
		if i < len(parts)-1 && len(part) > 0 {
			squares += variance(part) * float64(len(part))
			df += float64(len(part) - 1)
		}
	}
	return parts[len(parts)-1], squares, df
}

func fits(x []float64) []fit {
	n := len(x)
	var all []fit
	var sum, squares float64
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	total := squares - sum*sum/float64(n)
	tail, first := 0.0, 0.0 // the sum of the values from k on, and of their places times them
	for k := n - 1; k >= minSide; k-- {
		tail, first = tail+x[k], first+float64(k)*x[k]
		m, after := float64(k), float64(n-k)
		if n-k >= minSide {
			size := tail/after - (sum-tail)/m
			width := m * after / float64(n)
			all = append(all, fit{at: k, size: size, se: math.Sqrt(1 / width), sse: max(0, total-size*size*width)})
		}
		if n-k >= minDrift { // rises by 1, 2, ... at k, k+1, ...
			s1 := after * (after + 1) / 2
			width := after*(after+1)*(2*after+1)/6 - s1*s1/float64(n)
			slope := (first - (m-1)*tail - s1*sum/float64(n)) / width
			all = append(all, fit{at: k, drift: true, size: slope * after, se: after / math.Sqrt(width),
				sse: max(0, total-slope*slope*width)})
		}
	}
	return all
}

// varianceInflation returns the factor by which correlated neighbours widen the variance of a fit's size: 1 where they
// are independent. It is that of the mean of the values after a change, by the correlations of the fit's residuals.
func varianceInflation(x []float64, f fit) float64 {
	left := slices.Clone(x)
	after := len(x) - f.at
	for i := f.at; i < len(x); i++ {
		if f.drift {
			left[i] -= f.size * float64(i-f.at+1) / float64(after)
		} else {
			left[i] -= f.size
		}
	}
	mean := Mean(left)
	product := func(lag int) (sum float64) {
		for i := lag; i < len(left); i++ {
			sum += (left[i] - mean) * (left[i-lag] - mean)
		}
		return sum
	}
	whole := product(0)
	if whole == 0 {
		return 1
	}
	factor, most := 1.0, 1.0
	for lag := 1; lag < min(after, week, len(x)/2); lag++ {
		factor += 2 * (1 - float64(lag)/float64(after)) * product(lag) / whole
		most = max(most, factor)
	}
	if after < week {
		return max(1, factor)
	}
	return most
}

// result returns the changes, and the spread of the values within segments. Steps have their sizes by all values on
// either side, with intervals by the spread of all segments. Drifts keep the sizes with which they were found.
func (r *detector) result() ([]Change, Spread) {
	n := len(r.y)
	last, squares, df := r.clipOutliers(n)
	squares, df = squares+variance(last)*float64(len(last)), df+float64(len(last)-1)
	for i := range r.found {
		c := &r.found[i]
		if c.Drift {
			continue
		}
		before, after := r.y[r.start(i):c.At], r.y[c.At:r.end(i+1, n)]
		c.Size = Mean(after) - Mean(before)
		half := StudentQuantile(0.975, df) * math.Sqrt(squares/df*(1/float64(len(before))+1/float64(len(after))))
		c.Low, c.High = c.Size-half, c.Size+half
	}
	return r.found, Spread{math.Sqrt(squares / df), df}
}
