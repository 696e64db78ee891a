package sweep

import (
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/forecast"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/seconds"
)

// ahead is what comes after the stage that runs.
type ahead struct {
	forecast.Todo
	stages  []Stage // of a run: those after it
	planned bool    // false where another plans the stages, as in a comparison
	stage   forecast.Range
	asked   int // requests of the stage that runs; 0 where its time decides

	searchFrom time.Time // when the search for the ceiling began

	took, expected float64 // by the stages at arrival rates so far, seconds
}

// Counts of stages besides the grid, of sweeps of random servers (TestForecasts).
var (
	usualProbes  = forecast.Counts{Low: 1.5, High: 7} // with those that narrow the answer
	oneProbe     = forecast.Counts{Low: 1, High: 2}   // without them
	usualSLO     = forecast.Counts{Low: 4, High: maxSLOStages}
	adaptiveRows = 2
)

// planSweep sets what a sweep will measure.
func (x *Experiment) planSweep() {
	t := forecast.Todo{WarmUp: true, Floor: true, Search: true, Ceiling: true, Rows: x.config.Points * x.pace.repeats, Probes: oneProbe, Controls: true}
	if x.config.Precision > 0 {
		t.Probes = usualProbes
		if len(x.config.SLO) > 0 {
			t.SLO = usualSLO
		}
	}
	if x.config.Adaptive {
		t.Rows = adaptiveRows
	}
	x.ahead.Todo, x.ahead.planned = t, true
}

// model is what forecasts rest on.
func (x *Experiment) model() *forecast.Model {
	m := &forecast.Model{StageTime: x.pace.stageTime, Latency: x.alone}
	if x.ahead.expected > 0 {
		const prior = 2 // stages that the expectation counts for
		weight := prior * x.ahead.expected / float64(max(1, x.openStages()))
		m.Longer = (x.ahead.took + weight) / (x.ahead.expected + weight)
	}
	return m
}

func (x *Experiment) openStages() (n int) {
	for i := range x.run.Stages {
		if x.run.Stages[i].Rate.Known() {
			n++
		}
	}
	return n
}

// after returns how long everything after the stage that runs takes.
func (x *Experiment) after() forecast.Range {
	sum := x.model().Left(x.ahead.Todo)
	for i := range x.ahead.stages {
		sum = sum.Plus(x.expect(&x.ahead.stages[i]))
	}
	return sum
}

// expect returns how long a stage takes.
func (x *Experiment) expect(s *Stage) forecast.Range {
	const drain = 3 // latencies alone: those at a load are longer
	rest := forecast.Seconds(x.alone, drain*x.alone)
	rate := s.Load.MeanRate()
	switch l := s.Load.(type) {
	case arrival.Ramp:
		return forecast.Exactly(l.Over).Plus(rest)
	case arrival.Trace:
		return forecast.Exactly(seconds.Duration(float64(len(l.Offsets)) / max(l.MeanRate(), 1e-9))).Plus(rest)
	}
	m := x.model()
	switch {
	case s.Sessions > 0 && rate > 0:
		return forecast.Exactly(seconds.Duration(float64(s.Sessions) / rate)).Plus(rest)
	case s.Sessions > 0:
		const slower = 4 // than alone
		waves := float64(s.Sessions) / float64(max(1, s.Load.Limit()))
		return forecast.Seconds(waves*x.alone, slower*waves*x.alone)
	case s.MinTime == s.MaxTime:
		return forecast.Exactly(s.MinTime).Plus(rest)
	case s.Role == rundir.Floor:
		return m.Floor()
	case rate == 0:
		return m.Ceiling()
	}
	return m.Row().Times(max(1, s.MinTime.Seconds()/x.pace.stageTime.Seconds()))
}

// begins takes a stage out of what is ahead.
func (x *Experiment) begins(s *Stage) {
	a := &x.ahead
	a.stage, a.asked = x.expect(s), s.Sessions
	a.WarmUp = false
	switch s.Role {
	case rundir.Floor:
		a.Floor = false
	case rundir.Ceiling:
		a.Search, a.Ceiling = false, false
	case rundir.Grid:
		a.Rows = max(0, a.Rows-1)
	case rundir.Probe:
		if a.Probes.High > 0 {
			a.Probes = a.Probes.Less()
		} else {
			a.SLO = a.SLO.Less()
		}
	}
}

// ended learns from how long a stage took.
func (x *Experiment) ended(s *Stage, st *rundir.Stage) {
	if s.Role == rundir.Floor && st.Latency.Mean.Known() {
		x.alone = st.Latency.Mean.Value()
	}
	if s.Load.MeanRate() > 0 && s.Sessions == 0 && s.Role != rundir.Control {
		x.ahead.took += st.Elapsed
		plain := x.model()
		plain.Longer = 0
		x.ahead.expected += plain.Row().Middle().Seconds() * max(1, s.MinTime.Seconds()/x.pace.stageTime.Seconds())
	}
}

// tellLeft tells the observer how long the run still takes, with the stage that runs as far as the snapshot shows it.
func (x *Experiment) tellLeft(now load.Snapshot) {
	const few = 5 // requests that have ended: from fewer nothing can be told
	current := x.ahead.stage.After(now.Elapsed)
	if n := now.Done + now.Failed; x.ahead.asked > 0 && n >= few {
		const slack = 1.1
		rest := now.Elapsed.Seconds() / float64(n) * float64(max(0, x.ahead.asked-n))
		current = forecast.Seconds(rest/slack, rest*slack)
	}
	left := current.Plus(x.after())
	if x.hasBudget() {
		const unused = 0.75 // a sweep that cannot use its budget ends early
		most := max(0, time.Until(x.until))
		left = forecast.Range{Low: min(left.Low, time.Duration(unused*float64(most))), High: most}
		left.Low = max(left.Low, time.Duration(unused*unused*float64(most)))
	}
	if !x.ahead.planned {
		left = forecast.Range{Low: -1, High: -1}
	}
	x.config.Observer.Left(left.Low, left.High)
}

// progress shows how a stage stands, and how long the run still takes.
func (x *Experiment) progress(s load.Snapshot) {
	x.tellLeft(s)
	x.config.Observer.Progress(s)
}

// searching sets what is left of the search for the ceiling when a step of it begins.
func (x *Experiment) searching(s *Stage) {
	a := &x.ahead
	if a.searchFrom.IsZero() {
		a.searchFrom = time.Now()
	}
	all := x.model().Search().After(time.Since(a.searchFrom))
	a.stage, a.asked, a.Search = forecast.Range{Low: max(all.Low, s.MinTime), High: max(all.High, s.MinTime)}, 0, false
	x.tellLeft(load.Snapshot{})
}
