package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"llmsweep/sweep/stats"
)

// close3 reports whether two numbers agree to three significant digits.
func close3(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b)+1e-9 }

var percentiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// A histogram gives the same numbers as the values themselves, to three digits, and the same kinds of numbers: exact or
// a lower bound. Only values that it cannot tell from the smallest bound count as bounds.
func TestAHistogramSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact, counted := &Sample{}, &Sample{limit: 1}
		for range rapid.IntRange(2, 400).Draw(t, "n") {
			// alike, or apart by more than rounding
			v := math.Pow(10, float64(rapid.IntRange(-6000, 4000).Draw(t, "magnitude"))/1000)
			if rapid.IntRange(0, 6).Draw(t, "censored") == 0 {
				exact.AddBound(v)
				counted.AddBound(v)
			} else {
				exact.Add(0, v)
				counted.Add(0, v)
			}
		}
		want, got := exact.Dist(), counted.Dist()
		if got.Digits != histogramDigits || want.Digits != 0 || counted.known != nil {
			t.Fatalf("%d and %d digits", got.Digits, want.Digits)
		}
		if got.N != want.N || got.Censored != want.Censored {
			t.Fatalf("n %d and %d, want %d and %d", got.N, got.Censored, want.N, want.Censored)
		}
		smallest := math.Inf(1)
		if len(exact.bounds) > 0 {
			smallest = slices.Min(exact.bounds)
		}
		all := exact.summary()
		atBound := func(name string) bool { // the larger order statistic of a percentile
			p, ok := percentiles[name]
			return ok && close3(all.At(int(math.Ceil(p*float64(all.Len()-1)))), smallest)
		}
		for i, f := range got.Numbers() {
			w := want.Numbers()[i].Number
			switch name := f.Name; {
			case name == "min" || name == "max":
				if *f.Number != *w {
					t.Fatalf("%s is %v, want %v", name, *f.Number, *w)
				}
			case f.Number.Bound() && w.Known() && close3(f.Number.Value(), w.Value()) && atBound(name):
			case f.Number.Known() != w.Known() || f.Number.Bound() != w.Bound():
				t.Fatalf("%s is %v, want %v", name, *f.Number, *w)
			case name[0] == 'p' && !close3(f.Number.Value(), w.Value()),
				name[0] != 'p' && !w.IsZero() && math.Abs(f.Number.Value()-w.Value()) > 1e-9*(w.Value()+want.Mean.Value()):
				t.Fatalf("%s is %v, want %v", name, f.Number.Value(), w.Value())
			}
		}
		if !slices.Equal(got.Unsupported, want.Unsupported) || math.Abs(got.Neff.Value()/want.Neff.Value()-1) > 1e-3 {
			t.Fatalf("worth %v, without %v; want %v, without %v", got.Neff.Value(), got.Unsupported, want.Neff.Value(),
				want.Unsupported)
		}
		for name, w := range want.CI {
			g, ok := got.CI[name]
			same := ok && close3(g[0], w[0]) && close3(g[1], w[1])
			// Values in their order may widen a percentile's interval; a histogram has no order.
			within := ok && name != "mean" && g[0] >= w[0]*(1-1e-3) && g[1] <= w[1]*(1+1e-3)
			if ok && !same && !within || !ok && !close3(w[1], smallest) {
				t.Fatalf("%s lies within %v, want %v", name, g, w)
			}
		}
	})
}

// In which order requests ended makes no difference, as long as few enough are kept as they are.
func TestValuesAreTakenInDueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(0, 9), 0, 3), 1, 60).Draw(t, "values of requests")
		places := make([]int, len(values))
		for i := range places {
			places[i] = i
		}
		var s Sample
		for _, i := range rapid.Permutation(places).Draw(t, "ended") {
			for _, v := range values[i] {
				s.Add(float64(i), v)
			}
			if i%2 == 0 {
				s.AddBound(1)
			}
		}
		if got, want := s.series(), slices.Concat(values...); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Means of batches tell how many independent values many correlated ones are worth.
func TestEffectiveNByBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range []float64{0, 0.5, 0.9, 0.99} {
		s, v := Sample{}, rng.NormFloat64()
		const n = 300_000
		for range n {
			s.Add(0, 10+v)
			v = r*v + math.Sqrt(1-r*r)*rng.NormFloat64()
		}
		d := s.Dist()
		if want := n * (1 - r) / (1 + r); math.Abs(d.Neff.Value()/want-1) > 0.15 {
			t.Errorf("correlation %v: %d values are worth %.0f, want about %.0f", r, n, d.Neff.Value(), want)
		}
		if ci := d.CI["mean"]; ci[0] > d.Mean.Value() || ci[1] < d.Mean.Value() || ci[1]-ci[0] > 8*math.Sqrt((1+r)/(1-r)/n) {
			t.Errorf("correlation %v: the mean %v lies within %v", r, d.Mean.Value(), ci)
		}
	}
	var alike Sample
	for range 2 * DefaultLimit {
		alike.Add(0, 3)
	}
	if d := alike.Dist(); d.Neff.Value() != 2*DefaultLimit || d.P99.Value() != 3 || d.Std.Value() != 0 {
		t.Errorf("a constant: %+v", d)
	}
}

// The ends that are kept find the waves that all of them do.
func TestEndsFindTheWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(t, "width")
		var all []time.Duration
		e := NewWaves(width)
		for _, at := range rapid.SliceOfN(rapid.IntRange(1, 30), 0, 40).Draw(t, "ends") {
			all = append(all, time.Duration(at))
			e.Add(time.Duration(at))
		}
		slices.Sort(all)
		var from, to time.Duration
		n := 0
		by := time.Duration(rapid.IntRange(0, 40).Draw(t, "by"))
		ended := slices.DeleteFunc(slices.Clone(all), func(at time.Duration) bool { return at > by })
		switch whole := len(ended) / width * width; {
		case width == 1 && whole > 0:
			to, n = all[whole-1], whole
		case whole >= 2*width:
			from, to, n = all[width-1], all[whole-1], whole-width
		}
		if f, l, k := e.Whole(by); f != from || l != to || k != n {
			t.Fatalf("%d in %v-%v, want %d in %v-%v", k, f, l, n, from, to)
		}
	})
}

// What is kept of the ends does not grow with them.
func TestFewEndsAreKept(t *testing.T) {
	for _, width := range []int{1, minEnds} {
		e := NewWaves(width)
		for i := range 5 * minEnds {
			e.Add(time.Duration(i))
		}
		if most := max(2*width, minEnds); len(e.first) > width || e.latest.n > most {
			t.Errorf("%d and %d are kept of a width of %d", len(e.first), e.latest.n, width)
		}
	}
}

// Ticks of a long stage are merged. A tick's place tells its time, also where some were dropped.
func TestTicks(t *testing.T) {
	sum := func(m *Ticks) (total float64) {
		for _, k := range m.Sums {
			total += k
		}
		return total
	}
	const tick, n = time.Second, 5*MaxTicks + 3
	m := &Ticks{Width: tick}
	for i := range n {
		m.Add(time.Duration(i+1)*tick, 2, float64(i))
	}
	if last := m.Ends[len(m.Ends)-1]; last != n-1 || len(m.Ends) != len(m.Sums) {
		t.Errorf("%v are owed at the end, want %d", last, n-1)
	}
	if sum(m) != 2*n || len(m.Sums) > MaxTicks || m.Width != 8*tick || m.Count(n*tick) < len(m.Sums)-1 {
		t.Errorf("%v tokens in %d ticks of %v", sum(m), len(m.Sums), m.Width)
	}
	m = &Ticks{Width: 10 * time.Millisecond}
	for _, at := range []time.Duration{10, 20, 31, 79, 80, 83} {
		m.Add(at*time.Millisecond, 6, 0)
	}
	if len(m.Sums) != 8 || sum(m) != 36 || m.Sums[3] != 1.5 {
		t.Errorf("%v, sum %v", m.Sums, sum(m))
	}
}

// Whatever the values of the censored requests are, an exact number is the one that the true values give, and a lower
// bound lies below it.
func TestCensoredValuesGiveLowerBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sample
		var truth []float64
		for range rapid.IntRange(1, 80).Draw(t, "n") {
			v := rapid.Float64Range(0, 100).Draw(t, "value")
			if rapid.IntRange(0, 4).Draw(t, "censored") == 0 {
				s.AddBound(v)
				v += rapid.Float64Range(0, 1000).Draw(t, "more")
			} else {
				s.Add(0, v)
			}
			truth = append(truth, v)
		}
		slices.Sort(truth)
		d := s.Dist()
		if d.N != len(truth) || d.Censored != len(s.bounds) {
			t.Fatalf("n %d and %d, want %d and %d", d.N, d.Censored, len(truth), len(s.bounds))
		}
		want := map[string]float64{
			"mean": stats.Mean(truth), "min": truth[0], "max": truth[len(truth)-1], "std": stats.Deviation(truth),
			"p50": stats.Quantile(truth, 0.5), "p90": stats.Quantile(truth, 0.9), "p95": stats.Quantile(truth, 0.95),
			"p99": stats.Quantile(truth, 0.99), "p999": stats.Quantile(truth, 0.999),
		}
		for _, f := range d.Numbers() {
			slack := 1e-9 * (1 + want[f.Name])
			switch {
			case f.Number.Known() && math.Abs(f.Number.Value()-want[f.Name]) > slack:
				t.Fatalf("%s is said to be %v and is %v", f.Name, f.Number.Value(), want[f.Name])
			case f.Number.Bound() && f.Number.Value() > want[f.Name]+slack:
				t.Fatalf("%s is said to be over %v and is %v", f.Name, f.Number.Value(), want[f.Name])
			case f.Number.IsZero() && f.Name != "std":
				t.Fatalf("%s is missing", f.Name)
			}
		}
	})
}

