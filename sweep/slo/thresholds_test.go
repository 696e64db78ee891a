package slo

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Each rule holds at its threshold, or just beyond it, and not on the other side.
func TestThresholds(t *testing.T) {
	p95, errors := Term{TTFT, "p95", 1, 0}, Term{Errors, "", 0.01, 0}
	failing := func(n int) int {
		return errors.Needs(&rundir.Stage{Requests: rundir.Requests{OK: n - 198, Error: 198}})
	}
	takes := func(requests float64) int {
		return p95.Takes(&rundir.Stage{Requests: rundir.Requests{OK: 100},
			TTFT: rundir.Dist{Neff: rundir.Exactly(100 * 100 / requests)}})
	}
	for name, c := range map[string][2]bool{ // holds just on this side, does not just on the other
		"a first chunk of a twentieth":     {Packed(6.01, 101), Packed(5.99, 101)},
		"a hundred times the requests":     {failing(20030) > 0, failing(20020) > 0},
		"an interval of a fifth":           {rateLimit{10, 8.01, 12}.located(), rateLimit{10, 7.99, 12}.located()},
		"a line reaches three tenths":      {reaches(12.99), reaches(13.01)},
		"a request more, but for rounding": {takes(100+1.1e-9) == 101, takes(100+0.9e-9) == 101},
	} {
		if !c[0] || c[1] {
			t.Errorf("%s: %v on this side, %v on the other", name, c[0], c[1])
		}
	}
}

// mean is a term on a mean, whose points say by how much it is missed.
var mean = Term{TTFT, Mean, 1, 0}

// balanced is the line through two points beside 10, where it ends, with a slope; and through others.
func balanced(slope, variance float64, others ...point) rateLimit {
	e := math.Sqrt(variance)
	points := append([]point{{rate: 9, log: -slope / 10, error: e}, {rate: 11, log: slope / 10, error: e}}, others...)
	return mean.line(points, 10)
}

// reaches reports whether a line depends on a point at a rate.
func reaches(rate float64) bool {
	return balanced(12, 0.01) != balanced(12, 0.01, point{rate: rate, log: 5, error: 0.1})
}

// The numbers of the search, each by what it makes of a case that is as simple as can be.
func TestSearch(t *testing.T) {
	stage := waits(25, 1e6)
	stage.Window, stage.TTFT = 1, rundir.Dist{N: 1e6, Neff: rundir.Exactly(1e6), P50: rundir.Exactly(0.1),
		Max: rundir.Exactly(9)}
	queue := Term{TTFT, "p50", 1, 0}.points([]*rundir.Stage{stage}, 100)
	end, _ := lowestLimit(rows(2000, 6, 7, 8), nil, terms(t, "ttft:p99<2s"))
	half := func(e rateLimit) float64 { return (e.high - e.rate) / e.rate / (stats.Z95 * 1.4) }
	weight := math.Pow(1-math.Pow(1/3.0, 3), 3) // of a point at a third of the reach
	p99 := Term{TTFT, "p99", 1, 0}
	uneven := p99.line([]point{{rate: 9, n: 2000}, {rate: 10, share: 0.001, n: 2000}, {rate: 11, share: 0.3, n: 2000}}, 10)
	wide := Term{TTFT, "p90", 1, 0}.line([]point{{rate: 1, share: 0.01, n: 500}, {rate: 1.5, share: 0.3, n: 500}}, 1.25)
	for name, c := range map[string]struct{ got, want float64 }{
		"values while a queue relaxes":        {queue[0].n, 20 * 100 * 0.25},
		"a first probe where nothing is told": {p99.rateLimit(rows(20, 8), 10).rate, 0.8 * 10},
		"a probe below": {NextRate(rows(2000, 6, 7, 8), nil, terms(t, "ttft:p99<2s")) / end.rate,
			1 - 0.05},
		"what a stage is off by":              {half(balanced(20, 0)), 0.03 / math.Sqrt(2*weight)},
		"the least slope":                     {half(balanced(1, 1)), math.Sqrt((1+0.06*0.06)/(2*weight)) / 2},
		"where a line ends":                   {uneven.rate, 10.414697766304016},
		"how wide that is":                    {uneven.high - uneven.rate, 0.5844167926213117},
		"where it ends on a wide grid":        {wide.rate, 1.3199052065610886},
		"error of a mean without an interval": {mean.logMeanError(&rundir.Stage{}), 0.1},
	} {
		if math.Abs(c.got/c.want-1) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
