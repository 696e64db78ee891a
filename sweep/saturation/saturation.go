// Package saturation finds how many requests per second a server sustains, from the holds of a sweep: stages that keep
// one rate long enough to see whether something grows. Other stages do not change the answer.
package saturation

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Bounds are types of their own, so that none is made of a mere estimate.
type (
	lower float64
	upper float64
)

// hold is a stage that held a rate. Rates are of requests of the mean length of all holds.
type hold struct {
	*rundir.Stage
	rate           float64 // offered
	stable, failed bool    // neither where it did not decide
	faulty         bool    // more requests failed than is tolerated, and were not refused
	short          bool    // what was served is no bound of what can be

	sustained lower // of one that did not fail: what is sustained

	// Of one that failed: what was served of all that came, and of the part of the requests whose waits grew most.
	served, partServed   float64
	servedLow            lower
	servedHigh, partHigh upper
}

// newHold reads a stage. unit is the mean length of its requests by that of all holds, and p the pauses of the run.
func newHold(st *rundir.Stage, unit float64, p *pauseStats) *hold {
	st = atFullLength(st)
	h := &hold{
		Stage: st, rate: st.Rates.Offered.Or(st.Rate.Value()) * unit, // by chance not the rate asked for
		stable: st.Verdict == rundir.Stable, failed: slo.Overloaded(st), faulty: faulty(st),
	}
	if h.failed {
		h.setServed(unit)
		return h
	}
	lasted := st.WindowFrom + st.Window
	if lasted < pausesPerHold*p.longest { // it may have been between two pauses
		h.stable = false
		return h
	}
	backlog, waits := st.Drift, st.Traits.Waits
	grew := max(backlog.Low.Or(0), waits.Low.Or(0)) > rateTolerance/2 // it may be the queue of one replica
	if backlog.High.Known() && (h.stable || !grew) {
		// Growth that cannot be excluded.
		unseen := max(rateTolerance, backlog.High.Value(), waits.High.Or(0), waits.Value.Or(0), chanceError(st))
		h.sustained = lower(h.rate * (1 - unseen - refusedShare(st)))
		if done := st.Progress.Low; refusedShare(st) > 0 && done.Known() {
			h.sustained = min(h.sustained, lower(done.Value()*unit))
		}
		if lasted < pausesPerHold*p.cycle { // it may have met fewer pauses than others will
			h.sustained *= lower(1 - max(0, p.lost-st.Traits.Pauses.Total.Or(0)/lasted))
		}
	}
	return h
}

func (h *hold) setServed(unit float64) {
	p := h.Progress
	if b := h.Traits.Behind; h.Verdict == rundir.Saturated && b.Rate.Or(0) > 0 && b.Low.Known() &&
		math.Abs(b.Rate.Value()/p.Rate.Value()-1) > chanceError(h.Stage) {
		p = b // what it had saved up was used by then
	}
	h.served, h.servedHigh = h.rate, upper(h.rate)
	if p.Rate.Known() {
		h.served = min(h.rate, p.Rate.Value()*unit)
	}
	h.servedLow = lower(p.Low.Or(0) * unit)
	if p.High.Known() {
		most := max(p.High.Value()*unit, h.served*(1+chanceError(h.Stage)))
		if h.Verdict == rundir.Shedding { // so much may be refused
			most /= 1 - tolerance
		}
		h.servedHigh = upper(min(h.rate, most))
	}
	h.partServed, h.partHigh = h.served, h.servedHigh
	if w := h.Traits.Waits; w.Low.Known() && w.Low.Value() > max(0, h.Drift.Value.Or(0)) {
		h.partServed, h.partHigh = h.rate*max(0, 1-w.Value.Value()), upper(h.rate*(1-w.Low.Value()))
	}
}

// faulty reports whether more requests of a stage failed than is tolerated, other than by a refusal.
func faulty(st *rundir.Stage) bool {
	q := st.Requests
	return st.Verdict == rundir.Undecided && float64(q.Error) > tolerance*float64(q.OK+q.Error)
}

