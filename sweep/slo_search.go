package sweep

import (
	"context"
	"math"

	"llmsweep/sweep/forecast"
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

// budgetSLOStages is how many of them a budget sets time aside for.
const budgetSLOStages = 4

// supportSlack is how many requests a stage collects for each independent one that it needs, since neighbours are alike.
const supportSlack = 1.3

// requestsForSLO returns how many requests a stage needs for its percentiles to be judged.
func (x *Experiment) requestsForSLO() int {
	n := 0
	for _, t := range x.config.SLO {
		n = max(n, t.Sample())
	}
	return int(math.Ceil(supportSlack * float64(n)))
}

// support lets a stage go on until it has the requests that its percentiles need, where that fits into its time.
func (x *Experiment) support(s *Stage) {
	if n := x.requestsForSLO(); float64(n)/s.Load.MeanRate() <= s.MaxTime.Seconds() {
		s.MinRequests = max(s.MinRequests, n)
	}
}

// supportLike does the same by what requests were worth in the stage nearest to its rate: where there is a queue, neighbours are alike.
func (x *Experiment) supportLike(s *Stage) {
	var nearest *rundir.Stage
	rate := s.Load.MeanRate()
	for _, row := range saturation.Open(x.run.Stages) {
		if nearest == nil || math.Abs(row.Rate.Value()-rate) < math.Abs(nearest.Rate.Value()-rate) {
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
func (x *Experiment) announceSLO(rates []float64) {
	if len(x.config.SLO) == 0 {
		return
	}
	n, more, tooSlow := x.requestsForSLO(), 0.0, 0.0
	for _, r := range rates {
		switch takes := float64(n) / r; {
		case takes > x.pace.stageMax.Seconds():
			tooSlow = r
		case takes > x.pace.stageTime.Seconds():
			more += takes - x.pace.stageTime.Seconds()
		}
	}
	if more > 0 {
		x.config.Observer.Note(noteSLOCollects.New(n, more))
	}
	if tooSlow > 0 {
		x.config.Observer.Note(noteSLOTooSlow.New(tooSlow, x.pace.stageMax))
	}
	switch {
	case x.config.Precision <= 0:
	case !x.hasBudget():
		x.config.Observer.Note(noteSLOSearch.New(maxSLOStages, x.pace.stageMax))
	default:
		x.config.Observer.Note(noteSLOSearch.New(maxSLOStages, math.NaN()))
	}
}

// stagesForSLO returns how many stages a budget sets aside for the search.
func (x *Experiment) stagesForSLO() int {
	if len(x.config.SLO) == 0 || x.config.Precision <= 0 {
		return 0
	}
	return budgetSLOStages
}

// searchSLO adds stages about the highest rate that keeps the SLO until that is known to the precision asked for.
func (x *Experiment) searchSLO(ctx context.Context) error {
	if len(x.config.SLO) == 0 || x.config.Precision <= 0 {
		return nil
	}
	for i := range maxSLOStages {
		best := promised(x.run, x.config.SLO, x.answer())
		rate := x.nextRate(best)
		if rate <= 0 || !x.config.Caps.Allows(rate) || x.short() {
			return nil
		}
		x.ahead.SLO = forecast.Counts{Low: float64(max(1, minSLOStages-i)), High: float64(maxSLOStages - i)}
		s := x.Poisson(rate, rundir.Probe)
		if !x.hasBudget() { // there is time for longer stages
			const longer = 5
			s.MinTime, s.MaxTime = x.pace.stageMax, longer*x.pace.stageMax
		}
		x.support(&s)
		x.supportLike(&s)
		if _, err := x.Measure(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// nextRate returns the rate that tells most about where the SLO ends; 0 where enough is known. First the rates on either side of
// that are brought near, by halves, since the curve bends there. Then rates above it, at it and below it are measured in turn.
func (x *Experiment) nextRate(best *rundir.SLO) float64 {
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
	case measured >= minSLOStages && best.High.Value()-best.Low.Value() < 2*near:
		return 0
	}
	inTurn := [...]float64{0.5, 0, -0.5} // of near: a line is fixed best by its ends, and its level in the middle
	return x.fresh(r + near*inTurn[measured%len(inTurn)])
}

// belowSaturation returns a rate just below that of saturation, where a term may be missed before it: its share grows slowly, and the rows
// do not show yet on which side of the limit it is. It returns 0 where they do, or where several probes did not help.
func (x *Experiment) belowSaturation(best *rundir.SLO) float64 {
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

// neighbours returns the nearest rates measured at or below a rate and above it, and how many probes were within a distance of it. Where
// there is none below or above, the rate is 0 or infinite.
func (x *Experiment) neighbours(r, near float64) (below, above float64, measured int) {
	above = math.Inf(1)
	for _, s := range saturation.Open(x.run.Stages) {
		v := s.Rate.Value()
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
func (x *Experiment) fresh(rate float64) float64 {
	const apart = 1.002 // a difference of which no metric depends
	const shown = 0.01  // the last digit that a rate's name shows, of rates from 1
	for x.has(rate) {
		rate *= apart
		rate += shown * math.Pow10(min(0, int(math.Floor(math.Log10(rate)))))
	}
	return rate
}

// rateOf returns the rate of a stage by its name; 0 where there is none.
func (x *Experiment) rateOf(stage string) float64 {
	for _, s := range x.run.Stages {
		if s.Name == stage && s.Rate.Known() {
			return s.Rate.Value()
		}
	}
	return 0
}

// promised returns the highest rate at which the terms hold, by the rows of a run; nil where there are no terms.
func promised(run *rundir.Run, terms []slo.Term, limit *rundir.Saturation) *rundir.SLO {
	if len(terms) == 0 {
		return nil
	}
	rows := saturation.Open(run.Stages)
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Role == rundir.Floor && st.State == rundir.Complete && st.Invalid.IsZero() {
			rows = append(rows, st)
		}
	}
	return slo.Highest(rows, limit, terms)
}
