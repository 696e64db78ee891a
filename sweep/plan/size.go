package plan

import (
	"context"

	"llmsweep/client/sim"
)

// allowed is the share of the minutes of a part that may break, if the whole time's all lie in it.
func (p *planner) allowed(part *Day) float64 {
	return (1 - p.Minutes) * float64(p.day.Length) / float64(part.Length)
}

// keeps reports whether a part of the time breaks the objectives in no more minutes than the whole time may.
func (p *planner) keeps(o *fleetOutcome, part *Day) bool {
	const roundOff = 1e-9
	return !o.Ended && o.Held >= 1-p.allowed(part)-roundOff
}

// run simulates a fleet of a fixed size.
func (p *planner) run(ctx context.Context, server sim.MachineConfig, d *Day, n int, allowed float64) (*fleetOutcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return runFleet(p.config(server, d, n, allowed), d.Requests, d.Length)
}

func (p *planner) config(server sim.MachineConfig, d *Day, n int, allowed float64) FleetConfig {
	return FleetConfig{Server: server, Replicas: n, Router: p.Router, Hits: p.Hits, Block: d.Block, Terms: p.Terms, Allowed: allowed}
}

// smallest returns the smallest number of replicas that keeps the objectives through a part of the time; 0 where the most do not.
func (p *planner) smallest(ctx context.Context, server sim.MachineConfig, d *Day, guess int) (int, error) {
	enough := func(n int) (bool, error) {
		o, err := p.run(ctx, server, d, n, p.allowed(d))
		return err == nil && p.keeps(o, d), err
	}
	low, high := 0, 0 // not enough, enough
	for n := max(1, guess); high == 0; n = min(2*n, p.Most) {
		ok, err := enough(n)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = n
		case n >= p.Most:
			return 0, nil
		default:
			low = n
		}
	}
	for high-low > 1 {
		middle := (low + high) / 2
		ok, err := enough(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// How many sizes are shown: some that are too small, and some that are larger than needed.
const smaller, larger = 5, 4

// sizes simulates the whole time with each of some numbers of replicas.
func (p *planner) sizes(ctx context.Context, out *CapacityPlan, whole *Day, need int) error {
	from := max(1, need-smaller)
	out.Sizes = make([]Size, min(need+larger, p.Most-p.Lost)-from+1)
	return p.parallel(len(out.Sizes), "sizes", func(i int) error {
		o, err := p.run(ctx, p.server, whole, from+i, -1)
		if err == nil {
			out.Sizes[i] = Size{Replicas: from + i + p.Lost, Held: o.Held, Enough: o.Held >= p.Minutes-1e-9, Hour: float64(from+i+p.Lost) * p.candidate.Price}
		}
		return err
	})
}
