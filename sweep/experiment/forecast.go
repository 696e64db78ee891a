// Estimates how long a sweep or run still takes, from how long a request takes and what is left to be measured. [Ahead] keeps
// what is left; [Model] tells how long each part takes.

package experiment

import (
	"math"
	"time"

	"llmsweep/sweep/rundir"
)

// ForecastRange is a time that is known between bounds.
type ForecastRange struct{ Low, High time.Duration }

// ForecastExactly returns a time that is known.
func ForecastExactly(d time.Duration) ForecastRange { return ForecastRange{d, d} }

// forecastSeconds returns a range of times given in seconds.
func forecastSeconds(low, high float64) ForecastRange {
	return ForecastRange{rundir.Duration(low), rundir.Duration(high)}
}

// Plus returns the time of both, one after the other.
func (r ForecastRange) Plus(s ForecastRange) ForecastRange {
	return ForecastRange{r.Low + s.Low, r.High + s.High}
}

// After returns what is left of a time when a part of it has passed.
func (r ForecastRange) After(passed time.Duration) ForecastRange {
	return ForecastRange{max(0, r.Low-passed), max(0, r.High-passed)}
}

// Times returns a number of such times.
func (r ForecastRange) Times(n float64) ForecastRange {
	return ForecastRange{time.Duration(n * float64(r.Low)), time.Duration(n * float64(r.High))}
}

// Middle returns the time to name where one must do: it is off from either bound by the same factor.
func (r ForecastRange) Middle() time.Duration {
	return rundir.Duration(math.Sqrt(r.Low.Seconds() * r.High.Seconds()))
}

// ForecastTodo is what a sweep still has to measure.
type ForecastTodo struct {
	WarmUp, Floor, Search, Ceiling bool
	Rows                           int            // stages of the grid
	Probes                         ForecastCounts // stages about the edge
	Holds                          ForecastCounts // stages that hold the answer
	SLO                            ForecastCounts // stages of the search for the SLO
	SLOMost                        time.Duration  // that they take together; 0 for no limit
	Controls                       bool           // measured again at the end
}

// Sure returns how many stages are sure to follow.
func (t *ForecastTodo) Sure() int {
	sure := t.Rows
	for _, one := range []bool{t.Floor, t.Ceiling} {
		if one {
			sure++
		}
	}
	return sure
}

// ForecastCounts is a number of stages that is known between bounds.
type ForecastCounts struct{ Low, High float64 }

// Less returns the counts after one stage was measured. The upper bound ends at 0.
func (c ForecastCounts) Less() ForecastCounts {
	return ForecastCounts{max(0, c.Low-1), max(0, c.High-1)}
}

// forecast is what a forecast rests on. Its constants were fitted to sweeps of random servers (TestForecasts).
type forecast struct {
	StageTime time.Duration // that a stage measures at least
	StageMax  time.Duration // that a hold measures
	Latency   float64       // of one request alone, seconds
	// Longer is how much longer than expected the stages at arrival rates were so far; 0 for not known.
	Longer float64
}

// Row returns how long a stage at an arrival rate takes. A verdict takes several waves: where a request is long, the stage goes on.
func (m *forecast) Row() ForecastRange {
	const base, slope, power, longest = 0.2, 8.7, 0.63, 11 // in stage times, of the latency in stage times
	mid := min(max(1.05, base+slope*math.Pow(m.share(), power)), longest)
	if m.Longer > 0 {
		mid *= m.Longer
	}
	return m.times(max(1, 0.8*mid), max(1.05, 1.25*mid))
}

// Floor returns how long the stage with one request at a time takes.
func (m *forecast) Floor() ForecastRange { return m.times(0.4+2*m.share(), 0.6+4*m.share()) }

// Ceiling returns how long the stage of the maximum throughput takes.
func (m *forecast) Ceiling() ForecastRange { return m.times(1+3*m.share(), 1.4+9*m.share()) }

// Search returns how long the search for the ceiling takes: waves at up to nine levels.
func (m *forecast) Search() ForecastRange { return m.times(0.4+18*m.share(), 1.2+60*m.share()) }

// ControlShare is how much of a sweep its control measurements take at most.
const ControlShare = 0.05

// Left returns how long all that is to be done takes.
func (m *forecast) Left(t ForecastTodo) ForecastRange {
	const quick = 0.5 // of the time, where rates far below the answer are clear soon
	sum := m.per(m.Row(), ForecastCounts{quick * float64(t.Rows), float64(t.Rows)}).Plus(m.per(m.Row(), t.Probes))
	sum = sum.Plus(m.per(ForecastExactly(m.StageMax), ForecastCounts{min(1, t.Holds.High), min(2, t.Holds.High)}))
	if t.WarmUp {
		const least, most = 3, 10 // requests
		sum = sum.Plus(forecastSeconds(least*m.Latency, most*m.Latency))
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
	search := m.per(m.times(4, 10), t.SLO) // stages are three to fifteen times as long there
	if t.SLOMost > 0 {
		search = ForecastRange{min(search.Low, t.SLOMost), min(search.High, t.SLOMost)}
	}
	sum = sum.Plus(search)
	if t.Controls {
		sum.High += time.Duration(ControlShare * float64(sum.High))
	}
	return sum
}

func (m *forecast) per(each ForecastRange, n ForecastCounts) ForecastRange {
	return ForecastRange{each.Times(n.Low).Low, each.Times(n.High).High}
}

// share returns the latency in stage times.
func (m *forecast) share() float64 { return m.Latency / m.StageTime.Seconds() }

// times returns a range in stage times.
func (m *forecast) times(low, high float64) ForecastRange {
	t := m.StageTime.Seconds()
	return forecastSeconds(low*t, high*t)
}