func refusedShare(st *rundir.Stage) float64 {
	if st.Refused.Known() {
		return st.Refused.Value()
	}
	return float64(st.Requests.Error) / float64(max(1, st.Requests.OK+st.Requests.Error))
}

// chanceError returns by how much what a stage served may differ by chance from what the server serves in the long run,
// as a share: the times per token of its requests vary.
func chanceError(st *rundir.Stage) float64 {
	t := st.TPOT
	if !t.Std.Known() || !t.Mean.Known() {
		return 0
	}
	return stats.RenewalError(t.Std.Value()/t.Mean.Value(), float64(t.N), 0.975)
}

// bracket is what the holds of a run show together. Later ones count before earlier ones.
type bracket struct {
	holds       []*hold // by time
	low, high   *hold   // the highest kept, the lowest failed; nil where there is none
	tokens      float64 // mean output tokens of a request
	lengthError float64 // error of the mean length of the requests, as a share
	stableSince float64 // when low was kept first, in seconds since the run's start

	contradicted, contradiction *hold // a hold, and a later one that contradicts it
}

func bracketOf(run *rundir.Run) (b bracket) {
	stages := slices.DeleteFunc(openLoops(run.Stages), func(st *rundir.Stage) bool { return st.Role != rundir.Hold })
	slices.SortStableFunc(stages, func(a, c *rundir.Stage) int { return cmp.Compare(a.Started, c.Started) })
	length := func(st *rundir.Stage) rundir.Number {
		if run.Workload.Forced {
			return st.AskedTokens
		}
		return st.OutputTokens.Mean
	}
	tokens, got, n, squares := 0.0, 0.0, 0.0, 0.0
	for _, st := range stages {
		k := float64(st.Requests.OK)
		got += k * st.OutputTokens.Mean.Or(0)
		tokens, n, squares = tokens+k*length(st).Or(0), n+k, squares+k*math.Pow(st.OutputTokens.Std.Or(0), 2)
	}
	b.tokens = got / max(1, n)
	if tokens > 0 {
		b.lengthError = stats.RenewalError(math.Sqrt(squares*n)/tokens, n, 0.975)
	}
	p := pausesOf(run)
	repeated, all := false, bracket{} // the hold before was faulty
	for _, st := range stages {
		unit := 1.0
		if l := length(st); l.Known() && tokens > 0 {
			unit = l.Value() * n / tokens
		}
		h := newHold(st, unit, p)
		if !st.Held() { // quick holds count where no hold decides
			h.setShort()
		}
		if h.faulty && !repeated { // it is repeated, once
			repeated = true
			continue
		}
		h.failed, repeated = h.failed || h.faulty, false
		if h.faulty {
			h.setServed(1)
		}
		all.add(h)
		if st.Held() {
			b.add(h)
		}
	}
	if len(b.holds) == 0 {
		all.tokens, all.lengthError = b.tokens, b.lengthError
		return all
	}
	if b.low == nil && all.low != nil && (b.high == nil || all.low.rate < b.high.rate) {
		b.low, b.stableSince = all.low, all.stableSince
	}
	if b.high == nil && all.high != nil && (b.low == nil || all.high.rate > b.low.rate) {
		b.high = all.high
	}
	return b
}

// setShort marks a quick hold: what was served is no bound of what can be, and its growth is known as such.
func (h *hold) setShort() {
	h.short = true
	if h.stable {
		h.sustained = lower(h.rate * (1 - rateTolerance - h.Drift.High.Or(1) - refusedShare(h.Stage)))
	}
}

