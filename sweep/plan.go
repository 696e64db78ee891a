package sweep

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// A sweep by rate measures, in this order:
//
//  1. one request at a time, then as many in flight as bring more output, found by doubling: about a minute. What that
//     completes is a first guess.
//  2. the grid: rates evenly spaced between the two, each for seconds. The published table is made of these.
//  3. holds, until the bracket of the answer is narrow, or the time is over.
//  4. holds about the highest rate that meets the SLO, the last of them at the rate that the answer names.
//
// Where the grid would take too much of a budget, two holds come first, then the rates of the grid at which servers are
// run, then more holds, and the rest of the grid comes last.

// plan decides what a sweep measures next, by what it has measured.
type plan struct {
	*Config
	run  *rundir.Run
	left time.Duration

	syncLatency time.Duration // that one request takes
	ceiling     float64       // requests per second of the throughput stage
}

func (c *Config) plan(run *rundir.Run, left time.Duration) *plan {
	p := &plan{Config: c, run: run, left: left}
	if floor := run.First(rundir.Synchronous); floor != nil && floor.Progress.Rate.Known() {
		p.syncLatency = rundir.Duration(floor.Latency.Mean.Or(0))
		if run.First(rundir.Throughput) != nil {
			p.ceiling = saturation.ThroughputRate(run).Or(0)
		}
	}
	return p
}

// Next returns the stage that is measured next, by what was measured and the time that is left; ok is false where
// nothing is. It is a pure function, so that it also serves to resume a run and to estimate its time.
func (c *Config) Next(run *rundir.Run, left time.Duration) (s experiment.Stage, ok bool) {
	p := c.plan(run, left)
	if c.Users {
		return p.users()
	}
	if s, ok := p.limits(); ok || p.ceiling == 0 {
		return s, ok
	}
	parts := []func() (experiment.Stage, bool){p.grid, p.hold, p.sloProbe, p.sloProof}
	if p.gridLast() {
		parts = []func() (experiment.Stage, bool){p.firstHolds, p.operatingRow, p.hold, p.sloProbe, p.sloProof, p.grid}
	}
	for _, part := range parts {
		if s, ok := part(); ok {
			return s, true
		}
	}
	return s, false
}

func (p *plan) count(role rundir.Role) (n int) {
	for i := range p.run.Stages {
		if p.run.Stages[i].Role == role {
			n++
		}
	}
	return n
}

// limitTime returns a time, or a share of what is left of a budget where that is less.
func (p *plan) limitTime(d time.Duration, share float64) time.Duration {
	if p.Budget == 0 {
		return d
	}
	return min(d, time.Duration(share*float64(p.left)))
}

// limits returns the next of the stages that find the floor and the ceiling.
func (p *plan) limits() (s experiment.Stage, ok bool) {
	floor := p.run.First(rundir.Synchronous)
	if floor == nil {
		s = p.Closed(rundir.StageSynchronous, rundir.Synchronous, 1, 0)
		s.MinTime, s.MaxTime = p.limitTime(p.StageTime/3, floorShare), p.limitTime(p.StageTime, floorShare)
		return s, true
	}
	if !floor.Progress.Rate.Known() || p.run.First(rundir.Throughput) != nil {
		return s, false
	}
	level, done := p.nextConcurrency(floor)
	if !done {
		return p.searchStep(level), true
	}
	latency := p.searchLatency(floor)
	s = p.Closed(rundir.StageThroughput, rundir.Throughput, level, latency)
	s.MinTime = p.limitTime(s.MinTime, ceilingShare)
	if p.Budget > 0 {
		s.MaxTime = s.MinTime
	}
	if p.Budget > 0 || latency > s.MinTime {
		s.MinWaves = 1
	}
	return s, true
}

func (p *plan) searchLatency(floor *rundir.Stage) time.Duration {
	latency := floor.Latency.Mean
	if n := len(p.run.Search); n > 0 && p.run.Search[n-1].Latency.Known() {
		latency = p.run.Search[n-1].Latency
	}
	return rundir.Duration(latency.Or(0))
}

