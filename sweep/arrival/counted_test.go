package arrival

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

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

// EvenInstant finds the first instant at which the number is right, also where arrivals come in a burst or not at all.
func TestEvenInstant(t *testing.T) {
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
		got := EvenInstant(&listed{due: due}, rate, from, limit)
		const half, roundOff = 0.5, 1e-6
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
