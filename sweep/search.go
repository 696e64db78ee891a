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

// stagesBesidesGrid is how many stages a budget sets aside: floor, ceiling, and two probes.
const stagesBesidesGrid = 4

// sweep measures floor and ceiling, then the rates between and beyond, and at last some of it again.
func (x *sweeper) sweep(ctx context.Context) error {
	x.planSweep()
	x.announceSupport()
	x.reserve()
	x.Allot(x.config.Points + stagesBesidesGrid)
	if err := x.WarmUp(ctx); err != nil {
		return err
	}
	alone := x.Closed("synchronous", rundir.Floor, 1)
	if !x.HasBudget() {
		alone.MinTime /= shorterAlone
	}
	floor, err := x.Measure(ctx, alone)
	if err != nil {
		return err
	}
	x.lengthen(floor)
	level, err := SearchCeiling(ctx, x.Experiment, floor, x.config.MaxConcurrency)
	if err != nil {
		return err
	}
	ceiling, err := x.Measure(ctx, x.Closed("throughput", rundir.Ceiling, level))
	if err != nil {
		return err
	}
	low, high := floor.Progress.Rate, saturation.Complete(&ceiling).Rate
	if !low.Known() || !high.Known() {
		return noRates()
	}
	x.ceiling = high.Value()
	for _, step := range x.steps(low.Value()) {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shorterAlone is how much shorter than others the stage of one request at a time lasts at least, without a budget: its requests are alike.
const shorterAlone = 3

// steps returns what follows the ceiling. The answer comes first, and is held: what is known of it tells how long the rates below it take. A budget
// may end before all is done: it holds what the ceiling tells before it looks beyond, and narrows the answer last.
func (x *sweeper) steps(low float64) []func(context.Context) error {
	e, short := x.even(low)
	if x.HasBudget() {
		return []func(context.Context) error{x.rows(x.usual(short)), x.hold, x.probe, x.hold, e.below, x.precise, x.hold, x.searchSLO, x.control}
	}
	return []func(context.Context) error{x.probe, x.precise, e.edge, x.hold, e.below, x.hold, x.searchSLO, x.control}
}

// evenRates are the rates between floor and ceiling that are still to be measured, ascending.
type evenRates struct {
	*sweeper
	rates []float64
}

// even returns rates evenly spaced between floor and ceiling, and whether a budget has hardly time for more than the loads that a server is run at: those
// come first then.
func (x *sweeper) even(low float64) (e *evenRates, short bool) {
	const few = 3 // rates
	points := x.afford(x.config.Points, x.ceiling)
	if short = points < min(few, x.config.Points); short {
		if first := x.usual(true); len(first) > 0 {
			points, low = max(0, points-len(first)), first[len(first)-1]
		}
	}
	return &evenRates{x, grid(low, x.ceiling, points)}, short
}

// edge measures the rates near the answer. They come before the hold: what they use of what the server saved up, the hold need not.
func (e *evenRates) edge(ctx context.Context) error {
	s := e.answer()
	if s == nil || !s.Rate.Known() {
		return nil
	}
	below := func(rate float64) bool { return rate <= edgeFrom*s.Rate.Value() }
	n := len(slices.DeleteFunc(slices.Clone(e.rates), func(rate float64) bool { return !below(rate) }))
	near := e.rates[n:]
	e.rates = e.rates[:n]
	for _, rate := range slices.Backward(near) {
		if err := e.row(ctx, rate, rundir.Grid); err != nil {
			return err
		}
	}
	return nil
}

// edgeFrom is the share of the answer from which on a rate is near it.
const edgeFrom = 0.85

// below measures the rates that are left, and the loads that a server is run at.
func (e *evenRates) below(ctx context.Context) error {
	e.Allot(len(e.rates) + e.stagesForSLO())
	e.announceSLO(e.rates)
	rates, err := e.usually(ctx, e.rates)
	if err != nil {
		return err
	}
	for _, rate := range rates {
		if err := e.row(ctx, rate, rundir.Grid); err != nil {
			return err
		}
	}
	return nil
}

// planSweep sets what the sweep will measure.
func (x *sweeper) planSweep() {
	most := 0
	if len(x.config.SLO) > 0 {
		most = maxSLOStages
	}
	x.Ahead.PlanSweep(x.config.Points, x.config.Precision > 0, most)
	if !x.HasBudget() {
		const share = 0.5 // the rest of the sweep takes as long
		x.Ahead.SLOMost = rundir.Duration(share * x.config.SLOUntil.Seconds())
	}
}

// noRates ends a sweep whose floor or ceiling completed nothing.
func noRates() error {
	return experiment.NewEndError(noteNoRates.New(), "no request succeeded, so that there are no rates to sweep")
}

// lengthen makes stages long enough for the server's requests, where no budget sets their time.
func (x *sweeper) lengthen(floor rundir.Stage) {
	least := rundir.Duration(experiment.MinLatencies * floor.Latency.Mean.Or(0))
	if pace := x.Pace(); !x.HasBudget() && pace.StageTime < least {
		x.SetPace(experiment.Pace{StageTime: least, StageMax: max(pace.StageMax, 2*least)})
	}
}

// row measures a rate, if there is time for it.
func (x *sweeper) row(ctx context.Context, rate float64, role rundir.Role) error {
	if x.Short() {
		x.Warn(noteNoTimeForRow.New(rate))
		return nil
	}
	s := x.gridRow(rate)
	if role != rundir.Grid {
		s = x.edge(x.Poisson(rate, role))
	}
	_, err := x.Measure(ctx, s)
	return err
}

// edge returns a stage beyond the ceiling: the answer rests on it. Without a budget it lasts longer than others.
func (x *sweeper) edge(s experiment.Stage) experiment.Stage {
	if !x.HasBudget() {
		s.MinTime *= edgeLonger
	}
	return s
}

// edgeLonger is how much longer at least a stage beyond the ceiling lasts.
const edgeLonger = 2

// How long a rate of the grid is measured, in stage times. Without a budget, once an answer is known, it rests on other stages: rates below it take seconds.
const (
	rowTime  = 2    // at most, while it is undecided, beyond the answer or with a budget
	nearTime = 0.67 // near the answer; a whole one where requests take so long that it needs it
	farTime  = 0.25 // at least, far below the answer
	lowTime  = 0.5  // at most, there, until it supports a p90
	halfTime = 2    // at most, at half of the answer
	far      = 0.75 // of the answer
)

// stageTimes returns a number of stage times.
func (x *sweeper) stageTimes(n float64) time.Duration {
	return rundir.Duration(n * x.Pace().StageTime.Seconds())
}

// gridRow returns a stage at a rate of the grid.
func (x *sweeper) gridRow(rate float64) experiment.Stage {
	s, a := x.Poisson(rate, rundir.Grid), x.answer()
	if x.HasBudget() {
		s.MaxTime = min(x.Pace().StageMax, x.stageTimes(rowTime))
		return s
	}
	if a == nil || !a.Rate.Known() {
		s.MaxTime = s.MinTime
		return s
	}
	if rate > far*a.Rate.Value() {
		s.MinTime = min(x.Pace().StageTime, max(x.Least(), x.stageTimes(nearTime)))
		s.MaxTime = s.MinTime
		if rate > (1+x.config.Tolerance)*a.High.Value() { // where it is stable, overload costs throughput, and the answer is higher
			s.MaxTime = x.stageTimes(rowTime)
		}
		return s
	}
	s.MaxTime = x.stageTimes(lowTime)
	s.MinTime = min(s.MaxTime, max(x.Least(), x.stageTimes(farTime)))
	s.MinRequests = max(s.MinRequests, experiment.RequestsFor(0.9))
	return s
}

// grid returns n rates evenly spaced from low, which is left out, to high, which is the last. A server that is no faster
// with many requests than with one is swept from 0.
func grid(low, high float64, n int) []float64 {
	const worthwhile = 1.2 // times low: closer rates would not differ by more than their own noise
	if high < worthwhile*low {
		low = 0
	}
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = low + (high-low)*float64(i+1)/float64(n)
	}
	return rates
}

// beyondCeiling are the rates at which a sweep looks for a saturated stage, as multiples of the ceiling: the first is usually enough.
// Caches, or a ceiling search that ended early, may let a server take more than its closed loop did.
func beyondCeiling() []float64 { return []float64{1.1, 1.25, 1.5, 2, 3, 4, 6, 8} }

// probe goes beyond the ceiling until a rate is shown saturated: the top of the grid is at the edge, where no short
// stage can decide.
func (x *sweeper) probe(ctx context.Context) error {
	for _, factor := range beyondCeiling() {
		if s := x.answer(); s != nil && s.LowestSaturated.Known() {
			return nil
		}
		if !x.config.Caps.Allows(x.ceiling * factor) {
			x.Warn(noteCapReached.New(x.config.Caps.PerSecond()))
			return nil
		}
		short := x.Short()
		if err := x.row(ctx, x.ceiling*factor, rundir.Probe); err != nil || short {
			return err // once there is no time for a rate, there is none for the next
		}
		if stages := x.Run().Stages; !stages[len(stages)-1].Invalid.IsZero() {
			return nil // the client is the limit: a higher rate would show no more of the server
		}
	}
	return nil
}

// maxNarrowing is how many stages are added for the sake of precision: stages of a server that is so unsteady would not agree
// any better after more.
const maxNarrowing = 8

// precise adds stages beyond the edge, each with arrivals of its own, until the interval of the saturation rate is as narrow
// as was asked for, or further stages would not make it so.
func (x *sweeper) precise(ctx context.Context) error {
	aim := x.config.Precision
	var seen narrowing
	for n := range maxNarrowing {
		s := x.answer()
		if s == nil || !s.LowestSaturated.Known() || aim <= 0 || x.Short() {
			return nil
		}
		half := halfWidth(s)
		if half <= aim && !saturation.MildOnly(s, x.Run().Stages) {
			return nil
		}
		// An interval narrows with the root of the number of stages that it rests on: the ceiling, the first probe, and n more.
		needed := math.Ceil(float64(n+2) * (math.Pow(half/aim, 2) - 1))
		if seen.stuck(half) || n >= narrowingLooks && needed > float64(maxNarrowing-n) {
			x.Warn(notePrecisionStops.New(half, aim, n))
			return nil
		}
		more := max(1, min(maxNarrowing-n, int(needed)))
		x.Ahead.Probes = experiment.ForecastCounts{Low: 1, High: float64(more)}
		x.Note(notePrecision.New(half, aim, more, x.Ahead.Row().Times(float64(more)).Middle()))
		if measured, err := x.overload(ctx, s, n); err != nil || !measured {
			return err
		}
	}
	return nil
}

// Stages added for the sake of precision must show that they serve it.
const (
	narrowingLooks = 3    // stages that show whether the interval narrows: the first may widen it, where it differs from the ceiling
	narrowingWorth = 0.05 // a share by which it is narrower at least after two more stages
)

// narrowing follows an interval from stage to stage.
type narrowing struct{ halves []float64 }

// stuck takes in the half-width after a stage, and reports whether the latest two have not narrowed it.
func (n *narrowing) stuck(half float64) bool {
	n.halves = append(n.halves, half)
	k := len(n.halves) - 1
	return k >= narrowingLooks && half > (1-narrowingWorth)*n.halves[k-2]
}

// halfWidth returns that of the saturation rate's interval, as a share of the rate.
func halfWidth(s *rundir.Saturation) float64 {
	return (s.High.Value() - s.Low.Value()) / 2 / s.Rate.Value()
}

// overload measures a rate beyond the edge: so far that its verdict is soon clear, and not so far that the backlog takes long to
// drain. n makes its rate, and so its name, its own. It reports false where no rate is known to be beyond the edge, or a cap on requests forbids it.
func (x *sweeper) overload(ctx context.Context, s *rundir.Saturation, n int) (measured bool, err error) {
	const overload, apart = 1.15, 0.01 // of the saturation rate
	rate := s.Rate.Value() * (overload + apart*float64(n%maxNarrowing))
	if between, ok := saturation.Probe(s, x.Run().Stages); ok {
		rate = between
	}
	if !(rate > 0) || !x.config.Caps.Allows(rate) {
		return false, nil
	}
	for x.has(rate) {
		rate *= 1 + apart/10
	}
	_, err = x.Measure(ctx, x.edge(x.Poisson(rate, rundir.Probe)))
	return true, err
}

// has reports whether a stage with the name of a rate has been measured.
func (x *sweeper) has(rate float64) bool { return x.hasName(arrival.Poisson{Rate: rate}.Name()) }

func (x *sweeper) hasName(name string) bool {
	return slices.ContainsFunc(x.Run().Stages, func(st rundir.Stage) bool { return st.Name == name })
}

// near reports whether a rate within 5 % of another has been measured.
func (x *sweeper) near(rate float64) bool {
	const apart = 0.05
	return slices.ContainsFunc(x.Run().Stages, func(st rundir.Stage) bool {
		return st.Rate.Known() && math.Abs(st.Rate.Value()-rate) <= apart*rate
	})
}

// answer returns the saturation rate as far as it is known; nil where it is not.
func (x *sweeper) answer() *rundir.Saturation {
	s, _ := saturation.Find(x.Run())
	return s
}