// nextConcurrency returns the number in flight to try next, or with done the one that makes the server fastest: it is
// doubled until a step brings less than leastGain, and taken four times while twice as many bring almost twice as much.
// Of a server whose requests vary much two such steps are needed, since one of few requests does not tell.
func (p *plan) nextConcurrency(floor *rundir.Stage) (level int, done bool) {
	best, most, flat, invalid := floor.TokensPerS.Output, 1, 0, 0
	level = 1
	factor, enough := 2, 2 // enough: in flight, to keep the server full if more than most do not make it faster
	for _, step := range p.run.Search {
		previous := level
		level = step.Level()
		invalid++
		if step.Invalid.IsZero() {
			invalid = 0
		}
		gain := step.Output.Or(0) / best.Or(math.Inf(1))
		if gain >= leastGain {
			best, most, flat = step.Output, level, 0
			factor, enough = 2, level
			if gain >= linearGain*float64(level)/float64(previous) {
				factor, enough = 4, 2*level
			}
			continue
		}
		flat++
		if flat == 1 && gain*leastGain >= 1 { // as fast, and full
			most = min(level, enough)
		}
		if step.Error.Or(1) < leastGain-1 || flat == 2 {
			return most, true
		}
		factor = 2
	}
	if level >= p.MaxConcurrency || invalid == 2 || !p.affordsDoubling(floor) {
		return min(max(most, 2), p.MaxConcurrency), true
	}
	return min(factor*level, p.MaxConcurrency), false
}

func (p *plan) affordsDoubling(floor *rundir.Stage) bool {
	if p.Budget == 0 {
		return true
	}
	const waves = 3 // of a step, until its last request has ended
	var took time.Duration
	if n := len(p.run.Search); n > 0 {
		took = p.run.Search[n-1].EndsAt() - floor.EndsAt()
	}
	return took+waves*p.searchLatency(floor) < time.Duration(searchShare*float64(p.Budget))
}

// SearchCeiling measures steps until more in flight bring no more output, and returns the number in flight that does.
// The experiment has measured its floor.
func SearchCeiling(ctx context.Context, x *experiment.Experiment, c *Config) (int, error) {
	for {
		p := c.plan(x.Run(), 0)
		level, done := p.nextConcurrency(p.run.First(rundir.Synchronous))
		if done {
			return level, nil
		}
		if _, err := x.Try(ctx, p.searchStep(level)); err != nil {
			return 0, err
		}
	}
}

func (p *plan) searchStep(level int) experiment.Stage {
	const (
		shorter   = 16 // than a stage: all doublings together take about one stage
		readings  = 4  // of the server's gauges
		leastRead = 100 * time.Millisecond
	)
	s := p.Closed(rundir.SearchPrefix+strconv.Itoa(level), rundir.Throughput, level,
		p.searchLatency(p.run.First(rundir.Synchronous)))
	s.Step, s.MinWaves, s.MinRequests, s.MinTime, s.MaxTime, s.Tail = true, 1, level, p.StageTime/shorter, p.StageTime, 0
	s.Read = max(leastRead, s.MinTime/readings)
	return s
}

func (p *plan) grid() (experiment.Stage, bool) { return p.nextRow(p.rates()) }

func (p *plan) operatingRow() (experiment.Stage, bool) { return p.nextRow(p.operatingRates()) }

func (p *plan) nextRow(rates []float64) (s experiment.Stage, ok bool) {
	for _, rate := range p.unmeasuredRates() {
		if slices.Contains(rates, rate) {
			if s, ok = p.row(rate); ok {
				return s, true
			}
		}
	}
	return s, false
}

func (p *plan) unmeasuredRates() []float64 {
	rates := p.rates()
	return slices.DeleteFunc(slices.Clone(rates), func(rate float64) bool {
		return slices.ContainsFunc(p.run.Stages, func(st rundir.Stage) bool {
			return st.Role == rundir.Grid && nearest(rates, st.Rate.Value()) == rate
		})
	})
}

// omittedRates returns the rates of the grid that the run has no row of, although the limits of load allow them.
func (p *plan) omittedRates() []float64 {
	if p.ceiling == 0 {
		return nil
	}
	return slices.DeleteFunc(p.unmeasuredRates(), func(rate float64) bool { return !p.Caps.Allows(rate) })
}

// deferredRates returns the rates of the grid for which a budget may have no time.
func (p *plan) deferredRates() []float64 {
	rates := p.omittedRates()
	if len(rates) == 0 || !p.gridLast() {
		return nil
	}
	operating := p.operatingRates()
	return slices.DeleteFunc(rates, func(rate float64) bool { return slices.Contains(operating, rate) })
}

