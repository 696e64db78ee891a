package plan

import (
	"context"
	"math"
	"slices"

	"llmsweep/client/sim"
)

// first finds by how much the busiest hour may grow until an objective breaks.
func (p *planner) first(ctx context.Context, n int) (Break, error) {
	const most, steps = 4.0, 6
	hour := p.day.Part(p.from, busiest)
	at := func(times float64) (*fleetOutcome, bool, error) {
		d := hour.Times(times)
		o, err := p.run(ctx, p.server, d, n, p.allowed(d))
		return o, err == nil && p.keeps(o, d), err
	}
	low, high := 1.0, most
	worst, ok, err := at(high)
	if err != nil || ok {
		return Break{}, err
	}
	for range steps {
		middle := math.Sqrt(low * high)
		o, ok, err := at(middle)
		if err != nil {
			return Break{}, err
		}
		if ok {
			low = middle
		} else {
			high, worst = middle, o
		}
	}
	b := Break{Times: math.Round(100*high) / 100, Cause: cause(worst.Usage)}
	if i := slices.Index(worst.Breaks, slices.Max(worst.Breaks)); i >= 0 {
		b.Term = p.Terms[i].String()
	}
	return b, nil
}

// cause finds what kept requests waiting.
func cause(u sim.ReplicaUsage) string {
	const much = 0.02 // of the steps
	steps := much * float64(u.Steps)
	switch {
	case u.Preemptions > 0 && float64(u.CacheFull+u.Preemptions) > steps:
		return CauseCache
	case float64(u.CacheFull) > steps && u.CacheFull > u.SlotsFull:
		return CauseCache
	case float64(u.SlotsFull) > steps && u.SlotsFull > u.StepFull:
		return CauseSlots
	case float64(u.StepFull) > steps:
		return CauseSteps
	}
	return causeSpeed
}
