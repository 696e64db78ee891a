package slo

import (
	"math"

	"llmsweep/sweep/rundir"
)

// Loads returns the shares of the time in which the simple servers are busy at which the crowding of a stage's arrivals is counted. That of
// the server measured lies between two of them.
func Loads() []float64 { return []float64{0.3, 0.45, 0.6, 0.7, 0.8, 0.87, 0.93, 0.97} }

// CrowdedShare returns the share of the arrivals that find a wait at a simple server of a load, by which crowding is counted: that which may
// lie beyond the term's limit, or less where fewer wait at all.
func (t Term) CrowdedShare(load float64) float64 {
	return min(t.tail(), crowdedOfWaiting*load)
}

// Waits reports whether the term is about times that are longer where requests wait for each other, counted by request.
func (t Term) Waits() bool { return t.Percentile() && t.Metric != ITL }

// crowding returns how crowded a stage's arrivals were for a server that saturates at a rate; 0 where that is not known, and where a
// backlog grew: then all wait, however they come.
func (t Term) crowding(s *rundir.Stage, saturates float64) float64 {
	if s.Verdict == rundir.Saturated || s.Goodput == nil || !(saturates > 0) {
		return 0
	}
	for _, p := range s.Goodput.Terms {
		if p.Term == t.String() && p.Beyond != nil && len(p.Beyond.Crowding) == len(Loads()) {
			return between(Loads(), p.Beyond.Crowding, Offered(s)/saturates)
		}
	}
	return 0
}

// between returns the value at x of a curve that is linear between points, and level beyond the first and the last.
func between(xs, ys []float64, x float64) float64 {
	last := len(xs) - 1
	if x >= xs[last] {
		return ys[last]
	}
	for i := last; i > 0; i-- {
		if a, b := xs[i-1], xs[i]; x >= a {
			return ys[i-1] + (ys[i]-ys[i-1])*(x-a)/(b-a)
		}
	}
	return ys[0]
}

// saturates returns the rate at which a server saturates, as far as that is known; NaN where it is not.
func saturates(s *rundir.Saturation) float64 {
	switch {
	case s == nil:
		return math.NaN()
	case s.Rate.Known():
		return s.Rate.Value()
	case s.Low.Known() && s.High.Known():
		return (s.Low.Value() + s.High.Value()) / 2
	}
	return math.NaN()
}
