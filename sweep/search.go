package sweep

import (
	"context"
	"math"
	"slices"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// stages runs all stages in order.
func (x *experiment) stages(ctx context.Context) error {
	x.allot(x.Points*x.repeats() + 4)
	if err := x.warmUp(ctx); err != nil {
		return err
	}
	floor, err := x.stage(ctx, x.closed("synchronous", rundir.Floor, 1))
	if err != nil {
		return err
	}
	level, err := x.searchCeiling(ctx, floor)
	if err != nil {
		return err
	}
	ceiling, err := x.stage(ctx, x.closed("throughput", rundir.Ceiling, level))
	if err != nil {
		return err
	}
	low, high := floor.Progress.Rate, ceiling.Progress.Rate
	if !low.Known() || !high.Known() {
		return errNoRates
	}
	if x.Adaptive {
		return x.adapt(ctx, high.Value())
	}
	return x.even(ctx, low.Value(), high.Value())
}

// even measures rates evenly spaced between floor and ceiling, and then narrows the answer. A budget that is short gets the
// answer first.
func (x *experiment) even(ctx context.Context, low, high float64) error {
	points := x.afford(x.Points, x.repeats(), high)
	short := points < x.Points
	if short {
		if err := x.probe(ctx, high); err != nil {
			return err
		}
	}
	rates := grid(low, high, points)
	x.announceSLO(slices.Repeat(rates, x.repeats()))
	for _, r := range x.repetitions(rates) {
		x.ahead = max(0, x.ahead-1)
		if err := x.row(ctx, r, rundir.Grid); err != nil {
			return err
		}
	}
	if !short {
		if err := x.probe(ctx, high); err != nil {
			return err
		}
	}
	return x.narrow(ctx)
}

// adapt narrows the answer first, and then measures how a comfortable load feels, and one near the edge.
func (x *experiment) adapt(ctx context.Context, high float64) error {
	x.afford(3, 1, high)
	x.announceSLO(nil)
	if err := x.probe(ctx, high); err != nil {
		return err
	}
	if err := x.precise(ctx); err != nil {
		return err
	}
	if s := x.answer(); s != nil {
		for _, share := range []float64{comfortable, 0.9} {
			if err := x.row(ctx, repetition{rate: share * s.Rate.Value()}, rundir.Grid); err != nil {
				return err
			}
		}
	}
	return x.narrow(ctx)
}

// row runs a stage at a rate, if there is time for it.
func (x *experiment) row(ctx context.Context, r repetition, role string) error {
	if x.short() {
		x.warn(noteNoTimeForRow.New(r.rate, r.number))
		return nil
	}
	_, err := x.stage(ctx, x.openAgain(r, role))
	return err
}

// grid is n rates evenly spaced from low, which is left out, to high, which is the last. A server that is no faster
// with many than with one is swept from below.
func grid(low, high float64, n int) []float64 {
	const worthwhile = 1.2
	if high < worthwhile*low {
		low = 0
	}
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = low + (high-low)*float64(i+1)/float64(n)
	}
	return rates
}

// probe goes beyond the ceiling until a rate is shown saturated: the top of the grid sits at the edge, where no short
// stage can decide.
func (x *experiment) probe(ctx context.Context, ceiling float64) error {
	for _, factor := range []float64{1.1, 1.25, 1.5, 2, 3, 4, 6, 8} {
		if s := x.answer(); s != nil && s.LowestSaturated.Known() {
			return nil
		}
		if !x.Caps.allows(ceiling * factor) {
			x.warn(noteCapReached.New(x.Caps.rps))
			return nil
		}
		x.ahead = max(x.ahead, 1)
		if err := x.row(ctx, repetition{rate: ceiling * factor}, rundir.Probe); err != nil {
			return err
		}
	}
	return nil
}

// narrow adds stages until the answer is as precise as was asked for, and for as long as a budget lasts.
func (x *experiment) narrow(ctx context.Context) error {
	if err := x.precise(ctx); err != nil {
		return err
	}
	if err := x.searchSLO(ctx); err != nil {
		return err
	}
	for n := 0; x.leftover(); n++ {
		s := x.answer()
		if s == nil {
			return nil
		}
		left := time.Until(x.until).Seconds() / stageCost
		x.StageTime = duration(left / math.Max(1, math.Floor(left/x.StageTime.Seconds()))) // the last fills what is left
		if err := x.beyond(ctx, s, mostNarrowing+n); err != nil {
			return err
		}
	}
	return nil
}

// mostNarrowing is how many stages are added for the sake of precision: rows of a server that is so unsteady would not agree
// any better after more.
const mostNarrowing = 8

// precise adds stages beyond the edge, each with arrivals of its own, until the interval of the saturation rate is as narrow
// as was asked for.
func (x *experiment) precise(ctx context.Context) error {
	for n := range mostNarrowing {
		s := x.answer()
		if s == nil || !s.LowestSaturated.Known() || x.Precision <= 0 || x.short() {
			return nil
		}
		half := (s.High.Value() - s.Low.Value()) / 2 / s.Rate.Value()
		if half <= x.Precision {
			return nil
		}
		// An interval narrows with the root of what it rests on.
		more := min(mostNarrowing-n, int(math.Ceil(float64(n+2)*(math.Pow(half/x.Precision, 2)-1))))
		x.ahead = more
		x.Observer.Note(notePrecision.New(half, x.Precision, more, x.left(more-1)))
		if err := x.beyond(ctx, s, n); err != nil {
			return err
		}
	}
	return nil
}

// beyond runs a stage beyond the edge: so far that its verdict is soon clear, and not so far that the backlog takes long to
// drain. n makes its rate, and so its name, its own.
func (x *experiment) beyond(ctx context.Context, s *rundir.Saturation, n int) error {
	const overload, apart = 1.15, 0.01
	rate := s.Rate.Value() * (overload + apart*float64(n%mostNarrowing))
	if !x.Caps.allows(rate) {
		return nil
	}
	for x.has("poisson@" + rateName(rate)) {
		rate *= 1 + apart/10
	}
	_, err := x.stage(ctx, x.open(rate, rundir.Probe))
	return err
}

func (x *experiment) has(name string) bool {
	for i := range x.run.Stages {
		if x.run.Stages[i].Name == name {
			return true
		}
	}
	return false
}

// answer is the saturation as far as it is known.
func (x *experiment) answer() *rundir.Saturation { return saturate(x.run.Stages, new([]note.Note)) }
