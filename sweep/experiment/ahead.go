package experiment

import (
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// ForecastStage is what a forecast knows of a stage before it runs.
type ForecastStage struct {
	Load        arrival.Load
	Role        rundir.Role   // as in [rundir.Stage]
	Sessions    int           // 0 where the time decides
	Least, Most time.Duration // that it measures
}

// ForecastAhead is what a run still has to do.
type ForecastAhead struct {
	ForecastTodo                 // of a sweep
	Stages       []ForecastStage // of a run: those after the one that runs
	Planned      bool            // false where another plans the stages, as in a comparison
	StageTime    time.Duration   // that a stage measures at least
	StageMax     time.Duration   // that a hold measures
	Alone        float64         // mean latency of one request at a time, seconds; 0 before it is known

	running    ForecastRange // how long the stage that runs takes
	asked      int           // requests of it; 0 where its time decides
	open       int           // stages at arrival rates that have begun
	searchFrom time.Time     // when the search for the ceiling began

	took, expected float64 // by the stages at arrival rates so far, seconds
}

// Counts of stages besides the grid, of sweeps of random servers (TestForecasts).
var (
	usualProbes = ForecastCounts{Low: 1.5, High: 7} // with those that narrow the answer
	oneProbe    = ForecastCounts{Low: 1, High: 2}   // without them
	usualHolds  = ForecastCounts{Low: 0, High: 6}
)

// usualSLO is how many stages a search for the SLO takes that may take most.
func usualSLO(most int) ForecastCounts { return ForecastCounts{Low: 4, High: float64(most)} }

// PlanSweep sets what a sweep will measure.
func (a *ForecastAhead) PlanSweep(rows int, precise bool, mostSLO int) {
	a.ForecastTodo = ForecastTodo{WarmUp: true, Floor: true, Search: true, Ceiling: true, Rows: rows, Probes: oneProbe, Controls: true}
	if precise {
		a.Probes = usualProbes
		a.Holds = usualHolds
		if mostSLO > 0 {
			a.SLO = usualSLO(mostSLO)
		}
	}
	a.Planned = true
}

// model returns what forecasts rest on.
func (a *ForecastAhead) model() *forecast {
	m := &forecast{StageTime: a.StageTime, StageMax: a.StageMax, Latency: a.Alone}
	if a.expected > 0 {
		const prior = 2 // stages that the expectation counts for
		weight := prior * a.expected / float64(max(1, a.open))
		m.Longer = (a.took + weight) / (a.expected + weight)
	}
	return m
}

// Row returns how long a stage at an arrival rate takes.
func (a *ForecastAhead) Row() ForecastRange { return a.model().Row() }

// after returns how long everything after the stage that runs takes.
func (a *ForecastAhead) after() ForecastRange {
	sum := a.model().Left(a.ForecastTodo)
	for i := range a.Stages {
		sum = sum.Plus(a.expect(&a.Stages[i]))
	}
	return sum
}

// expect returns how long a stage takes.
func (a *ForecastAhead) expect(s *ForecastStage) ForecastRange {
	const drain = 3 // latencies alone: those at a load are longer
	rest := forecastSeconds(a.Alone, drain*a.Alone)
	rate := s.Load.MeanRate()
	switch l := s.Load.(type) {
	case arrival.Ramp:
		return ForecastExactly(l.Over).Plus(rest)
	case arrival.Trace:
		return ForecastExactly(rundir.Duration(float64(len(l.Offsets)) / max(l.MeanRate(), 1e-9))).Plus(rest)
	}
	m := a.model()
	switch {
	case s.Sessions > 0 && rate > 0:
		return ForecastExactly(rundir.Duration(float64(s.Sessions) / rate)).Plus(rest)
	case s.Sessions > 0:
		const slower = 4 // than alone
		waves := float64(s.Sessions) / float64(max(1, s.Load.Limit()))
		return forecastSeconds(waves*a.Alone, slower*waves*a.Alone)
	case s.Least == s.Most:
		return ForecastExactly(s.Least).Plus(rest)
	case s.Role == rundir.Floor:
		return m.Floor()
	case s.Role == rundir.Hold:
		return ForecastRange{Low: s.Least, High: s.Most}.Plus(rest)
	case rate == 0:
		return m.Ceiling()
	}
	return m.Row().Times(a.stageTimes(s))
}

// stageTimes returns how long a stage measures at least, in stage times.
func (a *ForecastAhead) stageTimes(s *ForecastStage) float64 {
	return max(1, s.Least.Seconds()/a.StageTime.Seconds())
}

// Begins takes a stage out of what is ahead.
func (a *ForecastAhead) Begins(s ForecastStage) {
	if s.Load.MeanRate() > 0 {
		a.open++
	}
	a.running, a.asked = a.expect(&s), s.Sessions
	a.WarmUp = false
	switch s.Role {
	case rundir.Floor:
		a.Floor = false
	case rundir.Ceiling:
		a.Search, a.Ceiling = false, false
	case rundir.Grid:
		a.Rows = max(0, a.Rows-1)
	case rundir.Probe:
		switch {
		case a.Probes.High > 0: // one more may follow, until the sweep says otherwise
			a.Probes = a.Probes.Less()
			a.Probes.High = max(1, a.Probes.High)
		case a.SLO.High > 0:
			a.SLO = a.SLO.Less()
		}
	case rundir.Hold:
		a.Holds = a.Holds.Less()
	case rundir.Control:
		a.Controls = false
	}
}

// Ended learns from how long a stage took.
func (a *ForecastAhead) Ended(s ForecastStage, st *rundir.Stage) {
	a.running, a.asked = ForecastRange{}, 0
	if s.Role == rundir.Floor && st.Latency.Mean.Known() {
		a.Alone = st.Latency.Mean.Value()
	}
	if s.Load.MeanRate() > 0 && s.Sessions == 0 && s.Role != rundir.Control {
		a.took += st.Elapsed
		plain := a.model()
		plain.Longer = 0
		a.expected += plain.Row().Middle().Seconds() * a.stageTimes(&s)
	}
}

// Searching sets what is left of the search for the ceiling when a step of it begins, which measures at least for a time.
func (a *ForecastAhead) Searching(least time.Duration) {
	if a.searchFrom.IsZero() {
		a.searchFrom = time.Now()
	}
	all := a.model().Search().After(time.Since(a.searchFrom))
	a.running, a.asked, a.Search = ForecastRange{Low: max(all.Low, least), High: max(all.High, least)}, 0, false
}

// Left returns how long the run still takes, whose stage that runs stands as the snapshot tells. It reports false where that is not known.
func (a *ForecastAhead) Left(now load.Snapshot) (left ForecastRange, known bool) {
	if !a.Planned {
		return ForecastRange{}, false
	}
	const few = 5 // requests that have ended: from fewer nothing can be told
	current := a.running.After(now.Elapsed)
	if ended := now.Done + now.Failed; a.asked > 0 && ended >= few {
		const slack = 1.1
		rest := now.Elapsed.Seconds() / float64(ended) * float64(max(0, a.asked-ended))
		current = forecastSeconds(rest/slack, rest*slack)
	}
	return current.until(now).Plus(a.after()), true
}

// until returns what is left of a stage as its end bounds it, where that is known. A stage that goes on for longer than expected takes until
// then at most.
func (r ForecastRange) until(now load.Snapshot) ForecastRange {
	rest := now.Until - now.Elapsed
	switch {
	case now.Until <= 0 || rest <= 0:
		return r
	case r.High == 0:
		return ForecastRange{High: rest}
	case now.Phase == load.PhaseDraining || now.Phase == load.PhaseIdle:
		return ForecastRange{Low: min(r.Low, rest), High: min(r.High, rest)}
	}
	return r
}

// Within returns a time as a budget bounds it, of which some is left.
func (r ForecastRange) Within(budget time.Duration) ForecastRange {
	const unused = 0.75 // a sweep that cannot use its budget ends early
	most := max(0, budget)
	low := min(r.Low, time.Duration(unused*float64(most)))
	return ForecastRange{Low: max(low, time.Duration(unused*unused*float64(most))), High: most}
}
