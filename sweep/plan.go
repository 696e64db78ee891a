package sweep

import (
	"slices"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// A sweep by rate measures, in this order:
//
//  1. the limits (ceiling.go): one request at a time, then more and more in flight until that brings no more output,
//     and the number that brought most, at length: the ceiling.
//  2. with a budget, and where a request takes long, a quick pair of holds from the full server on (holds.go): below
//     the ceiling, and above what any number in flight can bring. Where a request is short, long holds.
//  3. the grid (rows.go): rates evenly spaced between one request at a time and the ceiling, and with a budget the rate
//     that is recommended, from the lowest to the highest.
//  4. holds, until the bracket of the answer is narrow, or the time is over.
//  5. holds about the highest rate that meets the SLO, the last of them at the rate that the answer names.
//  6. the rate that is recommended, where it has no row.
//
// Stages of 1 to 3 follow one another without a rest: each takes over what the one before left in flight. A budget is
// shared out: each rate of the grid has a row, where the limits leave any time. More makes rows and holds longer.

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
			p.ceiling = run.First(rundir.Throughput).Progress.Rate.Or(0) // it may be running
			if rate := saturation.ThroughputRate(run); rate.Known() {
				p.ceiling = rate.Value()
			}
		}
	}
	return p
}

// Next returns the stage that is measured next, by what was measured and the time that is left; ok is false where
// nothing is. It is a pure function, so that it also serves to resume a run and to estimate its time.
func (c *Config) Next(run *rundir.Run, left time.Duration) (s experiment.Stage, ok bool) {
	if c.Users {
		return c.plan(run, left).users()
	}
	if run, s, ok = c.repeat(run, left); ok {
		return s, true
	}
	return c.next(run, left)
}

// next takes each stage of a run for measured.
func (c *Config) next(run *rundir.Run, left time.Duration) (s experiment.Stage, ok bool) {
	p := c.plan(run, left)
	if s, ok := p.limits(); ok || p.ceiling == 0 {
		return p.chained(s), ok
	}
	parts := []func() (experiment.Stage, bool){p.quickPair, p.nextRow, p.hold, p.sloProbe, p.sloProof, p.operatingRow}
	if p.holdsFirst() {
		parts = slices.Insert(parts, 0, p.hold)
	}
	for _, part := range parts {
		if s, ok := part(); ok {
			return p.chained(s), true
		}
	}
	return s, false
}

// chained returns a stage as it is where its requests can go on in the next. Those of conversations cannot, nor can any
// where the server's cache is to be emptied in between, or the text of each answer is kept until it has been counted.
func (p *plan) chained(s experiment.Stage) experiment.Stage {
	s.Chained = s.Chained && p.chains()
	return s
}

func (p *plan) chains() bool {
	return p.Empty == nil && p.Retokenize == nil && p.run.Workload.Turns() <= 1
}

func (p *plan) count(role rundir.Role) (n int) {
	for i := range p.run.Stages {
		if p.run.Stages[i].Role == role {
			n++
		}
	}
	return n
}

// newName returns a name that no stage has.
func (p *plan) newName(name string) string {
	for slices.ContainsFunc(p.run.Stages, func(st rundir.Stage) bool { return st.Name == name }) {
		name += "+"
	}
	return name
}

// limitTime returns a time, or a share of what is left of a budget where that is less.
func (p *plan) limitTime(d time.Duration, share float64) time.Duration {
	if p.Budget == 0 {
		return d
	}
	return min(d, time.Duration(share*float64(p.left)))
}

// holdsFirst reports whether a wave is so short that a budget has time for long holds besides the rows: they come first,
// and rows share what is left. Else a quick pair does.
func (p *plan) holdsFirst() bool {
	return p.Budget > 0 && p.short(p.fullLatency())
}

// short reports whether whole waves of requests of some latency take little time.
func (p *plan) short(latency time.Duration) bool {
	if p.Budget == 0 {
		return latency < p.StageTime/10
	}
	return latency < min(p.StageTime/4, time.Duration(shortWave*float64(p.Budget)))
}

// How the time is shared out. What each is worth is in bench.md.
const (
	leastGain   = 1.05  // in output tokens per second, for which more in flight are tried
	floorShare  = 0.04  // of a budget, for one request at a time
	limitShare  = 0.1   // of what is left, for the throughput stage and for a quick hold
	waves       = 3     // requests after one another: the first of them only fill the server
	shortWave   = 0.015 // of a budget: a wave so short leaves time for long holds before the rows
	rowsReserve = 0.2   // of a budget, that holds leave to the rows
	rowsShare   = 0.85  // of what is left, for the rows, once it is: the rest is for holds that narrow the answer
	pairStep    = 0.07  // so far from the ceiling are the quick holds, on either side: nearer, they take long to differ
	mostOfLeft  = 0.75  // of what is left, for a hold: the rest lets another correct it
	maxHolds    = 12    // an answer that is still open then would stay so
	searchHolds = 6     // times the first hold, for all of a sweep without a budget
	usersShare  = 0.12  // of what is left, for a number of users

	maxSLOProbes = 6 // holds about the highest rate that meets the SLO: more no longer move it
	maxSLOProofs = 2 // more, to show the rate that was found

	leastHold         = 12 * time.Second // a shorter one shows nothing
	operatingRequests = 1000             // at the load that is recommended neighbours are alike: these are worth about 60
	preciseTime       = 10 * time.Minute // of a row, at most, until its means are as exact as was asked for
)