func (b *bracket) add(h *hold) {
	b.holds = append(b.holds, h)
	switch {
	case h.failed:
		if b.low != nil && h.rate < b.low.rate*(1+rateTolerance) {
			b.contradicted, b.contradiction = b.low, h
			below := func(o *hold) bool { return o.stable && o.rate < h.rate*(1-rateTolerance) }
			b.low = b.best(below, func(o, p *hold) bool { return o.rate > p.rate })
			if b.low != nil {
				b.stableSince = b.low.Started
			}
		}
		if b.high == nil || h.rate < b.high.rate*(1+rateTolerance) {
			b.high = h
		}
	case h.stable:
		if b.high != nil && h.rate > b.high.rate*(1-rateTolerance) {
			b.contradicted, b.contradiction = b.high, h
			above := func(o *hold) bool { return o.failed && o.rate > h.rate*(1+rateTolerance) }
			b.high = b.best(above, func(o, p *hold) bool { return o.rate < p.rate })
		}
		if b.low == nil || h.rate > b.low.rate*(1+rateTolerance) {
			b.stableSince = h.Started
		}
		if b.low == nil || h.rate > b.low.rate*(1-rateTolerance) {
			b.low = h
		}
	}
}

func (b *bracket) best(among func(*hold) bool, better func(o, p *hold) bool) (best *hold) {
	for _, o := range b.holds {
		if among(o) && (best == nil || better(o, best)) {
			best = o
		}
	}
	return best
}

// overloadCosts reports whether less was served beyond the bracket than at its lower end: overload costs throughput, or
// the lower end lived on what was saved up.
func (b *bracket) overloadCosts() bool {
	return b.low != nil && b.high != nil && !b.high.short && float64(min(b.high.servedHigh, b.high.partHigh)) < b.low.rate
}

// livedOnBurst reports whether saved burst capacity may explain the holds that were kept above what the failed hold
// served. The throughput stage and the failed holds show how much can be saved: they used it up once, at least.
func (b *bracket) livedOnBurst(run *rundir.Run) bool {
	saved, used := 0.0, 0.0
	if st := throughputStage(run); st != nil {
		saved = (st.Progress.Rate.Value() - b.high.served) * st.Window
	}
	for _, h := range b.holds {
		switch {
		case h.failed:
			saved = max(saved, (h.Progress.Rate.Or(0)-b.high.served)*h.Window)
		case h.stable && h.rate >= b.low.rate*(1-rateTolerance):
			used += (h.rate - b.high.served) * h.Window
		}
	}
	return used < saved
}

// upperBound needs a failed hold.
func (b *bracket) upperBound() upper {
	if b.overloadCosts() {
		return upper(b.high.rate)
	}
	if b.high.short {
		return upper(b.high.rate * (1 + rateTolerance/2))
	}
	return min(upper(b.high.rate*(1+rateTolerance/2)), b.high.servedHigh*(1+rhythmError))
}

// lowerBound is 0 where it is not known.
func (b *bracket) lowerBound() (most lower) {
	if b.low != nil {
		return b.low.sustained
	}
	for _, h := range b.holds { // what was neither kept nor failed
		if b.high != nil && h.rate > b.high.rate {
			continue
		}
		if b.contradiction == nil || h.Started >= b.contradiction.Started {
			most = max(most, h.sustained)
		}
	}
	return most
}

// NextHold returns the rate to be held next, and whether it is to be held for longer than usual, since the server may
// have saved something up; 0 where the bracket is narrow, or no rate would tell more.
func NextHold(run *rundir.Run) (rate float64, longer bool) {
	b := bracketOf(run)
	rate = b.nextRate(run)
	if rate == 0 {
		return 0, false
	}
	n := len(b.holds)
	for _, h := range b.holds[max(0, n-recentHolds):] {
		if !h.stable && !h.failed && math.Abs(h.rate/rate-1) < rateTolerance { // it did not decide
			if b.low == nil {
				rate *= undecidedStep
				break
			}
			return 0, false
		}
	}
	return rate, n > 0 && b.high != nil && rate > b.holds[n-1].rate
}

