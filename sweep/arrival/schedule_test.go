package arrival

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// arrivals are the due instants of a schedule's first seconds.
func arrivals(s Schedule, until float64) []float64 {
	var at []float64
	for due, ok := s.Next(); ok && due.Seconds() <= until; due, ok = s.Next() {
		at = append(at, due.Seconds())
	}
	return at
}

// gapsOf are the times between instants, the first after 0.
func gapsOf(at []float64) []float64 {
	out, last := slices.Clone(at), 0.0
	for i := range out {
		out[i], last = at[i]-last, at[i]
	}
	return out
}

// checkIndependent tests that values are independent and of a distribution, at a level of 0.1 %.
func checkIndependent(t *testing.T, name string, x []float64, cdf func(float64) float64) {
	t.Helper()
	checkDistribution(t, name, x, cdf)
	if r := stat.Correlation(x[1:], x[:len(x)-1], nil); math.Abs(r)*math.Sqrt(float64(len(x))) > 3.3 {
		t.Errorf("%s: neighbours of %d have a correlation of %.4f", name, len(x), r)
	}
}

// checkDistribution is the one-sample Kolmogorov-Smirnov test, by the asymptotic series (Marsaglia, Tsang and Wang 2003
// call it good for n > 35).
func checkDistribution(t *testing.T, name string, x []float64, cdf func(float64) float64) {
	t.Helper()
	x = slices.Sorted(slices.Values(x))
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	k := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d
	p := 0.0
	for j := 1.0; j <= 100; j++ {
		p += 2 * math.Pow(-1, j-1) * math.Exp(-2*j*j*k*k)
	}
	if p < 0.001 {
		t.Errorf("%s: %d values are off by up to %.4f, p = %.2g", name, len(x), d, p)
	}
}

func TestGapsAreIndependent(t *testing.T) {
	const rate, until = 10.0, 10_000.0
	poisson := arrivals(Poisson{Rate: rate}.Schedule(1, "poisson@10.00"), until)
	checkIndependent(t, "poisson", gapsOf(poisson), func(x float64) float64 { return -math.Expm1(-rate * x) })
	for _, shape := range []float64{0.5, 1, 2.5, 10} {
		at := arrivals(Gamma{Rate: rate, Gaps: Shape(shape)}.Schedule(1, "gamma@10.00"), until)
		checkIndependent(t, fmt.Sprint("gamma ", shape), gapsOf(at),
			func(x float64) float64 { return mathext.GammaIncReg(shape, x*rate*shape) })
	}
}

func TestRampIsPoissonInItsOwnTime(t *testing.T) {
	for _, c := range []struct{ from, to float64 }{{200, 2000}, {2000, 200}, {0, 1500}, {1500, 0}, {800, 800}} {
		name := fmt.Sprintf("%v-%v", c.from, c.to)
		const over = 60.0
		expected := func(at float64) float64 { return c.from*at + (c.to-c.from)/over*at*at/2 }
		s := Ramp{From: c.from, To: c.to, Over: over * time.Second}.Schedule(1, "ramp")
		mapped := arrivals(s, math.Inf(1))
		for i, at := range mapped {
			mapped[i] = expected(at)
		}
		// Given their number, a Poisson process's arrivals are uniform; and its gaps are exponential.
		want := expected(over)
		checkDistribution(t, name, mapped, func(x float64) float64 { return x / want })
		checkIndependent(t, name+" gaps", gapsOf(mapped), func(x float64) float64 { return -math.Expm1(-x) })
		if n := float64(len(mapped)); math.Abs(n-want) > 3*math.Sqrt(want) {
			t.Errorf("%s: %v arrivals, want about %.0f", name, n, want)
		}
		if due, ok := s.Next(); ok {
			t.Errorf("%s: due again at %v", name, due)
		}
	}
}

func TestSchedulesNeverGoBackAndRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.001, 5000).Draw(t, "rate")
		to := rapid.Float64Range(0, 5000).Draw(t, "to")
		shape := math.Exp(rapid.Float64Range(math.Log(minShape), math.Log(1e4)).Draw(t, "log shape"))
		over := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "over"))
		seed := rapid.Uint64().Draw(t, "seed")
		for _, l := range []Load{
			Poisson{Rate: rate}, Constant{Rate: rate}, Gamma{Rate: rate, Gaps: Shape(shape)},
			Ramp{From: rate, To: to, Over: over},
		} {
			first, second := first(t, l, seed), first(t, l, seed)
			if !slices.Equal(first, second) {
				t.Fatalf("%s does not repeat itself", l.Kind())
			}
			if !slices.IsSorted(first) || len(first) > 0 && first[0] < 0 {
				t.Fatalf("%s goes back: %v", l.Kind(), first)
			}
			if l.Ends() && len(first) > 0 && first[len(first)-1] > over {
				t.Fatalf("a ramp over %v goes on until %v", over, first[len(first)-1])
			}
		}
	})
}