func TestSupportIsMarked(t *testing.T) {
	var s Sample
	for i := range 200 {
		s.Add(0, float64(i*7919%200)/10)
	}
	d := s.DistWorth(200)
	if want := []string{"p99", "p999"}; !slices.Equal(d.Unsupported, want) {
		t.Errorf("200 values do not support %v, want %v", d.Unsupported, want)
	}
	if ci, ok := d.CI["p50"]; !ok || ci[0] >= d.P50.Value() || ci[1] <= d.P50.Value() {
		t.Errorf("the median %v has the interval %v", d.P50.Value(), ci)
	}
	if d = s.DistWorth(20); d.Supported("p90") || !d.Supported("p50") {
		t.Errorf("worth 20, they do not support %v", d.Unsupported)
	}
}

// The series must hold the exact area of a step function, however often its bins were merged.
func TestSeriesHoldsTheArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const full = 3
		s := NewLevel(time.Millisecond)
		level, peak, area := 0, 0, 0.0
		first, last, at := time.Duration(-1), time.Duration(-1), time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := time.Duration(rapid.Int64Range(0, int64(200*time.Millisecond)).Draw(t, "step"))
			area += float64(level) * step.Seconds()
			if at += step; level >= full {
				last = at
			}
			delta := 1
			if level > 0 && rapid.Bool().Draw(t, "down") {
				delta = -1
			}
			s.Add(at, delta)
			level += delta
			if peak = max(peak, level); level >= full && first < 0 {
				first = at
			}
		}
		const rest = 20 // seconds, so that bins are merged
		whole := at + rest*time.Second
		if s.Advance(whole); level >= full {
			last = whole
		}
		area += float64(level) * rest
		for _, got := range []float64{s.integral(0, whole), s.integral(0, whole/2) + s.integral(whole/2, whole)} {
			if math.Abs(got-area) > 1e-6*(1+area) {
				t.Fatalf("integral %v, want %v", got, area)
			}
		}
		from, to, ok := s.Span(full)
		if ok != (first >= 0) || ok && (from > first || first-from >= s.width || to < last || to-max(last, first) > s.width) {
			t.Fatalf("%d or more from %v to %v, want %v to %v", full, from, to, first, last)
		}
		if got := s.Peak(0, whole); got != peak || len(s.area) > maxBins+1 {
			t.Fatalf("peak %d, want %d, in %d bins", got, peak, len(s.area))
		}
	})
}

// A mean is supported where its interval is known and no wider than the precision; a lower bound has its own mark.
func TestMeansAreMarked(t *testing.T) {
	var s Sample
	for i := range 200 {
		s.Add(float64(i), 1+float64(i*7919%200)/1000)
	}
	d := s.Dist()
	half := (d.CI["mean"][1] - d.CI["mean"][0]) / 2 / d.Mean.Value()
	if !d.Supported("mean") || half > 0.1 {
		t.Errorf("the mean is known to %.3f, without support: %v", half, d.Unsupported)
	}
	for precision, want := range map[float64]bool{1.01 * half: true, 0.99 * half: false} {
		if d.JudgeMean(precision); d.Supported("mean") != want || d.Supported("p999") {
			t.Errorf("known to %.4f, with a precision of %.4f: without support %v", half, precision, d.Unsupported)
		}
	}
	var two Sample
	two.Add(0, 1)
	two.Add(1, 1)
	if d := two.Dist(); d.Supported("mean") {
		t.Error("two values support a mean")
	}
	if two.AddBound(3); slices.Contains(two.Dist().Unsupported, "mean") {
		t.Error("a lower bound of a mean is marked twice")
	}
}