func (b *bracket) nextRate(run *rundir.Run) float64 {
	switch {
	case len(b.holds) == 0:
		guess := ThroughputRate(run).Or(0)
		return guess * (1 - max(1-firstHoldShare, countSigmas/math.Sqrt(guess*usualHoldTime(run, guess).Seconds())))
	case b.high == nil:
		return b.rateAbove(run)
	case b.low == nil:
		return b.rateBelow()
	case b.overloadCosts() && b.low.Started < b.high.Started:
		return b.low.rate // once more: it may have lived on what was saved up
	case b.suspicious(run):
		return b.high.rate // once more: it may have been a passing weakness
	case b.high.rate > maxStepDown*maxStepDown*b.low.rate:
		return math.Sqrt(b.low.rate * b.high.rate)
	case b.stableSince-b.high.Started > staleAfter,
		b.stableSince > b.high.Started && b.low.rate > ThroughputRate(run).Or(0)*(1+rateTolerance),
		float64(b.upperBound()) > narrowRatio*float64(b.low.sustained) &&
			b.high.rate > b.low.rate*(1+stepUp)*(1+rateTolerance):
		return min(b.high.rate, b.low.rate*(1+max(stepUp, b.resolution())))
	}
	return 0
}

// suspicious reports whether the server did much more at full load before than where it failed, and that is a while
// ago: what made it fail may be over.
func (b *bracket) suspicious(run *rundir.Run) bool {
	last := b.holds[len(b.holds)-1]
	if b.low == nil || ThroughputRate(run).Or(0) < (1+stepUp)*float64(b.upperBound()) ||
		last.EndsAt().Seconds()-b.high.EndsAt().Seconds() < staleAfter/2 {
		return false
	}
	times := 0
	for _, h := range b.holds {
		if math.Abs(h.rate/b.high.rate-1) < rateTolerance {
			times++
		}
	}
	return times < 2
}

// rateAbove returns the next rate where no hold has failed.
func (b *bracket) rateAbove(run *rundir.Run) float64 {
	n := len(b.holds)
	last := b.holds[n-1]
	if b.low == nil && last.collapsed() {
		return max(firstHoldShare*last.Progress.Rate.Or(0), last.rate/maxStepDown)
	}
	step := float64(stepUp)
	if stillGrew(run) { // the server was far from full
		step = stepUpFar
	}
	step = max(step, b.resolution())
	for i := n - 2; i >= 0 && b.holds[i].rate < b.holds[i+1].rate && !b.holds[i].failed; i-- {
		step *= 2
	}
	return last.rate * (1 + step)
}

// rateBelow returns the next rate where none was kept. The step is doubled with each hold that fails: what was served
// of all did not tell what is sustained.
func (b *bracket) rateBelow() float64 {
	step := b.resolution()
	for i := len(b.holds) - 2; i >= 0 && b.holds[i].failed && b.holds[i+1].failed; i-- {
		step *= 2
	}
	rate := max(min(firstHoldShare*b.high.partServed, b.high.rate*(1-step)), b.high.rate/maxStepDown)
	for _, h := range b.holds {
		if !h.stable && !h.failed && h.Started > b.high.Started {
			rate = min(rate, undecidedStep*h.rate)
		}
	}
	return rate
}

func (h *hold) collapsed() bool {
	p := h.Progress
	return p.Rate.Or(0) < undecidedStep*h.rate && p.High.Or(0) < h.rate
}

// resolution returns the difference of rates that a hold of as many requests as the last one shows, as a share.
func (b *bracket) resolution() float64 {
	return 2 * countSigmas / math.Sqrt(float64(max(1, b.holds[len(b.holds)-1].Requests.OK)))
}

// Growth reads two numbers in flight, the second so many times the first, with so many times its output. The output of a
// server of continuous batching grows with the number n as n/(n+half) does. Growth returns half, in times of the first,
// and what twice the second number will bring, as a share of its output.
func Growth(gain, times float64) (half, doubled float64) {
	half = max(0, gain-1) / max(times-gain, 1e-3)
	return half, half / (2 + half)
}

// stillGrew reports whether the search for the ceiling ended although the output still grew.
func stillGrew(run *rundir.Run) bool {
	best, most, grew := 0.0, 1.0, false
	if floor := synchronousStage(run.Stages); floor != nil {
		best = floor.TokensPerS.Output.Or(0)
	}
	for _, step := range run.Search {
		output, n := step.Output.Or(0), float64(step.Level())
		_, doubled := Growth(output/best, n/most)
		grew = doubled > growthFactor-1
		best, most = max(best, output), n
	}
	return grew
}

