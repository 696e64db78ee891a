package sweep

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// The time that a sweep still takes is estimated by its plan, run on a plain server.
const (
	plainSlots  = 32
	plainSlower = 1.5  // times the latency of a lone request, where all slots are busy
	plainGrowth = 0.01 // of the backlog, to within which it is known, where the server keeps up
)

func (x *sweeper) estimate(s *experiment.Stage, left time.Duration) (this, after time.Duration, ok bool) {
	if x.config.Users || x.Latency() == 0 {
		return 0, 0, false
	}
	run := *x.Run()
	run.Stages, run.Search = slices.Clone(run.Stages), slices.Clone(run.Search)
	lone := x.Latency()
	if floor := run.First(rundir.Synchronous); floor != nil {
		lone = floor.Latency.Mean.Or(lone)
	}
	this, after = x.config.outlook(&run, s, lone, x.Elapsed(), left)
	if x.HasBudget() {
		after = min(after, max(0, x.TimeLeft()-this))
	}
	return this, after, true
}

// outlook simulates a stage and those that the plan has after it.
func (c *Config) outlook(
	run *rundir.Run, s *experiment.Stage, lone float64, at, left time.Duration,
) (this, after time.Duration) {
	const mostStages = 100 // ends a plan that simulated stages do not end
	next, more := *s, true
	for n := 0; more && n < mostStages; n++ {
		took := simulate(run, &next, lone, at)
		if n == 0 {
			this = took
		} else {
			after += took
		}
		at, left = at+took, left-took
		next, more = c.Next(run, left)
	}
	if len(c.SLO) > 0 { // a simulated stage tells nothing of an SLO
		const usualProbes = 3
		after += usualProbes * saturation.HoldTime(saturation.ThroughputRate(run).Or(1), rundir.Duration(lone), c.StageTime)
	}
	return this, after
}

// Outlook returns how long a sweep by rate takes on a plain server whose lone requests have a latency, and about how
// many requests it sends.
func (c *Config) Outlook(lone time.Duration) (takes time.Duration, requests int) {
	run := &rundir.Run{}
	first, ok := c.Next(run, c.Budget)
	if !ok {
		return 0, 0
	}
	this, after := c.outlook(run, &first, lone.Seconds(), 0, c.Budget)
	for i := range run.Stages {
		requests += run.Stages[i].Requests.OK
	}
	return this + after, requests
}

// simulate adds to a run what a stage would show of a plain server, and returns how long it takes. lone is the latency
// of a lone request, in seconds.
func simulate(run *rundir.Run, s *experiment.Stage, lone float64, at time.Duration) time.Duration {
	level := float64(s.Load.Limit())
	most := saturation.ThroughputRate(run).Or(plainSlots / (plainSlower * lone))
	rate := s.Load.MeanRate()
	st := rundir.Stage{
		Name: s.Name, Kind: s.Kind, Role: s.Role, State: rundir.Complete, Started: at.Seconds(),
		MaxConcurrency: s.Load.Limit(), Verdict: rundir.Closed,
	}
	took := max(s.Hold, s.MinTime)
	st.Latency.Mean = rundir.Exactly(lone)
	if rate > 0 {
		st.Rate, st.Rates.Offered, st.Verdict = rundir.Exactly(rate), rundir.Exactly(rate), rundir.Stable
		st.Drift = rundir.Drift{
			Value: rundir.Exactly(0), Low: rundir.Exactly(-plainGrowth), High: rundir.Exactly(plainGrowth),
		}
		if rate > most {
			st.Verdict, took = rundir.Saturated, max(s.MinTime, took/2)
		}
		took += rundir.Duration(lone)
	} else {
		rate = most
		if level < plainSlots {
			rate = min(most, level/lone)
		}
		wave := level / rate
		st.Latency.Mean = rundir.Exactly(wave)
		took = rundir.Duration(wave + max(took.Seconds(), s.MinWaves*wave))
	}
	done := min(rate, most)
	st.Requests.OK = int(math.Ceil(done * took.Seconds()))
	st.Progress = rundir.Progress{Rate: rundir.Exactly(done), Low: rundir.Exactly(done), High: rundir.Exactly(done)}
	st.TokensPerS.Output = rundir.Exactly(done)
	st.Elapsed, st.Ended = took.Seconds(), (at + took).Seconds()
	if s.Step {
		run.Search = append(run.Search, rundir.SearchStep{
			Name: s.Name, Output: st.TokensPerS.Output, Latency: st.Latency.Mean, Error: rundir.Exactly(0), Ended: st.Ended,
		})
		return took
	}
	run.Stages = append(run.Stages, st)
	return took
}

// estimateRun is for stages that were asked for. latency is that of a request so far.
func estimateRun(stages []experiment.Stage, latency time.Duration) (this, after time.Duration) {
	this = estimateStage(&stages[0], latency)
	for i := range stages[1:] {
		after += estimateStage(&stages[1+i], latency)
	}
	return this, after
}

func estimateStage(s *experiment.Stage, latency time.Duration) time.Duration {
	const slower = 2 // than alone
	rate := s.Load.MeanRate()
	switch l := s.Load.(type) {
	case arrival.Ramp:
		return l.Over + latency
	case arrival.Trace:
		return rundir.Duration(float64(len(l.Offsets))/max(rate, 1e-9)) + latency
	}
	switch {
	case s.Sessions == 0:
		return s.MinTime + slower*latency
	case rate > 0:
		return rundir.Duration(float64(s.Sessions)/rate) + latency
	}
	return time.Duration(slower * float64(latency) * float64(s.Sessions) / float64(max(1, s.Load.Limit())))
}

// Longest returns how long a sweep sends at most.
func (c *Config) Longest() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	const (
		mostLimits = 12 // stages that find the limits: the floor, the doublings and the throughput
		perStage   = 2  // stage times of one that is no hold, with its end
	)
	longest := searchTime + time.Duration(perStage*(c.Points+mostLimits))*c.StageTime
	if len(c.SLO) > 0 {
		longest += (maxSLOProbes + maxSLOProofs) * c.StageMax
	}
	return longest
}