func nearest(rates []float64, to float64) float64 {
	return slices.MinFunc(rates, func(a, b float64) int { return cmp.Compare(math.Abs(a-to), math.Abs(b-to)) })
}

// gridLast reports whether the whole grid takes too much of a budget to come before the holds.
func (p *plan) gridLast() bool {
	var takes time.Duration
	for _, rate := range p.rates() {
		takes += p.rowTime(rate, p.meanLatency(rate))
	}
	return p.Budget > 0 && takes > time.Duration(gridShare*float64(p.Budget))
}

// rates returns the rates of the grid. A server that is no faster with many requests than with one is swept from 0.
func (p *plan) rates() (rates []float64) {
	const worthwhile = 1.2 // times low: closer rates would not differ by more than their own noise
	low := p.run.First(rundir.Synchronous).Progress.Rate.Value()
	if p.ceiling < worthwhile*low {
		low = 0
	}
	for i := range p.Points {
		rates = append(rates, low+(p.ceiling-low)*float64(i+1)/float64(p.Points))
	}
	return rates
}

// operatingRates returns the rates of the grid at which servers are run: those next to half and to four fifths of the
// throughput.
func (p *plan) operatingRates() []float64 {
	rates := p.rates()
	if len(rates) == 0 {
		return nil
	}
	return []float64{nearest(rates, 0.5*p.ceiling), nearest(rates, 0.8*p.ceiling)}
}

// row returns a stage at a rate of the grid: a few latencies long, and long enough for a p90 where that takes no longer
// than half of a stage.
func (p *plan) row(rate float64) (s experiment.Stage, ok bool) {
	s = p.Poisson(rate, rundir.Grid)
	latency := p.latencyAt(rate)
	s.MinTime = p.limitTime(p.rowTime(rate, latency), rowShare)
	s.MaxTime, s.MinRequests, s.Tail = s.MinTime, 1, min(s.MinTime, 2*latency)
	return s, p.Caps.Allows(rate) && (p.Budget == 0 || p.left > leastLeft && s.MinTime > 2*p.syncLatency)
}

func (p *plan) rowTime(rate float64, latency time.Duration) time.Duration {
	enough := min(p.StageTime/2, rundir.Duration(float64(experiment.RequestsFor(0.9))/rate))
	waves := time.Duration(rowLatencies)
	if rate > nearFull*p.ceiling { // a server that is almost full fills up slowly
		waves *= 2
	}
	return latency + max(p.StageTime/4, enough, waves*latency)
}

// latencyAt estimates the latency at a rate. Where requests are slow, it is taken to grow by half from one row to the
// next at most, since rows that are longer than they need to be cost too much.
func (p *plan) latencyAt(rate float64) time.Duration {
	last := p.syncLatency
	for i := range p.run.Stages {
		if st := &p.run.Stages[i]; st.Role == rundir.Grid && st.Rate.Value() < rate {
			last = max(last, rundir.Duration(st.Latency.Mean.Or(0)))
		}
	}
	return min(max(last*3/2, p.StageTime), p.meanLatency(rate))
}

// meanLatency interpolates the latency at a rate between those of the synchronous and the throughput stage.
func (p *plan) meanLatency(rate float64) time.Duration {
	full := rundir.Duration(p.run.First(rundir.Throughput).Latency.Mean.Or(0))
	return p.syncLatency + time.Duration(float64(max(0, full-p.syncLatency))*min(1, rate/p.ceiling))
}

func (p *plan) firstHolds() (s experiment.Stage, ok bool) {
	if p.count(rundir.Hold) >= 2 {
		return s, false
	}
	return p.hold()
}

func (p *plan) hold() (s experiment.Stage, ok bool) {
	n := p.count(rundir.Hold)
	if n >= maxHolds {
		return s, false
	}
	if first := p.run.First(rundir.Hold); first != nil && p.Budget == 0 {
		took := p.run.Stages[len(p.run.Stages)-1].EndsAt() - rundir.Duration(first.Started)
		if took > max(searchTime, searchHolds*rundir.Duration(first.Elapsed)) {
			return s, false
		}
	}
	rate, longer := saturation.NextHold(p.run)
	if rate <= 0 || !p.Caps.Allows(rate) || p.clientLimited(rundir.Hold) {
		return s, false
	}
	return p.holdStage(rate, rundir.Hold, saturation.HoldTime(rate, p.syncLatency, p.StageTime), longer,
		holdShares[min(n, len(holdShares)-1)])
}

