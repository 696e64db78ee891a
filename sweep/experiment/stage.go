package experiment

import (
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Stage is one load to be measured, and how long.
type Stage struct {
	Name   string // unique in its run; it seeds the arrivals
	Kind   string // as run.json has it
	Role   rundir.Role
	Load   arrival.Load
	Source load.Source        // nil for the run's own
	Left   func(load.Session) // takes the sessions that go on after the stage; nil for none

	Sessions int             // this many, all of which count; 0 where the time decides
	Opening  []time.Duration // when each slot of a closed loop is first filled; nil for at once
	Tail     time.Duration   // how long load is kept on after the window for its requests to end, at most
	Read     time.Duration   // how often the server's gauges are read; 0 for a second
	Step     bool            // of the search for the ceiling: it is no row
	Fresh    bool            // it begins on an empty server, whatever the stage before left in flight
	Chained  bool            // its requests stay in flight into the next stage
	measure.Extent
}

// NewStage returns a stage that measures a load by itself: a number of sessions, or else for a time, opening transient
// and drain left out. It is not prolonged while it is undecided.
func NewStage(l arrival.Load, sessions int, window time.Duration) Stage {
	s := Stage{
		Name: l.Name(), Kind: l.Kind(), Role: rundir.Single, Load: l, Sessions: sessions, Tail: window,
		Extent: measure.Extent{MinTime: window, MaxTime: window, MinRequests: 1},
	}
	if l.Ends() { // all of its requests count
		s.Sessions, s.Tail, s.MinTime, s.MaxTime = 0, 0, 0, 0
	}
	return s
}

// whole reports whether each request counts, from the first to the last: there is no window to find.
func (s *Stage) whole() bool { return s.Sessions > 0 || s.Load.Ends() }

// criteria returns those that follow from the stage alone.
func (s *Stage) criteria() measure.Criteria {
	return measure.Criteria{
		Extent: s.Extent, Rate: s.Load.MeanRate(), Concurrency: s.Load.Limit(), Sessions: s.Sessions, Whole: s.whole(),
	}
}

// countedLoad has the exact number of arrivals, where they are Poisson and sessions have one turn.
func (s *Stage) countedLoad(turns float64) arrival.Load {
	l, ok := s.Load.(arrival.Poisson)
	if !ok || turns > 1 {
		return s.Load
	}
	c := s.criteria()
	return arrival.Counted{Poisson: l, By: c.Marks()}
}

func (s *Stage) describe(started time.Duration) rundir.Stage {
	st := rundir.Stage{
		Name: s.Name, Kind: s.Kind, Role: s.Role, State: rundir.Running, MaxConcurrency: s.Load.Limit(),
		Started: started.Seconds(), Whole: s.whole(),
	}
	if rate := s.Load.MeanRate(); rate > 0 {
		st.Rate = rundir.Exactly(rate)
	}
	return st
}