// first are the first few offsets of a schedule.
func first(t rapid.TB, l Load, seed uint64) (at []time.Duration) {
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	s := l.Schedule(seed, "stage")
	for due, ok := s.Next(); ok && len(at) < 200; due, ok = s.Next() {
		at = append(at, due)
	}
	return at
}

func TestConstantNeverDrifts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 5000).Draw(t, "rate")
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		s := Constant{Rate: rate}.Schedule(0, "")
		var due time.Duration
		for range n + 1 {
			due, _ = s.Next()
		}
		if want := float64(n) / rate; math.Abs(due.Seconds()-want) > 2e-9+1e-12*want {
			t.Fatalf("request %d at %v/s is due at %v s, want %v s", n, rate, due.Seconds(), want)
		}
	})
}

func TestTraceReplays(t *testing.T) {
	offsets := []time.Duration{0, 0, 1500 * time.Millisecond, 4 * time.Second, 3000000000000000001}
	for speed, want := range map[float64][]time.Duration{
		0: offsets, 1: offsets, 2: {0, 0, 750 * time.Millisecond, 2 * time.Second, 1500000000000000000},
		0.5:  {0, 0, 3 * time.Second, 8 * time.Second, 6000000000000000000},
		0.25: {0, 0, 6 * time.Second, 16 * time.Second, math.MaxInt64},
	} {
		if got := first(t, Trace{Offsets: offsets, Speed: speed}, 0); !slices.Equal(got, want) {
			t.Errorf("at speed %v: %v, want %v", speed, got, want)
		}
	}
}

// By each of its instants a counted process has the number of arrivals that its rate asks for, to the nearest; it never
// goes back.
func TestCountedArrivalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := math.Exp(rapid.Float64Range(math.Log(0.01), math.Log(300)).Draw(t, "log rate"))
		by := []time.Duration{10 * time.Second, 30 * time.Second, 43 * time.Second}
		at := arrivals(Counted{Poisson{Rate: rate}, by}.Schedule(rapid.Uint64().Draw(t, "seed"), "poisson@1"), 60)
		for _, end := range by {
			n, _ := slices.BinarySearch(at, math.Nextafter(end.Seconds(), 60))
			if want := rate * end.Seconds(); math.Abs(float64(n)-want) > 0.5+1e-9 || !slices.IsSorted(at) {
				t.Fatalf("%d arrivals by %v, want %.2f: %v", n, end, want, at)
			}
		}
	})
}

// Gaps between n independent uniform values in [0, 1] have the distribution 1-(1-x)^n (Cox and Lewis 1966).
func TestCountedArrivalsAreUniform(t *testing.T) {
	const n, end = 5, 20 * time.Second
	l := Counted{Poisson{Rate: n / end.Seconds()}, []time.Duration{end}}
	var all, between []float64
	for seed := range uint64(4000) {
		at := arrivals(l.Schedule(seed, ""), end.Seconds())
		all, between = append(all, at...), append(between, gapsOf(at)...)
	}
	checkDistribution(t, "arrivals", all, func(x float64) float64 { return x / end.Seconds() })
	checkDistribution(t, "gaps", between, func(x float64) float64 { return 1 - math.Pow(1-x/end.Seconds(), n) })
}

// EvenInstants yields first the first instant at which the number is right, also where arrivals come in a burst or not at all.
func TestEvenInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.2, 50).Draw(t, "rate")
		from := time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "from"))
		limit := from + time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "more"))
		by := []time.Duration{40 * time.Second}
		schedule := func() Schedule { return Counted{Poisson{Rate: rate}, by}.Schedule(rapid.Uint64().Draw(t, "seed"), "") }
		seeded := schedule()
		var due []float64
		for d, _ := seeded.Next(); d < time.Minute; d, _ = seeded.Next() {
			due = append(due, d.Seconds())
		}
		off := func(at float64) float64 {
			n, _ := slices.BinarySearch(due, math.Nextafter(at, math.Inf(1)))
			return math.Abs(float64(n) - rate*at)
		}
		const half, roundOff = 0.5, 1e-6
		all := slices.Collect(EvenInstants(&listed{due: due}, rate, from, limit))
		for _, at := range all {
			if off(at.Seconds()) > half+roundOff {
				t.Fatalf("%v: off by %.3f", at, off(at.Seconds()))
			}
		}
		got := append(all, from)[0]
		if got < from || got > max(from, limit) || got > from && off(got.Seconds()) > half+roundOff {
			t.Fatalf("%v, from %v to %v: off by %.3f", got, from, limit, off(got.Seconds()))
		}
		for at := from; at < limit && (at < got || got == from && off(from.Seconds()) > half+
			roundOff); at += 5 * time.Millisecond {
			if off(at.Seconds()) < half-rate*0.005 {
				t.Fatalf("%v, from %v to %v: %v is even", got, from, limit, at)
			}
		}
	})
}

// listed is due at instants in seconds.
type listed struct{ due []float64 }

func (l *listed) Next() (time.Duration, bool) {
	if len(l.due) == 0 {
		return 0, false
	}
	due := l.due[0]
	l.due = l.due[1:]
	return time.Duration(math.Round(due * float64(time.Second))), true
}
