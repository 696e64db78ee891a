package choose

import (
	"math"

	"llmsweep/sweep/rundir"
)

// BreakEven is the demand at which the first two cost the same.
type BreakEven struct {
	First  string `json:"first"`
	Second string `json:"second"`
	// The price of each one's GPU, the other's unchanged; absent where both use the same GPU.
	FirstPrice  rundir.Number `json:"first_gpu_hour,omitzero"`
	SecondPrice rundir.Number `json:"second_gpu_hour,omitzero"`
	// The nearest demands at which the second is cheaper, within a tenth to ten times; absent where there is none.
	Above               rundir.Number `json:"demand_above,omitzero"`
	Below               rundir.Number `json:"demand_at_or_below,omitzero"`
	everywhere          bool          // the second is cheaper at all demands from Below down to a tenth
	firstGPU, secondGPU string
}

// demandRange bounds the search for a break-even, as a factor of the demand.
const demandRange = 10

// breakEven returns the break-even of the first two of a ranking with prices.
func breakEven(c *Choice, o Options) *BreakEven {
	if !c.Priced || len(c.Ranked) < 2 {
		return nil
	}
	a, b := &c.Ranked[0], &c.Ranked[1]
	e := &BreakEven{First: a.Name, Second: b.Name, firstGPU: a.Labels.GPU, secondGPU: b.Labels.GPU}
	if a.Labels.GPU != b.Labels.GPU {
		e.FirstPrice = rundir.Exactly(b.Hour.Value() / float64(a.GPUs))
		e.SecondPrice = rundir.Exactly(a.Hour.Value() / float64(b.GPUs))
	}
	e.Above, e.Below, e.everywhere = demandEven(a, b, o)
	return e
}

// demandEven returns the nearest demands at which b costs less than a. Costs are step functions of the demand. Above it, b can become
// cheaper only where a needs another replica; below it, only where b needs one less.
func demandEven(a, b *Candidate, o Options) (above, below rundir.Number, everywhere bool) {
	unit := func(k *Candidate) float64 {
		v, _ := o.Demand.of(&k.limit)
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
	least := o.Demand.Amount / demandRange
	for n := b.Replicas - 1; n > 0 && float64(n)*unit(b) >= least; n-- {
		if d := float64(n) * unit(b); cost(b, d) < cost(a, d) {
			below = rundir.Exactly(d)
			break
		}
	}
	if !below.Known() {
		return above, below, false
	}
	everywhere = cost(b, least) < cost(a, least)
	for n := 1; float64(n)*unit(a) <= below.Value(); n++ { // where a is cheapest for what it serves
		everywhere = everywhere && (float64(n)*unit(a) < least || cost(b, float64(n)*unit(a)) < cost(a, float64(n)*unit(a)))
	}
	for n := 1; float64(n)*unit(b) < below.Value(); n++ { // where b has just taken another replica
		d := float64(n) * unit(b) * (1 + 1e-6)
		everywhere = everywhere && (d < least || cost(b, d) < cost(a, d))
	}
	return above, below, everywhere
}
