package choose

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
)

// BreakEven is where the first stops being the cheapest: at other prices, and at other demands.
type BreakEven struct {
	First string `json:"first"`
	// Other is the cheapest with another GPU. The first costs as much at FirstPrice for its GPU, or at OtherPrice for
	// the other's.
	Other      string        `json:"other,omitempty"`
	FirstPrice rundir.Number `json:"first_gpu_hour,omitzero"`
	OtherPrice rundir.Number `json:"other_gpu_hour,omitzero"`
	// The nearest demands, within a tenth to ten times, at which another is cheaper, and which.
	Above      rundir.Number `json:"demand_above,omitzero"`
	AboveFirst string        `json:"demand_above_first,omitempty"`
	Below      rundir.Number `json:"demand_at_or_below,omitzero"`
	BelowFirst string        `json:"demand_at_or_below_first,omitempty"`

	firstGPU, otherGPU string
}

// demandRange bounds the demands, as a factor of the one that is asked for.
const demandRange = 10

func breakEven(c *Choice, o Options) *BreakEven {
	if !c.Priced || len(c.Ranked) < 2 {
		return nil
	}
	a := &c.Ranked[0]
	e := &BreakEven{First: a.Name, firstGPU: a.Labels.GPU}
	if i := slices.IndexFunc(c.Ranked, func(k Candidate) bool { return k.Labels.GPU != a.Labels.GPU }); i > 0 {
		b := &c.Ranked[i]
		e.Other, e.otherGPU = b.Name, b.Labels.GPU
		e.FirstPrice = rundir.Exactly(b.Hour.Value() / float64(a.GPUs))
		e.OtherPrice = rundir.Exactly(a.Hour.Value() / float64(b.GPUs))
	}
	for i := range c.Ranked[1:] {
		b := &c.Ranked[i+1]
		above, below := breakEvenDemands(a, b, o)
		if above.Known() && (!e.Above.Known() || above.Value() < e.Above.Value()) {
			e.Above, e.AboveFirst = above, b.Name
		}
		if below.Known() && (!e.Below.Known() || below.Value() > e.Below.Value()) {
			e.Below, e.BelowFirst = below, b.Name
		}
	}
	return e
}

// breakEvenDemands returns the nearest demands at which b costs less than a. Costs are step functions of the demand:
// above it, b can become cheaper only where a needs another replica; below it, only where b needs one less.
func breakEvenDemands(a, b *Candidate, o Options) (above, below rundir.Number) {
	unit := func(k *Candidate) float64 {
		v, _ := o.Demand.capacity(&k.limit)
		return v * (1 - o.Headroom)
	}
	cost := func(k *Candidate, demand float64) float64 {
		return math.Ceil(demand/unit(k)-1e-9) * float64(k.Labels.GPUs) * k.Price
	}
	for n := a.Replicas; float64(n)*unit(a) <= demandRange*o.Demand.Amount; n++ {
		if d := float64(n) * unit(a) * (1 + 1e-6); cost(b, d) < cost(a, d) {
			above = rundir.Exactly(float64(n) * unit(a))
			break
		}
	}
	for n := b.Replicas - 1; n > 0 && float64(n)*unit(b) >= o.Demand.Amount/demandRange; n-- {
		if d := float64(n) * unit(b); cost(b, d) < cost(a, d) {
			below = rundir.Exactly(d)
			break
		}
	}
	return above, below
}
