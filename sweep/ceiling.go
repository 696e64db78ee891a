package sweep

import (
	"context"
	"math"
	"strconv"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// worthDoubling is the gain in output tokens per second for which the number in flight is doubled once more: the noise between two waves
// is about as large (the rhythm in package saturation).
const worthDoubling = 1.05

// leastLook is the number in flight up to which the search looks, whatever fewer brought: a server that batches may be slower with two or four
// requests at once than with one, and faster with eight.
const leastLook = 8

// clearStep is from how many requests on a step shows by itself that more in flight bring less than worthDoubling: a few long answers among them change its output
// by a percent.
const clearStep = 200

// SearchPrefix begins the names of the steps of the search for the ceiling. They are recorded, but are no rows.
const SearchPrefix = "search@"

// SearchCeiling doubles the number in flight until it brings less than 5 % twice, and returns the level reached: as many as
// make the server faster, and not so many that the backlog takes minutes to drain. Twice, since a step is held for a wave
// only, and a few long answers in it hide what it brings. Once is enough where the server's gauges say that it is full, and after a step of so many requests
// that a few do not matter: a rate beyond the ceiling is measured anyway. It looks at least up to
// leastLook, and goes no further than most. Within a budget it ends where the next step would leave no time for the answer itself; once is then
// enough. It also ends where two steps in a row show that this client is the limit.
func SearchCeiling(ctx context.Context, x *experiment.Experiment, floor rundir.Stage, most int) (int, error) {
	best, reached, flat, spoiled := floor.TokensPerS.Output, 1, 0, 0
	earlier := floor.Latency.Mean.Or(0) // the mean latency of the step before the latest
	var running rundir.Number           // requests that the server was working on in the step before the latest, by its own gauge
	if !best.Known() || most == 1 {
		return min(2, most), nil // nothing to double from; the throughput stage shows why
	}
	for before, level := 1, min(2, most); ; before, level = level, min(2*level, most) {
		if !affordsStep(x, before, earlier) {
			if flat > 0 {
				return reached, nil
			}
			x.Warn(saturation.BudgetCeiling.New(before))
			return before, nil
		}
		earlier = x.Latency()
		st, err := step(ctx, x, level)
		if err != nil {
			return 0, err
		}
		if spoiled++; st.Invalid.IsZero() {
			spoiled = 0
		}
		rate := st.TokensPerS.Output
		switch {
		case !rate.Known() || rate.Value()*worthDoubling < best.Value(): // more in flight made it slower
			flat++
		case rate.Value() < worthDoubling*best.Value(): // as fast, and full
			if flat++; flat == 1 {
				reached = level
			}
		default:
			best, reached, flat = rate, level, 0
		}
		enough := full(&st, running) || flat > 0 && st.Requests.OK >= clearStep
		if running = (rundir.Number{}); st.Server != nil {
			running = st.Server.RunningMax
		}
		switch {
		case enough:
			return reached, nil
		case spoiled == 2:
			x.Warn(noteCeilingClient.New(level))
			return reached, nil
		case flat >= 2 && level >= leastLook || flat > 0 && level == most:
			return reached, nil
		case level == most:
			x.Warn(saturation.CeilingBounded.New(level))
			return level, nil
		}
	}
}

// full reports whether the server's own gauges say that more in flight only wait: as many are running as in the step before, with half as many in
// flight, and some wait.
func full(st *rundir.Stage, before rundir.Number) bool {
	if st.Server == nil || !before.Known() || before.Value() < 1 {
		return false
	}
	now, waiting := st.Server.RunningMax, st.Server.Waiting
	return now.Known() && now.Value() <= before.Value() && waiting.Known() && waiting.Value() >= 1
}

// affordsStep reports whether a budget has time for the next step of the search, and for the answer after it: the throughput stage and one
// beyond the edge. Twice as many in flight take twice as long each on a full server, and as long as before on an empty one; how much slower
// the latest step was than the one before tells which is nearer.
//
// With few in flight no server is full, so that there is nothing to measure beyond the edge: only the throughput stage is allowed for, and the
// bound becomes higher.
func affordsStep(x *experiment.Experiment, inFlight int, earlier float64) bool {
	const (
		latencies = 3.5 // of a step: the opening, a wave, and waiting for an idle server
		few       = 8   // in flight
	)
	if !x.HasBudget() {
		return true
	}
	stages := 2.0
	if inFlight < few {
		stages = 1
	}
	growth := math.Sqrt2
	if now := x.Latency(); now > 0 && earlier > 0 {
		growth = min(max(now/earlier, growth), 2)
	}
	next := growth * x.Latency()
	needed := latencies*next + stages*experiment.StageCost*max(x.Least().Seconds(), experiment.MinLatencies*next)
	return !x.Short() && x.TimeLeft().Seconds() >= needed
}

// step keeps a number in flight for a wave or two.
func step(ctx context.Context, x *experiment.Experiment, level int) (rundir.Stage, error) {
	const (
		shorter   = 16 // than a stage: all doublings together take about one stage
		readings  = 4  // of the server's gauges
		leastRead = 100 * time.Millisecond
	)
	s := x.Closed(SearchPrefix+strconv.Itoa(level), rundir.Ceiling, level)
	s.MinWaves, s.MinRequests, s.MinTime, s.Tail = 1, level, x.Pace().StageTime/shorter, 0
	s.Read = max(leastRead, s.MinTime/readings)
	st, err := x.Try(ctx, s)
	if err != nil {
		return st, err
	}
	if rate := st.TokensPerS.Output; rate.Known() {
		x.Note(noteCeilingStep.New(level, rate.Value()))
	}
	return st, nil
}
