package sweep

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// limits returns the next of the stages that find the floor and the ceiling.
func (p *plan) limits() (s experiment.Stage, ok bool) {
	floor := p.run.First(rundir.Synchronous)
	if floor == nil {
		s = p.Closed(rundir.StageSynchronous, rundir.Synchronous, 1, 0)
		s.MinTime, s.MaxTime = 0, p.limitTime(p.StageTime, floorShare)
		s.Chained, s.Paced, s.MinWaves = p.Selftest == nil, true, waves
		return s, true
	}
	if !floor.Progress.Rate.Known() || p.run.First(rundir.Throughput) != nil {
		return s, false
	}
	found := p.search(floor)
	if !found.done {
		return p.searchStep(found.level), true
	}
	latency := p.fullLatency()
	s = p.Closed(rundir.StageThroughput, rundir.Throughput, found.level, latency)
	s.Fresh, s.Chained, s.Paced, s.From, s.MinWaves = true, p.Budget > 0 && !p.holdsFirst(), true, latency, 1
	s.MinTime = s.From + p.limitTime(s.MinTime, limitShare)
	s.MaxTime = s.From + p.limitTime(s.MaxTime, 3*limitShare)
	return s, true
}

func (p *plan) searchLatency(floor *rundir.Stage) time.Duration {
	latency := floor.Latency.Mean
	if n := len(p.run.Search); n > 0 && p.run.Search[n-1].Latency.Known() {
		latency = p.run.Search[n-1].Latency
	}
	return rundir.Duration(latency.Or(0))
}

// search is what the steps of the search for the ceiling show: two of them tell what more will bring.
type search struct {
	level int  // in flight, to try next, or with done the one that makes the server fastest
	done  bool // more bring no more, or take too long
}

// search reads the steps. Doubling is not tried where it will bring less than leastGain, by two steps where requests
// vary much, since one of few requests does not tell.
func (p *plan) search(floor *rundir.Stage) (s search) {
	best, most, level, flat, invalid, factor := floor.TokensPerS.Output.Or(math.Inf(1)), 1, 1, 0, 0, 4.0
	latency := 0.0
	for _, step := range p.run.Search {
		previous := most
		level = step.Level()
		invalid++
		if step.Invalid.IsZero() {
			invalid = 0
		}
		gain := step.Output.Or(0) / best
		half, doubled := saturation.Growth(gain, float64(level)/float64(previous))
		factor = min(max(2, half), 4)
		if gain > leastGain || gain > 1 && most == 1 {
			best, most = step.Output.Or(0), level
		}
		flat++
		if doubled >= leastGain-1 || invalid > 0 {
			flat = 0
		}
		latency = step.Latency.Or(0)
		if s.done = flat > 0 && step.Error.Or(1) < leastGain-1 || flat == 2; s.done {
			break
		}
	}
	tooSlow := latency > limitShare*cmp.Or(p.Budget, time.Duration(p.Points)*p.StageTime).Seconds()
	if s.done = s.done || level >= p.MaxConcurrency || invalid == 2 || tooSlow; s.done {
		s.level = min(max(most, 2), p.MaxConcurrency)
	} else {
		s.level = min(int(factor)*level, p.MaxConcurrency)
	}
	return s
}

// SearchCeiling measures steps until more in flight bring no more output, and returns the number in flight that does.
// The experiment has measured its floor.
func SearchCeiling(ctx context.Context, x *experiment.Experiment, c *Config) (int, error) {
	for {
		p := c.plan(x.Run(), 0)
		s := p.search(p.run.First(rundir.Synchronous))
		if s.done {
			return s.level, x.Flush(ctx)
		}
		if err := x.Try(ctx, p.chained(p.searchStep(s.level))); err != nil {
			return 0, err
		}
	}
}

// searchStep is over when its pace is known. Its requests begin within the time that one takes, or all at once where
// that is long.
func (p *plan) searchStep(level int) experiment.Stage {
	const (
		readings  = 4 // of the server's gauges
		leastRead = 100 * time.Millisecond
	)
	opening := p.searchLatency(p.run.First(rundir.Synchronous))
	s := p.Closed(rundir.SearchPrefix+strconv.Itoa(level), rundir.Throughput, level, opening)
	s.Step, s.Chained, s.Paced, s.MinWaves, s.From = true, true, true, 1, opening
	s.MinTime, s.MaxTime = s.From+p.StageTime/16, p.StageTime
	switch {
	case p.short(opening):
		s.MinWaves = 2
	case !p.short(opening / 2):
		s.Quick, s.Opening, s.From, s.MinTime = true, nil, time.Nanosecond, 0
	}
	s.Read = max(leastRead, s.MinTime/readings)
	return s
}

// more returns how much more than the ceiling any number in flight can bring at most, as a share. The latency grows
// with the number in flight at least as fast as from one request to the ceiling, or from the ceiling to a larger number
// that was tried, unless the server ran out of places.
func (p *plan) more() float64 {
	full := p.run.First(rundir.Throughput)
	n, wave := float64(full.MaxConcurrency), float64(full.MaxConcurrency)/p.ceiling
	most := func(times, grew float64) float64 { // the latency grew so many times, for so many times the number
		return max(0, (times-1)/max(grew-1, 1e-3)-1)
	}
	more := max(0, wave*(n-1)/(n*max(wave-p.syncLatency.Seconds(), 1e-3))-1)
	for _, step := range p.run.Search {
		times := float64(step.Level()) / n
		gain := step.Rate()/p.ceiling + leastGain - 1 // at most
		switch {
		case step.Waited && times <= 1:
			return 0
		case step.Waited:
			return leastGain - 1
		case times > 1 && step.Error.Known(): // by whole waves
			more = min(more, most(times, times/max(1, gain)))
		}
	}
	return more
}

// fullLatency returns how long a request takes at the number in flight that makes the server fastest, by the search.
func (p *plan) fullLatency() time.Duration {
	floor := p.run.First(rundir.Synchronous)
	level, latency := p.search(floor).level, p.searchLatency(floor)
	for _, step := range p.run.Search {
		if step.Level() == level {
			latency = rundir.Duration(step.Latency.Or(latency.Seconds()))
		}
	}
	return latency
}
