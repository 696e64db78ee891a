package sweep

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

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

func nearest(rates []float64, to float64) float64 {
	return slices.MinFunc(rates, func(a, b float64) int { return cmp.Compare(math.Abs(a-to), math.Abs(b-to)) })
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

// rowRates returns the rates that have no row, ascending: those of the grid, and with a budget the one that is
// recommended.
func (p *plan) rowRates() []float64 {
	rates := p.unmeasuredRates()
	if rate := p.operatingRate(); rate > 0 && p.Budget > 0 && len(rates) > 0 {
		rates = append(rates, rate)
		slices.Sort(rates)
	}
	return slices.DeleteFunc(rates, func(rate float64) bool { return !p.Caps.Allows(rate) })
}

// operatingRate returns the rate that the answer so far recommends, where it was not measured; 0 elsewhere. With an SLO
// its own holds are about the rate that is recommended.
func (p *plan) operatingRate() float64 {
	found := saturation.Find(p.run)
	if found == nil || !found.Rate.Known() {
		return 0
	}
	rate := saturation.ComfortableShare * found.Rate.Value()
	if len(p.SLO) > 0 || saturation.Operating(p.run.Stages, rate) != nil {
		return 0
	}
	return rate
}

// operatingRow measures the rate that the answer recommends.
func (p *plan) operatingRow() (s experiment.Stage, ok bool) {
	rate := p.operatingRate()
	if rate == 0 || !p.Caps.Allows(rate) {
		return s, false
	}
	opening, window, longest := p.latencyAt(rate), p.rowNeeds(rate), preciseTime
	if p.Budget > 0 {
		window, longest = min(window, p.left-opening), min(longest, p.left-opening)
	}
	return p.row(rate, opening, window, longest), window > opening
}

// nextRow returns a row at the lowest rate that has none. Its opening lasts as long as a request takes at its rate: by
// then those of the row before have ended. All rows that are left share the time that is left, each by what it needs.
func (p *plan) nextRow() (s experiment.Stage, ok bool) {
	rates := p.rowRates()
	if len(rates) == 0 {
		return s, false
	}
	var openings, needs time.Duration
	for _, rate := range rates {
		openings, needs = openings+p.latencyAt(rate), needs+p.rowNeeds(rate)
	}
	rate := rates[0]
	opening, window, longest := p.latencyAt(rate), p.rowNeeds(rate), preciseTime
	if p.Budget > 0 {
		share := rowsShare * float64(p.left)
		if least := 2 * float64(openings); share < least {
			opening = time.Duration(float64(opening) * share / least)
			window = opening
			longest = window
		} else {
			longest = min(longest, time.Duration((share-float64(openings))*float64(window)/float64(needs)))
			window = min(window, longest)
		}
	}
	return p.row(rate, opening, window, longest), true
}

// row returns a row whose window is so long. Where a precision was asked for, it goes on until its means are that exact,
// up to a longest time, unless the queue swings too slowly at its rate to show that in this time.
func (p *plan) row(rate float64, opening, window, longest time.Duration) (s experiment.Stage) {
	role := rundir.Grid
	if !slices.Contains(p.rates(), rate) {
		role = rundir.Probe
	}
	s = p.Poisson(rate, role)
	s.Name = p.newName(s.Name)
	s.Chained, s.MinRequests = true, 1
	s.From, s.MinTime, s.MaxTime = opening, opening+window, opening+window
	limit := (1 - pairStep) * p.ceiling
	if found := saturation.Find(p.run); found != nil {
		limit = found.Rate.Or(limit)
	}
	if enough := saturation.RequestsForMean(rate / limit); p.Precision > 0 && enough/rate <= longest.Seconds() {
		s.Precision, s.MinRequests, s.MaxTime = p.Precision, max(1, int(math.Ceil(enough))), opening+max(window, longest)
	}
	return s
}

// rowNeeds returns how long the window of a row is where time is not short: for a p90, and a few requests after one
// another. That of the rate that is recommended is as long as the others together, at most.
func (p *plan) rowNeeds(rate float64) time.Duration {
	grid := func(rate float64) time.Duration {
		enough := rundir.Duration(float64(experiment.RequestsFor(0.9)) / rate)
		latency := p.latencyAt(rate)
		return max(p.StageTime/4, min(enough, p.StageTime/2), min(waves*latency, max(p.StageTime, latency)))
	}
	if slices.Contains(p.rates(), rate) {
		return grid(rate)
	}
	var others time.Duration
	for _, rate := range p.rates() {
		others += grid(rate)
	}
	return min(max(p.StageTime, rundir.Duration(operatingRequests/rate)), others)
}

// latencyAt interpolates the latency at a rate between what was measured: of one request at a time, of the steps of the
// search, of the throughput, and of rows.
func (p *plan) latencyAt(rate float64) time.Duration {
	type point struct{ rate, latency float64 }
	floor := p.run.First(rundir.Synchronous)
	points := []point{{floor.Progress.Rate.Value(), floor.Latency.Mean.Or(0)}}
	for _, step := range p.run.Search {
		if step.Latency.Known() && step.Level() <= p.run.First(rundir.Throughput).MaxConcurrency {
			points = append(points, point{step.Rate(), step.Latency.Value()})
		}
	}
	for i := range p.run.Stages {
		if st := &p.run.Stages[i]; (st.Role == rundir.Throughput || st.Role == rundir.Grid) &&
			st.Progress.Rate.Known() && st.Latency.Mean.Known() {
			points = append(points, point{st.Progress.Rate.Value(), st.Latency.Mean.Value()})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.rate, b.rate) })
	low := points[0]
	for _, high := range points {
		if high.rate >= rate {
			if high.rate > low.rate {
				return rundir.Duration(low.latency + (high.latency-low.latency)*(rate-low.rate)/(high.rate-low.rate))
			}
			return rundir.Duration(high.latency)
		}
		low = high
	}
	return rundir.Duration(low.latency)
}
