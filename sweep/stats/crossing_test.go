package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestCrossingOfALine(t *testing.T) {
	var points []Point
	for _, x := range []float64{9, 12, 10, 11, 8} { // in any order
		points = append(points, Point{X: x, Y: 3 * (x - 10.4), SE: 0.1})
	}
	r := Crossing(points, 0.3, 0, Prior{})
	if math.Abs(r.At-10.4) > 1e-6 || !(r.Low < 10.4 && r.High > 10.4) || r.High-r.Low > 1 {
		t.Errorf("%+v", r)
	}
}

func TestCrossingBeyondThePoints(t *testing.T) {
	below := []Point{{X: 1, Y: -3, SE: 1}, {X: 2, Y: -2, SE: 1}}
	if r := Crossing(below, 0.1, 0, Prior{}); !math.IsInf(r.At, 1) {
		t.Errorf("all below: %+v", r)
	}
	if r := Crossing([]Point{{X: 1, Y: 3, SE: 1}, {X: 2, Y: 4, SE: 1}}, 0.1, 0, Prior{}); !math.IsInf(r.At, -1) {
		t.Errorf("all above: %+v", r)
	}
	if r := Crossing(nil, 0.1, 0, Prior{}); !math.IsNaN(r.At) {
		t.Errorf("nothing: %+v", r)
	}
	if r := Crossing(append(below, Point{X: 3, Y: 2, SE: 1}), 0.1, 0, Prior{}); math.Abs(r.At-2.5) > 1e-9 || r.Low != 2 || r.High != 3 {
		t.Errorf("three points make no line worth fitting: %+v", r)
	}
}

// The points lie on a bent curve, with a known error. The interval must cover the root (in more than 95 %, since points far away
// count as less exact than they are), and all points together must give a better root than one of them.
func TestCrossingCovers(t *testing.T) {
	off := 0.0
	held := coverage(func(rng *rand.Rand) bool {
		var points []Point
		for _, x := range []float64{2, 4, 6, 7, 7.5, 7.8, 8, 8.1, 8.4, 9, 10} {
			const se = 0.3
			points = append(points, Point{X: x, Y: 2.5*math.Log(x/8)*(1+x/8) + se*rng.NormFloat64(), SE: se}) // slope 5/8 at the root, 8
		}
		r := Crossing(points, 0.1, 0, Prior{})
		off += math.Abs(r.At-8) / 1000
		return r.Low <= 8 && 8 <= r.High
	})
	if held < 0.9 || held > 0.999 {
		t.Errorf("the interval holds the root in %.1f %%", held*100)
	}
	if single := 0.8 * 0.3 / (5.0 / 8); off > 0.75*single { // mean absolute deviation of a normal is 0.8 of its standard deviation
		t.Errorf("%.3f off on average, where a single point is %.3f", off, single)
	}
}

// Where the curve hardly rises, its slope is hardly known. The interval must show that.
func TestCrossingOfAFlatCurveCovers(t *testing.T) {
	held := coverage(func(rng *rand.Rand) bool {
		var points []Point
		for _, x := range []float64{1, 2, 3, 4, 5, 6, 7, 7.5, 8.5, 9, 12, 15} {
			const se = 0.5
			points = append(points, Point{X: x, Y: 0.1*(x-8) + se*rng.NormFloat64(), SE: se})
		}
		r := Crossing(points, 0.3, 0, Prior{})
		return r.Low <= 8 && 8 <= r.High
	})
	if held < 0.96 { // by the delta method 92.8 %
		t.Errorf("the interval holds the root in %.1f %%", held*100)
	}
}

// Points whose distance cannot be squared in floating point still have an interval.
func TestCrossingOfPointsThatAreClose(t *testing.T) {
	const x = 7.563656083690075e-124
	p := Point{X: x, Y: 1, SE: 1}
	points := []Point{p, p, p, {X: x / 2, Y: -0.11693600366475732, SE: 7.526276902907528, Of: 2, At: 0.01}}
	if r := Crossing(points, 0.1, 0.02, Prior{}); !(x/2 <= r.Low && r.Low <= r.At && r.At <= r.High && r.High <= x) {
		t.Errorf("%+v", r)
	}
}

// For any points, the root and its interval lie between them, in order.
func TestCrossingStaysWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Point {
			x := rapid.Float64Range(0, 10).Draw(t, "x")
			if rapid.Bool().Draw(t, "share") {
				return Share(x, rapid.Float64Range(0, 1).Draw(t, "of"), rapid.Float64Range(1, 1e6).Draw(t, "n"), 0.01)
			}
			return Point{X: x, Y: rapid.Float64Range(-5, 5).Draw(t, "y"), SE: rapid.Float64Range(0.01, 3).Draw(t, "se")}
		}), 0, 12).Draw(t, "points")
		r := Crossing(points, 0.1, 0.02, Prior{})
		if math.IsNaN(r.At) || math.IsInf(r.At, 0) {
			return
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range points {
			low, high = min(low, p.X), max(high, p.X)
		}
		if !(low <= r.Low && r.Low <= r.At && r.At <= r.High && r.High <= high) {
			t.Fatalf("%v: %+v", points, r)
		}
	})
}

// Shares of few observations are skewed: most rows see fewer rare events than expected. The root must not be too high for that.
func TestCrossingOfRareSharesIsNotTooHigh(t *testing.T) {
	const n, at = 300, 0.01
	sum := 0.0
	covered := coverage(func(rng *rand.Rand) bool {
		var points []Point
		for _, x := range []float64{6, 7, 7.5, 7.8, 8, 8.2, 8.5, 9, 10} {
			hits := 0.0
			for range n {
				if rng.Float64() < expit(logit(at)+1.2*(x-8)) {
					hits++
				}
			}
			points = append(points, Share(x, hits/n, n, at))
		}
		r := Crossing(points, 0.1, 0, Prior{})
		sum += r.At / 1000
		return r.Low <= 8 && 8 <= r.High
	})
	if math.Abs(sum/8-1) > 0.01 || covered < 0.93 {
		t.Errorf("the root is put at %.3f on average, not at 8; the interval holds it in %.1f %%", sum, covered*100)
	}
}

// What chance does to the points is known but for its size: taken off, the root is nearer, and the interval still holds it.
func TestCrossingTakesChanceOff(t *testing.T) {
	offs := map[bool]float64{}
	for _, known := range []bool{false, true} {
		covered := coverage(func(rng *rand.Rand) bool {
			var points []Point
			for _, x := range []float64{6, 7, 7.5, 7.8, 8, 8.2, 8.5, 9, 10} {
				const n, at, size, se = 1000.0, 0.05, 0.6, 0.1
				chance := rng.NormFloat64() * 0.5
				share := expit(logit(at)+0.6*(x-8)) * (1 + (size*chance+se*rng.NormFloat64())*(1-at))
				p := Share(x, min(max(share, 0), 1), n, at)
				if known {
					p.Chance = chance
				}
				points = append(points, p)
			}
			r := Crossing(points, 0.3, 0, Prior{Mean: 0.75, SD: 0.3})
			offs[known] += math.Abs(r.At-8) / 1000
			return r.Low <= 8 && 8 <= r.High
		})
		if covered < 0.93 {
			t.Errorf("chance known: %v: the interval holds the root in %.1f %%", known, 100*covered)
		}
	}
	if offs[true] > 0.6*offs[false] {
		t.Errorf("%.3f off with chance taken off, %.3f without", offs[true], offs[false])
	}
}
