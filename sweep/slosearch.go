package sweep

import (
	"context"
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// The search for the highest rate that keeps an SLO adds so many stages at most, and a few about the answer in any case: a
// single stage is off by more than it knows.
const (
	mostSLOStages   = 10
	fewestSLOStages = 4
)

// supportSlack is how many more requests than independent ones a stage collects, since those near each other are alike.
const supportSlack = 1.3

// requestsForSLO is how many requests a stage needs for its percentiles to be judged.
func (x *experiment) requestsForSLO() int {
	n := 0
	for _, t := range x.SLO {
		n = max(n, t.Sample())
	}
	return int(math.Ceil(supportSlack * float64(n)))
}

// support lets a stage go on until it has the requests that its percentiles take, where that fits into its time.
func (x *experiment) support(s *Spec) {
	if n := x.requestsForSLO(); float64(n)/s.Rate <= s.MaxTime.Seconds() {
		s.MinRequests = max(s.MinRequests, n)
	}
}

// supportLike does so by what requests were worth in the nearest stage: where there is a queue, those near each other are
// alike.
func (x *experiment) supportLike(s *Spec) {
	var nearest *rundir.Stage
	for _, row := range openRows(x.run.Stages) {
		if nearest == nil || math.Abs(row.Rate.Value()-s.Rate) < math.Abs(nearest.Rate.Value()-s.Rate) {
			nearest = row
		}
	}
	for _, t := range x.SLO {
		if n := t.Takes(nearest); t.Sample() > 0 {
			s.MinRequests = max(s.MinRequests, min(n, int(s.Rate*s.MaxTime.Seconds())))
		}
	}
}

// announceSLO says what the SLO adds to a sweep of these rates, before it is spent.
func (x *experiment) announceSLO(rates []float64) {
	if len(x.SLO) == 0 {
		return
	}
	n, more, tooSlow := x.requestsForSLO(), 0.0, 0.0
	for _, r := range rates {
		switch takes := float64(n) / r; {
		case takes > x.StageMax.Seconds():
			tooSlow = r
		case takes > x.StageTime.Seconds():
			more += takes - x.StageTime.Seconds()
		}
	}
	if more > 0 {
		x.Observer.Note(noteSLOCollects.New(n, more))
	}
	if tooSlow > 0 {
		x.Observer.Note(noteSLOTooSlow.New(tooSlow, x.StageMax))
	}
	switch {
	case x.Precision <= 0:
	case x.until.IsZero():
		x.Observer.Note(noteSLOSearch.New(mostSLOStages, x.StageMax))
	default:
		x.Observer.Note(noteSLOSearch.New(mostSLOStages, math.NaN()))
	}
}

// stagesForSLO is how many stages a budget sets aside for the search.
func (x *experiment) stagesForSLO() int {
	if len(x.SLO) == 0 || x.Precision <= 0 {
		return 0
	}
	return fewestSLOStages
}

// searchSLO adds stages about the highest rate that keeps the SLO until that is known to the precision asked for.
func (x *experiment) searchSLO(ctx context.Context) error {
	if len(x.SLO) == 0 || x.Precision <= 0 {
		return nil
	}
	for i := range mostSLOStages {
		best := promised(x.run, x.SLO, x.answer())
		rate := x.nextRate(best)
		if rate <= 0 || !x.Caps.allows(rate) || x.short() {
			return nil
		}
		x.ahead = mostSLOStages - 1 - i
		spec := x.open(rate, rundir.Probe)
		if x.until.IsZero() { // there is time for longer ones
			spec.MinTime, spec.MaxTime = x.StageMax, 3*x.StageMax
		}
		x.support(spec)
		x.supportLike(spec)
		if _, err := x.stage(ctx, spec); err != nil {
			return err
		}
	}
	return nil
}

// nextRate is the rate that tells most about where the SLO ends; 0 where enough is known. First the rows on either side of
// that are brought near, by halves, since the curve bends there. Then it is measured on both sides of it in turn.
func (x *experiment) nextRate(best *rundir.SLO) float64 {
	r := best.Rate.Value()
	switch {
	case best.Limiting == rundir.LimitSaturation && best.Rate.Known():
		return 0
	case best.NeedsStage != "" && best.Low.Known(): // no row has enough requests to be judged yet
		r = (best.Low.Value() + best.High.Value()) / 2
	case best.NeedsStage != "":
		return x.fresh(x.rateOf(best.NeedsStage))
	case !best.Rate.Known():
		return 0
	}
	near := x.Precision * r
	below, above, measured := 0.0, math.Inf(1), 0
	for _, s := range openRows(x.run.Stages) {
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
	switch {
	case math.IsInf(above, 1): // it lies at the last row
		return 0
	case above-below > 2*near:
		return x.fresh((above + below) / 2)
	case above-r > near:
		return x.fresh(r + 0.7*near)
	case r-below > near:
		return x.fresh(r - 0.7*near)
	case measured >= fewestSLOStages && best.High.Value()-best.Low.Value() < 2*near:
		return 0
	}
	return x.fresh(r + near/2*float64(1-measured%3)) // above, at it, below
}

// fresh is a rate that has not been measured, at or just above one: a stage's name must be its own, and its arrivals
// others than those of the stage before.
func (x *experiment) fresh(rate float64) float64 {
	for x.has("poisson@" + rateName(rate)) {
		rate *= 1.002
		rate += 0.01 * math.Pow10(min(0, int(math.Floor(math.Log10(rate))))) // the name shows no less
	}
	return rate
}

func (x *experiment) rateOf(stage string) float64 {
	for _, s := range x.run.Stages {
		if s.Name == stage && s.Rate.Known() {
			return s.Rate.Value()
		}
	}
	return 0
}

// promised is the highest rate at which the terms hold, by the rows of a run; nil where nothing was promised.
func promised(run *rundir.Run, terms []slo.Term, saturation *rundir.Saturation) *rundir.SLO {
	if len(terms) == 0 {
		return nil
	}
	rows := openRows(run.Stages)
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Role == rundir.Floor && st.State == rundir.Complete && st.Invalid.IsZero() {
			rows = append(rows, st)
		}
	}
	return slo.Highest(rows, saturation, terms)
}
