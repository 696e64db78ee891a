package sweep

import (
	"math"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// How long a sweep still takes is told by its plan, over assumed stages of a plain server.

// The plain server that is assumed before this one is known.
const (
	plainSlots  = 32
	plainSlower = 1.5 // times the latency of a lone request, where all slots are busy
)

// expect returns how long a stage takes, and what follows it; ok is false where that is not known.
func (x *sweeper) expect(s *experiment.Stage, left time.Duration) (this, after time.Duration, ok bool) {
	if x.config.Users || x.Latency() == 0 {
		return 0, 0, false
	}
	run := *x.Run()
	run.Stages, run.Search = append([]rundir.Stage(nil), run.Stages...), append([]rundir.SearchStep(nil), run.Search...)
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

// outlook adds assumed stages to a run, a stage and what the plan has after it. It returns how long they take.
func (c *Config) outlook(
	run *rundir.Run, s *experiment.Stage, lone float64, at, left time.Duration,
) (this, after time.Duration) {
	next, more := *s, true
	for n := 0; more && n < mostExpected; n++ {
		took := assume(run, &next, lone, at)
		if at += took; n == 0 {
			this = took
		} else {
			after += took
		}
		left -= took
		next, more = c.Next(run, left)
	}
	if len(c.SLO) > 0 { // an assumed stage tells nothing of an SLO
		const usual = 3
		after += usual * saturation.HoldTime(saturation.ThroughputRate(run).Or(1), rundir.Duration(lone), c.StageTime)
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

// mostExpected ends a plan that assumed stages do not end.
const mostExpected = 100

// assume adds to a run what a stage would show of a plain server, and returns how long it takes. lone is how long a
// request takes alone, in seconds.
func assume(run *rundir.Run, s *experiment.Stage, lone float64, at time.Duration) time.Duration {
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

// plainGrowth is the growth of the backlog of a plain server that keeps up, to within which it is known.
const plainGrowth = 0.01

// expectRun returns how long a stage takes that was asked for, and those after it. latency is that of a request so far.
func expectRun(stages []experiment.Stage, latency time.Duration) (this, after time.Duration) {
	for i := range stages {
		took := expectStage(&stages[i], latency)
		if i == 0 {
			this = took
		} else {
			after += took
		}
	}
	return this, after
}

// expectStage returns how long a stage takes.
func expectStage(s *experiment.Stage, latency time.Duration) time.Duration {
	const slower = 2 // than alone
	rate := s.Load.MeanRate()
	switch l := s.Load.(type) {
	case arrival.Ramp:
		return l.Over + latency
	case arrival.Trace:
		return rundir.Duration(float64(len(l.Offsets))/max(rate, 1e-9)) + latency
	}
	switch {
	case s.Sessions > 0 && rate > 0:
		return rundir.Duration(float64(s.Sessions)/rate) + latency
	case s.Sessions > 0:
		return time.Duration(slower * float64(latency) * float64(s.Sessions) / float64(max(1, s.Load.Limit())))
	}
	return s.MinTime + slower*latency
}

// Longest returns how long a sweep sends at most.
func (c *Config) Longest() time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	const each = 2 // stage times of one that is no hold, with its end
	longest := searchTime + time.Duration(each*(c.Points+mostLimits))*c.StageTime
	if len(c.SLO) > 0 {
		longest += (maxSLOProbes + maxSLOProofs) * c.StageMax
	}
	return longest
}

// mostLimits is how many stages find the limits: the floor, the doublings and the throughput.
const mostLimits = 12