// holdShares are the shares of what is left of a budget for the first holds, and for the others: the first two leave
// time for what follows.
var holdShares = []float64{0.33, 0.45, mostOfLeft}

// holdStage takes at most a share of what is left of a budget.
func (p *plan) holdStage(
	rate float64, role rundir.Role, d time.Duration, longer bool, share float64,
) (s experiment.Stage, ok bool) {
	s = p.Poisson(rate, role)
	s.Name = rundir.HoldPrefix + arrival.RateName(rate)
	for slices.ContainsFunc(p.run.Stages, func(st rundir.Stage) bool { return st.Name == s.Name }) {
		s.Name += "+"
	}
	d = max(d, saturation.MinHoldTime(p.run))
	s.Hold, s.MaxTime = d, 2*d
	if p.Budget > 0 {
		least := max(leastHold, fewestWaves*p.syncLatency)
		if least > time.Duration(mostOfLeft*float64(p.left)) {
			return s, false
		}
		s.Hold = min(d, max(least, p.limitTime(d, share)))
		s.MaxTime = max(s.Hold, p.limitTime(s.MaxTime, share))
	}
	s.MinTime = s.Hold / 4
	if longer {
		s.Hold = s.MaxTime
	}
	return s, true
}

// sloProbe returns the next hold about the highest rate that meets the SLO.
func (p *plan) sloProbe() (s experiment.Stage, ok bool) {
	if !p.mayProbe(maxSLOProbes) {
		return s, false
	}
	return p.probe(slo.NextRate(saturation.SLORows(p.run), saturation.Find(p.run), p.SLO), p.StageMax)
}

// sloProof returns a hold at the rate up to which the answer says that the SLO is met, as long as other holds.
func (p *plan) sloProof() (s experiment.Stage, ok bool) {
	if !p.mayProbe(maxSLOProbes + maxSLOProofs) {
		return s, false
	}
	return p.probe(saturation.NextProof(p.run, p.SLO), math.MaxInt64)
}

func (p *plan) mayProbe(most int) bool {
	return len(p.SLO) > 0 && p.count(rundir.Probe) < most && !p.clientLimited(rundir.Probe)
}

// probe holds a rate for as many requests as the SLO needs, at least as long as other holds and at most for a time.
func (p *plan) probe(rate float64, most time.Duration) (s experiment.Stage, ok bool) {
	if rate <= 0 || !p.Caps.Allows(rate) {
		return s, false
	}
	enough := rundir.Duration(float64(p.RequestsForSLO()) / rate)
	d := min(max(saturation.HoldTime(rate, p.syncLatency, p.StageTime), enough), most)
	s, ok = p.holdStage(rate, rundir.Probe, d, false, mostOfLeft)
	s.MinTime, s.MaxTime = s.Hold, s.Hold
	return s, ok
}

// clientLimited reports whether the latest stage with a role shows the client and not the server: another would, too.
func (p *plan) clientLimited(role rundir.Role) bool {
	for _, st := range slices.Backward(p.run.Stages) {
		if st.Role == role {
			return !st.Invalid.IsZero()
		}
	}
	return false
}

// How the time is shared out.
const (
	leastGain    = 1.05             // in output tokens per second, for which the number in flight is doubled
	linearGain   = 0.9              // of the output that as many times more in flight would bring at best
	floorShare   = 0.04             // of a budget, for one request at a time
	searchShare  = 0.2              // of a budget, for the search for the ceiling
	ceilingShare = 0.17             // of what is left, for the ceiling
	rowShare     = 0.12             // of what is left, for a rate of the grid
	gridShare    = 0.2              // of a budget, for a grid that comes first
	rowLatencies = 3                // in a rate of the grid, at least, after its opening
	nearFull     = 0.75             // of the ceiling, from which on it is twice as long
	mostOfLeft   = 0.75             // for a hold
	leastHold    = 12 * time.Second // a shorter one shows nothing
	fewestWaves  = 6                // of lone requests in a hold: fewer show nothing
	usersShare   = 0.12             // of what is left, for a number of users
	leastLeft    = 5 * time.Second
	maxHolds     = 12
	maxSLOProbes = 6
	maxSLOProofs = 2                // more, to show the rate that was found
	searchTime   = 20 * time.Minute // of holds without a budget
	searchHolds  = 3                // or this many times the first hold, where that is more
)
