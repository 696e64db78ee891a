package sweep

import (
	"context"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// How a server that collapses is watched while it recovers, or does not: an overload, and then a rate that it sustains otherwise.
const (
	reboundOverload = 1.25 // times the sustained rate
	reboundRate     = 0.8  // times the sustained rate
	reboundBegin    = 0.25 // of a stage's time, with the overload
	reboundWatch    = 1.5  // of a stage's time, at the lower rate
	reboundServed   = 8    // latencies, at least, at the lower rate
	slowFrom        = 1.5  // times the 99th percentile of a stage that the server kept up with
	reboundOfBudget = 3    // times the time that it takes must be left of a budget
)

// rebound overloads a server that collapses, lets the load fall to 80 % of what it sustains, and writes into the run how long it takes to be
// quick again. A server that did not recover without any load is spared.
func (x *sweeper) rebound(ctx context.Context) error {
	s := x.answer()
	if s == nil || !s.Overload.Known() || !x.config.Caps.Allows(reboundOverload*s.Rate.Value()) ||
		slices.ContainsFunc(x.Run().Recoveries, func(r rundir.Recovery) bool { return !r.Idle.Known() }) {
		return nil
	}
	usual := x.keptUp(reboundRate * s.Rate.Value())
	if usual == nil {
		return nil
	}
	planned := x.Pace().StageTime.Seconds()
	falls := rundir.Duration(reboundBegin * planned)
	ends := falls + rundir.Duration(max(reboundWatch*planned, reboundServed*usual.Latency.Mean.Value()))
	if x.HasBudget() && x.TimeLeft() < reboundOfBudget*ends {
		return nil
	}
	load := ReboundLoad{Poisson: arrival.Poisson{Rate: reboundRate * s.Rate.Value()}, Overload: reboundOverload * s.Rate.Value(), Falls: falls}
	stage := experiment.Stage{Name: load.Name(), Kind: load.Kind(), Load: load}
	stage.From, stage.MinTime, stage.MaxTime, stage.MinRequests = falls, ends, ends, 1
	if _, err := x.Try(ctx, stage); err != nil {
		return err
	}
	o, err := FindRebound(x.config.Log.Records(stage.Name), falls, ends, slowFrom*usual.Latency.P99.Value())
	if err != nil || !o.Collapsed {
		return err
	}
	r := &rundir.Rebound{
		Overload: rundir.Exactly(load.Overload), Held: rundir.Exactly(falls.Seconds()), Rate: rundir.Exactly(load.Rate),
		Watched: rundir.Exactly((ends - falls).Seconds()),
	}
	if o.Back {
		r.Took = rundir.Exactly(o.Took.Round(time.Millisecond).Seconds())
	}
	x.Run().Rebound = r
	return nil
}

// keptUp returns the stage whose latencies are usual at a rate: the highest stable one up to it, else the lowest; nil where there is none.
func (x *sweeper) keptUp(rate float64) (usual *rundir.Stage) {
	for _, st := range saturation.Open(x.Run().Stages) {
		if st.Verdict == rundir.Stable && st.Latency.Mean.Known() && st.Latency.P99.Known() && (usual == nil || st.Rate.Value() <= rate) {
			usual = st
		}
	}
	return usual
}
