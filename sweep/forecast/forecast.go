// Package forecast estimates how long a sweep or run still takes, from how long a request takes and what is left to be measured. [Ahead] keeps
// what is left; [Model] tells how long each part takes.
package forecast

import (
	"cmp"
	"math"
	"time"

	"llmsweep/sweep/seconds"
)

// Range is a time that is known between bounds.
type Range struct{ Low, High time.Duration }

// Exactly returns a time that is known.
func Exactly(d time.Duration) Range { return Range{d, d} }

// Seconds returns a range of times given in seconds.
func Seconds(low, high float64) Range { return Range{seconds.Duration(low), seconds.Duration(high)} }

// Plus returns the time of both, one after the other.
func (r Range) Plus(s Range) Range { return Range{r.Low + s.Low, r.High + s.High} }

// After returns what is left of a time when a part of it has passed.
func (r Range) After(passed time.Duration) Range {
	return Range{max(0, r.Low-passed), max(0, r.High-passed)}
}

// Times returns a number of such times.
func (r Range) Times(n float64) Range {
	return Range{time.Duration(n * float64(r.Low)), time.Duration(n * float64(r.High))}
}

// Middle returns the time to name where one must do: it is off from either bound by the same factor.
func (r Range) Middle() time.Duration {
	return seconds.Duration(math.Sqrt(r.Low.Seconds() * r.High.Seconds()))
}

// Todo is what a sweep still has to measure.
type Todo struct {
	WarmUp, Floor, Search, Ceiling bool
	Rows                           int    // stages of the grid
	Probes                         Counts // stages about the edge
	SLO                            Counts // stages of the search for the SLO
	Controls                       bool   // measured again at the end

	Canaries int     // to be asked alone, one at a time
	Canary   float64 // how long one takes, seconds; 0 for not known: as long as a request alone
}

// Counts is a number of stages that is known between bounds.
type Counts struct{ Low, High float64 }

// Less returns the counts after one stage was measured. The upper bound ends at 0.
func (c Counts) Less() Counts { return Counts{max(0, c.Low-1), max(0, c.High-1)} }

// Model is what a forecast rests on. Its constants were fitted to sweeps of random servers (TestForecasts).
type Model struct {
	StageTime time.Duration // that a stage measures at least
	Latency   float64       // of one request alone, seconds
	// Longer is how much longer than expected the stages at arrival rates were so far; 0 for not known.
	Longer float64
}

// Row returns how long a stage at an arrival rate takes. A verdict takes several waves: where a request is long, the stage goes on.
func (m *Model) Row() Range {
	const base, slope, power, longest = 0.2, 8.7, 0.63, 11 // in stage times, of the latency in stage times
	mid := min(max(1.05, base+slope*math.Pow(m.share(), power)), longest)
	if m.Longer > 0 {
		mid *= m.Longer
	}
	return m.times(max(1, 0.8*mid), max(1.05, 1.25*mid))
}

// Floor returns how long the stage with one request at a time takes.
func (m *Model) Floor() Range { return m.times(1+2*m.share(), 1.2+4*m.share()) }

// Ceiling returns how long the stage of the maximum throughput takes.
func (m *Model) Ceiling() Range { return m.times(1+3*m.share(), 1.4+9*m.share()) }

// Search returns how long the search for the ceiling takes: waves at up to nine levels.
func (m *Model) Search() Range { return m.times(0.4+18*m.share(), 1.2+60*m.share()) }

// Left returns how long all that is to be done takes.
func (m *Model) Left(t Todo) Range {
	sum := m.per(m.Row(), Counts{float64(t.Rows), float64(t.Rows)}).Plus(m.per(m.Row(), t.Probes))
	if t.WarmUp {
		const least, most = 3, 10 // requests
		sum = sum.Plus(Seconds(least*m.Latency, most*m.Latency))
	}
	if t.Canaries > 0 {
		const slack = 1.25
		all := float64(t.Canaries) * cmp.Or(t.Canary, m.Latency)
		sum = sum.Plus(Seconds(all/slack, all*slack))
	}
	if t.Floor {
		sum = sum.Plus(m.Floor())
	}
	if t.Search {
		sum = sum.Plus(m.Search())
	}
	if t.Ceiling {
		sum = sum.Plus(m.Ceiling())
	}
	sum = sum.Plus(m.per(m.times(4, 10), t.SLO)) // stages are three to fifteen times as long there
	if t.Controls {
		const share = 0.05 // of the sweep
		sum.High += time.Duration(share * float64(sum.High))
	}
	return sum
}

func (m *Model) per(each Range, n Counts) Range {
	return Range{each.Times(n.Low).Low, each.Times(n.High).High}
}

// share returns the latency in stage times.
func (m *Model) share() float64 { return m.Latency / m.StageTime.Seconds() }

// times returns a range in stage times.
func (m *Model) times(low, high float64) Range {
	t := m.StageTime.Seconds()
	return Seconds(low*t, high*t)
}
