package sweep

import (
	"context"
	"math"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// Control measurements hold earlier loads again at the end of a sweep: what differs is the server's doing, and not the load's. They take
// at most controlShare of the time that the sweep took until then. Less is planned: a server that has become slower takes longer.
const (
	controlShare  = 0.05
	controlPlan   = 0.04
	controlFloor  = 0.3              // of that time, for one request at a time; more where that is too short
	controlLoop   = 0.7              // of the rest, for the ceiling; all of it where that is too short. What is left is for a middle rate
	leastControls = 15 * time.Second // for which a budget sets time aside: a shorter one is needed for the answer
	leastRequests = 3                // with one in flight; their spread is that of the earlier stage
	mostRequests  = 15               // more would show nothing new
	leastWaves    = 2                // mean latencies that a window at a rate spans
	leastLoop     = 1                // mean latencies that a window of the closed loop spans
)

// reserve sets time of a budget aside for control measurements, where there is enough.
func (x *sweeper) reserve() {
	if aside := time.Duration(controlShare * float64(x.config.Budget)); aside >= leastControls {
		x.Extend(-aside)
		x.aside = aside
	}
}

// control measures the floor, the ceiling and a middle rate again. The floor shows whether the server has become slower, the ceiling whether it
// takes more or less than before. A stage that would be too short to show anything is left out.
func (x *sweeper) control(ctx context.Context) error {
	have := controlPlan * x.Elapsed().Seconds()
	if x.HasBudget() {
		if x.aside == 0 {
			return nil
		}
		x.Extend(x.aside)
		x.aside = 0
		have = min(have, x.TimeLeft().Seconds())
	}
	x.Ahead.Controls, x.Ahead.Probes = false, experiment.ForecastCounts{}
	if s, ok := either(x.controlFloor, controlFloor*have, have); ok {
		began := x.Elapsed()
		if _, err := x.Measure(ctx, s); err != nil {
			return err
		}
		have -= (x.Elapsed() - began).Seconds()
	}
	if s, ok := either(x.controlCeiling, controlLoop*have, have); ok {
		began := x.Elapsed()
		if _, err := x.Measure(ctx, s); err != nil {
			return err
		}
		have -= (x.Elapsed() - began).Seconds()
	}
	if s, ok := x.controlRate(have); ok {
		_, err := x.Measure(ctx, s)
		return err
	}
	return nil
}

// either returns the stage that takes some seconds; where those are too few for it, the shortest that takes at most the longer time.
func either(stage func(float64) (experiment.Stage, bool), seconds, longest float64) (experiment.Stage, bool) {
	const longer = 1.1
	for ; 0 < seconds && seconds <= longest; seconds *= longer {
		if s, ok := stage(seconds); ok {
			return s, true
		}
	}
	return stage(longest)
}

// controlCeiling returns the stage of the maximum throughput that takes some seconds.
func (x *sweeper) controlCeiling(have float64) (s experiment.Stage, ok bool) {
	i := slices.IndexFunc(x.Run().Stages, func(st rundir.Stage) bool { return st.Role == rundir.Ceiling })
	if i < 0 || !x.Run().Stages[i].Latency.Mean.Known() {
		return s, false
	}
	before := &x.Run().Stages[i]
	latency := before.Latency.Mean.Value()
	const ending = 1 // latencies, until the last request has ended
	window := have - ending*latency
	const waves = leastLoop + 1 // the first is the opening
	if window < waves*latency {
		return s, false
	}
	s = x.Closed(before.Kind, rundir.Control, before.MaxConcurrency)
	s.Name = rundir.ControlPrefix + "max"
	s.MinTime, s.MaxTime, s.MinRequests, s.MinWaves, s.Tail = rundir.Duration(window), rundir.Duration(window), 1, 0, 0
	return s, true
}

// controlFloor returns the stage of one request at a time that takes some seconds.
func (x *sweeper) controlFloor(have float64) (s experiment.Stage, ok bool) {
	window := min(have-x.Ahead.Alone, mostRequests*x.Ahead.Alone) // the last request ends after it
	if x.Ahead.Alone <= 0 || window < leastRequests*x.Ahead.Alone {
		return s, false
	}
	s = x.Closed("synchronous", rundir.Control, 1)
	s.Name = rundir.ControlPrefix + "sync"
	s.MinTime, s.MaxTime, s.MinRequests, s.MinWaves, s.Tail = rundir.Duration(window), rundir.Duration(window), 1, 0, 0
	return s, true
}

// controlRate returns the stage at a middle rate that takes some seconds.
func (x *sweeper) controlRate(have float64) (s experiment.Stage, ok bool) {
	middle := x.middleRate()
	if middle == nil {
		return s, false
	}
	rate, latency := middle.Rate.Value(), middle.Latency.Mean.Value()
	const opening, ending = 1, 2 // latencies: until as many are in flight as stay, and until the last have ended
	window := have - (opening+ending)*latency
	if !(window >= math.Max(leastWaves*latency, rundir.ControlArrivals/rate)) {
		return s, false
	}
	s = x.Poisson(rate, rundir.Control)
	s.Name = rundir.ControlPrefix + arrival.RateName(rate)
	s.From = rundir.Duration(opening * latency)
	s.MinTime, s.MinRequests = s.From+rundir.Duration(window), 1
	s.MaxTime, s.Tail = s.MinTime, rundir.Duration(latency)
	return s, true
}

// middleRate returns the stage in the middle of those of the grid that were stable; nil where there is none.
func (x *sweeper) middleRate() *rundir.Stage {
	var stable []*rundir.Stage
	for _, st := range saturation.Open(x.Run().Stages) {
		if st.Role == rundir.Grid && st.Verdict == rundir.Stable && st.Latency.Mean.Known() {
			stable = append(stable, st)
		}
	}
	if len(stable) == 0 {
		return nil
	}
	return stable[len(stable)/2]
}