// pauseStats is how a server paused while it was under load: seconds, and the share of the time that was lost.
type pauseStats struct{ longest, cycle, lost float64 }

func pausesOf(run *rundir.Run) *pauseStats {
	p, n, time := &pauseStats{}, 0, 0.0
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Role == rundir.Synchronous || st.Role == rundir.Grid {
			continue
		}
		all := st.Traits.Pauses
		p.longest = max(p.longest, all.Longest.Or(0))
		n, time, p.lost = n+all.Count, time+st.WindowFrom+st.Window, p.lost+all.Total.Or(0)
	}
	p.lost /= max(1, time)
	if n > 0 && p.lost > rateTolerance {
		p.cycle = time / float64(n)
	}
	return p
}

// MinHoldTime returns for how long a rate is to be held, at least, so that the server's pauses do not decide.
func MinHoldTime(run *rundir.Run) time.Duration {
	const margin, longest = 1.2, 300
	p := pausesOf(run)
	return rundir.Duration(pausesPerHold * margin * max(p.longest, min(p.cycle, longest/pausesPerHold)))
}

// Find returns what the holds of a run show; nil where there are none.
func Find(run *rundir.Run) *rundir.Saturation {
	b := bracketOf(run)
	if len(b.holds) == 0 {
		return nil
	}
	s, low := &rundir.Saturation{}, b.lowerBound()*lower(1-b.lengthError)
	if b.low != nil {
		s.HighestStable, s.KeptStage = b.low.Rate, b.low.Name
	}
	if b.contradiction != nil {
		earlier, later := b.contradicted, b.contradiction
		s.Cautions = append(s.Cautions, noteChanged.New(earlier.rate, earlier.Started, later.rate, later.Started))
	}
	if b.high == nil {
		if low > 0 {
			s.Rate = rundir.Over(float64(low))
			s.Output = rundir.Over(float64(low) * b.tokens)
		}
		return s
	}
	high, rate := b.upperBound(), min(b.high.served, b.high.partServed)
	if b.high.short && low > 0 {
		if float64(low) >= float64(high) { // it did more work when it was less full
			low = lower((1 - rateTolerance) * b.low.rate)
		}
		rate = math.Sqrt(float64(low) * float64(high))
	}
	if b.overloadCosts() || float64(high) < float64(low) {
		high = upper(b.high.rate)
		if b.overloadCosts() && b.livedOnBurst(run) {
			low = min(low, b.high.servedLow)
		}
		rate = (float64(low) + float64(high)) / 2
		if served := b.high.served; b.low != nil && served < b.low.rate {
			s.Overload = rundir.Exactly(served)
		}
	}
	high *= upper(1 + b.lengthError)
	low = lower(min(float64(low), float64(high)))
	s.High, s.LowestSaturated = rundir.Exactly(float64(high)), b.high.Rate
	s.FailedStage, s.Reason = b.high.Name, b.high.reason()
	if low <= 0 {
		return s
	}
	s.Low = rundir.Exactly(float64(low))
	rate = min(max(rate, float64(low)), float64(high))
	if (float64(high)-float64(low))/2 <= slo.MaxHalfWidth*rate {
		s.Rate = rundir.Exactly(rate)
		s.Output = rundir.Exactly(rate * b.tokens)
	}
	s.Limit, s.LimitStage = limitByGauges(b.high.Server), b.high.Name
	if s.Limit == rundir.LimitSlots {
		if half := flatStage(run, b.high.Stage); half != nil {
			s.Limit, s.LimitFlat = rundir.LimitCompute, half.Name
		}
	}
	return s
}

func (h *hold) reason() note.Note {
	switch {
	case h.faulty:
		return noteUndone.New(refusedShare(h.Stage))
	case h.Verdict == rundir.Shedding && h.Shortened.Known():
		return noteShortened.New(h.Shortened.Value())
	case h.Verdict == rundir.Shedding:
		return noteRefused.New(refusedShare(h.Stage))
	case h.partServed < h.served:
		return noteWaitsGrew.New(h.Traits.Waits.Value.Value())
	}
	return noteBacklogGrew.New()
}
