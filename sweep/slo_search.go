package sweep

import (
	"cmp"
	"context"
	"math"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// The search for the highest rate that keeps an SLO adds at most maxSLOStages, and at least minSLOStages near the answer: a single stage is
// off by more than its interval shows. Both were chosen with TestSLOSearchAgreesWithBruteForce.
const (
	maxSLOStages = 12
	minSLOStages = 6
)

// fewestInProbe is how many requests such a stage collects, where there is time: with fewer, chance outweighs what it tells.
const fewestInProbe = 500

// budgetSLOStages is how many of them a budget sets time aside for.
const budgetSLOStages = 4

// supportLike lets a stage go on until it has the requests that its percentiles need, by what requests were worth in the stage nearest to
// its rate: where there is a queue, neighbours are alike.
func (x *sweeper) supportLike(s *experiment.Stage) {
	var nearest *rundir.Stage
	rate := s.Load.MeanRate()
	for _, row := range saturation.Open(x.Run().Stages) {
		if nearest == nil || math.Abs(slo.Offered(row)-rate) < math.Abs(slo.Offered(nearest)-rate) {
			nearest = row
		}
	}
	for _, t := range x.config.SLO {
		if n := t.Takes(nearest); t.Sample() > 0 {
			s.MinRequests = max(s.MinRequests, min(n, int(rate*s.MaxTime.Seconds())))
		}
	}
}

// announceSLO notes what the SLO adds to a sweep of these rates.
func (x *sweeper) announceSLO(rates []float64) {
	if len(x.config.SLO) == 0 {
		return
	}
	n, more, tooSlow := x.RequestsForSLO(), 0.0, 0.0
	for _, r := range rates {
		switch takes := float64(n) / r; {
		case takes > x.Pace().StageMax.Seconds():
			tooSlow = r
		case takes > x.Pace().StageTime.Seconds():
			more += takes - x.Pace().StageTime.Seconds()
		}
	}
	if more > 0 {
		x.Note(noteSLOCollects.New(n, more))
	}
	if tooSlow > 0 {
		x.Note(noteSLOTooSlow.New(tooSlow, x.Pace().StageMax))
	}
	if x.config.Precision <= 0 {
		return
	}
	until := math.NaN()
	if end := cmp.Or(x.config.Budget, x.config.SLOUntil); end > 0 {
		until = end.Seconds()
	}
	x.Note(noteSLOSearch.New(maxSLOStages, until))
}

// announceSupport notes, before the first stage, from which rate on stages have the requests that the percentiles of the SLO need, where that is not low.
func (x *sweeper) announceSupport() {
	const low = 1.0 // requests per second
	n, longest := float64(x.RequestsForSLO()), x.Pace().StageMax
	if rate := n / longest.Seconds(); rate > low {
		x.Note(noteSLOTakes.New(n, longest, rate, rundir.Duration(n/low/experiment.EdgeStages)))
	}
}

// timeForSLO returns how long the search goes on, so that the sweep ends in time with its control measurements; 0 for as long as its precision takes.
func (x *sweeper) timeForSLO() time.Duration {
	const least = 5 * time.Minute
	if x.HasBudget() || x.config.SLOUntil <= 0 {
		return 0
	}
	return max(least, time.Duration((1-controlShare)*float64(x.config.SLOUntil))-x.Elapsed())
}

// stagesForSLO returns how many stages a budget sets aside for the search.
func (x *sweeper) stagesForSLO() int {
	if len(x.config.SLO) == 0 || x.config.Precision <= 0 {
		return 0
	}
	return budgetSLOStages
}

// searchSLO adds stages about the highest rate that keeps the SLO until that is known to the precision asked for.
func (x *sweeper) searchSLO(ctx context.Context) error {
	x.Ahead.Probes = experiment.ForecastCounts{} // no more follow for the saturation rate
	defer func() { x.Ahead.SLO = experiment.ForecastCounts{} }()
	if len(x.config.SLO) == 0 || x.config.Precision <= 0 {
		return nil
	}
	began, allowed := x.Elapsed(), x.timeForSLO()
	x.Ahead.SLOMost = allowed
	for i := range maxSLOStages {
		best := saturation.WriteSLO(x.Run(), x.config.SLO, x.answer())
		rate := x.nextRate(best)
		if rate <= 0 || !x.config.Caps.Allows(rate) || x.Short() {
			return nil
		}
		x.Ahead.SLO = experiment.ForecastCounts{Low: float64(max(1, minSLOStages-i)), High: float64(maxSLOStages - i)}
		s := x.Poisson(rate, rundir.Probe)
		if !x.HasBudget() { // there is time for longer stages
			const longer = 5
			s.MinTime, s.MaxTime = x.Pace().StageMax, longer*x.Pace().StageMax
		}
		if allowed > 0 {
			left := rundir.Duration((began + allowed - x.Elapsed()).Seconds() / experiment.StageCost)
			if left < x.Least() {
				x.Warn(noteSLOEnds.New(x.Elapsed()))
				return nil
			}
			const stages = 4 // the first tells only on which side the answer lies
			s.MaxTime = min(s.MaxTime, left)
			s.MinTime = min(s.MinTime, s.MaxTime, max(x.Least(), allowed/stages))
		}
		x.supportLike(&s)
		s.MinRequests = max(s.MinRequests, min(fewestInProbe, int(rate*s.MaxTime.Seconds())))
		if _, err := x.Measure(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// nextRate returns the rate that tells most about where the SLO ends; 0 where enough is known. First the rates on either side of
// that are brought near, by halves, since the curve bends there. Then rates above it, at it and below it are measured in turn.
func (x *sweeper) nextRate(best *rundir.SLO) float64 {
	r := best.Rate.Value()
	switch {
	case best.Limiting == rundir.LimitSaturation && best.Rate.Known():
		return x.belowSaturation(best)
	case best.Rate.IsZero() && best.Low.Known(): // no stage is decided yet
		r = (best.Low.Value() + best.High.Value()) / 2
	case best.NeedsStage != "":
		return x.fresh(x.rateOf(best.NeedsStage))
	case !best.Rate.Known():
		return 0
	}
	near := x.config.Precision * r
	below, above, measured := x.neighbours(r, near)
	const inside = 0.7 // of near: within it, also when the answer moves a little
	switch {
	case math.IsInf(above, 1): // it lies at the last row
		return 0
	case above-below > 2*near:
		return x.fresh((above + below) / 2)
	case above-r > near:
		return x.fresh(r + inside*near)
	case r-below > near:
		return x.fresh(r - inside*near)
	// The interval is compared as the line shows it: widened, the search would take half as long again.
	case measured >= minSLOStages && best.High.Value()-best.Low.Value() < 2*slo.Widened*near:
		return 0
	}
	inTurn := [...]float64{0.5, 0, -0.5} // of near: a line is fixed best by its ends, and its level in the middle
	return x.fresh(r + near*inTurn[measured%len(inTurn)])
}

// belowSaturation returns a rate just below that of saturation, where a term may be missed before it: its share grows slowly, and the rows
// do not show yet on which side of the limit it is. It returns 0 where they do, or where several probes did not help.
func (x *sweeper) belowSaturation(best *rundir.SLO) float64 {
	s := x.answer()
	if s == nil || !s.Low.Known() {
		return 0
	}
	near := x.config.Precision * s.Low.Value()
	_, _, measured := x.neighbours(s.Low.Value()-near, 2*near)
	if best.Low.Value() >= s.Low.Value() || measured >= minSLOStages {
		return 0
	}
	inTurn := [...]float64{0.5, 1.5, 1, 2} // of near
	return x.fresh(s.Low.Value() - near*inTurn[measured%len(inTurn)])
}

// neighbours returns the nearest rates offered at or below a rate and above it, and how many probes were within a distance of it. Where
// there is none below or above, the rate is 0 or infinite.
func (x *sweeper) neighbours(r, near float64) (below, above float64, measured int) {
	above = math.Inf(1)
	for _, s := range saturation.Open(x.Run().Stages) {
		v := slo.Offered(s)
		if math.Abs(v-r) < near && s.Role == rundir.Probe {
			measured++
		}
		if v <= r {
			below = max(below, v)
		} else {
			above = min(above, v)
		}
	}
	return below, above, measured
}

// fresh returns a rate that has not been measured, at or just above one: a stage's name must be its own, and its arrivals
// others than those of the stage before.
func (x *sweeper) fresh(rate float64) float64 {
	const apart = 1.002 // a difference of which no metric depends
	const shown = 0.01  // the last digit that a rate's name shows, of rates from 1
	for x.has(rate) {
		rate *= apart
		rate += shown * math.Pow10(min(0, int(math.Floor(math.Log10(rate)))))
	}
	return rate
}

// rateOf returns the rate of a stage by its name; 0 where there is none.
func (x *sweeper) rateOf(stage string) float64 {
	for _, s := range x.Run().Stages {
		if s.Name == stage && s.Rate.Known() {
			return s.Rate.Value()
		}
	}
	return 0
}
