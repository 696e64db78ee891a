package sweep

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// quickPair holds a rate beyond the ceiling, more than any number in flight can bring, and one below it, right after
// the throughput stage. The server is full then: it works evenly, and nothing has to fill up, so that they show soon
// whether the backlog grows or falls. Where there is time for long holds, these tell more.
func (p *plan) quickPair() (s experiment.Stage, ok bool) {
	n := len(p.run.Stages)
	more := p.more()
	rate := (1 - pairStep) * p.ceiling
	if n > 0 && p.run.Stages[n-1].Role == rundir.Hold {
		rate = (1 + pairStep) * (1 + more) * p.ceiling
	}
	if p.Budget == 0 || !p.chains() || rate > p.ceiling && !locates(more) || p.count(rundir.Grid) > 0 ||
		p.count(rundir.Hold) > 1 || !p.Caps.Allows(rate) {
		return s, false
	}
	s = p.Poisson(rate, rundir.Hold)
	s.Name = rundir.QuickPrefix + arrival.RateName(rate)
	floor := p.run.First(rundir.Synchronous)
	s.Wave = p.latencyAt(p.ceiling)
	s.PromptShare = min(max(0, p.ceiling*(floor.TTFT.Mean.Or(0)-floor.InterToken.Or(0))), 1)
	s.Hold = p.limitTime(max(leastHold, s.Wave), limitShare)
	s.From, s.MinTime, s.MaxTime, s.MinRequests, s.Tail = time.Nanosecond, s.Hold, s.Hold, 1, 0
	s.Chained = rate < p.ceiling
	return s, true
}

// reserve returns the part of what is left of a budget that the rows need which the run does not have.
func (p *plan) reserve() (d time.Duration) {
	if p.Budget == 0 {
		return 0
	}
	for _, rate := range p.rowRates() {
		d += p.latencyAt(rate) + p.rowNeeds(rate)
	}
	return min(d, time.Duration(rowsReserve*float64(p.Budget)))
}

func (p *plan) hold() (s experiment.Stage, ok bool) {
	n := p.count(rundir.Hold)
	if n >= maxHolds {
		return s, false
	}
	i := slices.IndexFunc(p.run.Stages, func(st rundir.Stage) bool { return st.Held() })
	if i >= 0 && p.Budget == 0 {
		first := &p.run.Stages[i]
		took := p.run.Stages[len(p.run.Stages)-1].EndsAt() - rundir.Duration(first.Started)
		if took > searchHolds*rundir.Duration(first.Elapsed) {
			return s, false
		}
	}
	d := saturation.HoldTime(p.ceiling, p.syncLatency, p.StageTime)
	share := holdShares[min(n, len(holdShares)-1)]
	rate, longer := saturation.NextHold(p.longEvidence(p.limitTime(d, share) / 2))
	for slices.ContainsFunc(p.run.Stages, func(st rundir.Stage) bool {
		return st.Role == rundir.Hold && isAgain(st.Name) && !st.Invalid.IsZero() && saturation.IsAt(&st, rate)
	}) {
		rate *= 1 - pairStep // the client was late twice
	}
	if rate <= 0 || !p.Caps.Allows(rate) {
		return s, false
	}
	return p.holdStage(rate, rundir.Hold, saturation.HoldTime(rate, p.syncLatency, p.StageTime), longer, share)
}

// longEvidence returns the run without the rows and quick holds that are shorter than a time: a hold that there is time
// for tells more.
func (p *plan) longEvidence(least time.Duration) *rundir.Run {
	run := *p.run
	run.Stages = slices.DeleteFunc(slices.Clone(run.Stages), func(st rundir.Stage) bool {
		return st.Rate.Known() && !st.Held() && rundir.Duration(st.WindowFrom+st.Window) < least
	})
	return &run
}

// holdShares are the shares of what is left of a budget for the first holds, and for the others: the first two leave
// time for what follows.
var holdShares = []float64{0.33, 0.45, mostOfLeft}

// holdStage takes at most a share of what is left of a budget.
func (p *plan) holdStage(
	rate float64, role rundir.Role, d time.Duration, longer bool, share float64,
) (s experiment.Stage, ok bool) {
	s = p.Poisson(rate, role)
	s.Name = p.newName(rundir.HoldPrefix + arrival.RateName(rate))
	d = max(d, saturation.MinHoldTime(p.run))
	s.Hold, s.MaxTime = d, 2*d
	if p.Budget > 0 {
		free := float64(p.left - p.reserve())
		if leastHold > time.Duration(mostOfLeft*free) {
			return s, false
		}
		s.Hold = min(d, max(leastHold, time.Duration(share*free)))
		s.MaxTime = max(s.Hold, min(s.MaxTime, time.Duration(share*free)))
	}
	s.MinTime = min(s.Hold, max(s.Hold/4, waves*p.latencyAt(p.ceiling))) // by then the server has filled up
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

// clientLimited reports whether the latest stage with a role shows the client and not the server, also when it was
// repeated: another would, too.
func (p *plan) clientLimited(role rundir.Role) bool {
	for _, st := range slices.Backward(p.run.Stages) {
		if st.Role == role {
			return !st.Invalid.IsZero() && isAgain(st.Name)
		}
	}
	return false
}

// locates reports whether a quick pair tells the answer, where any number in flight may bring so much more.
func locates(more float64) bool {
	low, high := 1-pairStep, (1+pairStep)*(1+more)
	return high-low <= slo.MaxHalfWidth*(high+low)
}
