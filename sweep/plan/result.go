package plan

import ()

// Schema names the JSON form of a Result.
const Schema = "llmsweep.plan/v1"

// CapacityResult is the plans of all candidates, the cheapest first.
type CapacityResult struct {
	Schema   string   `json:"schema"`
	Demand   Demand   `json:"demand"`
	SLO      []string `json:"slo"`
	Router   Router   `json:"router"`
	Headroom float64  `json:"headroom"`
	Lost     int      `json:"lost_replicas"`
	Minutes  float64  `json:"minutes_wanted"`
	// Draws is how many other servers were simulated for the ranges; without any there are none.
	Draws   int            `json:"draws"`
	Ranked  []CapacityPlan `json:"ranked"`
	Refused []RefusedTwin  `json:"refused,omitempty"`
	// PricesUnused are the GPUs that have a price, and of which no twin is.
	PricesUnused []string `json:"prices_unused,omitempty"`
}

// Demand is what the requests come to.
type Demand struct {
	Requests int           `json:"requests"`
	Seconds  float64       `json:"seconds"`
	Rate     float64       `json:"rate"`
	Peak     float64       `json:"peak_rate"` // of the busiest minute
	Prompt   DemandLengths `json:"prompt_tokens"`
	Output   DemandLengths `json:"output_tokens"`
}

// RateRange is a number with the lowest and the highest that the draws give.
type RateRange struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (r *RateRange) include(v float64) { r.Low, r.High = min(r.Low, v), max(r.High, v) }

func exactly(v float64) RateRange { return RateRange{v, v, v} }

// CapacityPlan is the smallest fleet of a candidate that keeps the objectives. All of it is predicted.
type CapacityPlan struct {
	Name         string    `json:"name"`
	Check        *float64  `json:"check_error,omitempty"` // of output rates and mean gaps of held-out stages; absent where there was no check
	Failed       bool      `json:"check_failed,omitempty"`
	Extrapolated bool      `json:"extrapolated,omitempty"` // lengths beyond those that were measured
	Replicas     RateRange `json:"replicas"`               // at the most
	// Unbounded reports that for a draw not even the most replicas that were tried are enough: the upper ends of the ranges are lower bounds.
	Unbounded    bool           `json:"range_unbounded,omitempty"`
	Mean         float64        `json:"replicas_mean"` // paid
	GPUs         int            `json:"gpus"`          // at the most
	Hour         *RateRange     `json:"cost_per_hour,omitempty"`
	Month        *RateRange     `json:"cost_per_month,omitempty"`
	Held         RateRange      `json:"minutes_held"` // share
	HeldLost     *RateRange     `json:"minutes_held_without_lost,omitempty"`
	LostAnswers  int            `json:"answers_cut_off,omitempty"`
	RefusedShare float64        `json:"refused_share,omitempty"`
	First        Break          `json:"breaks_first"`
	Sizes        []Size         `json:"sizes"`
	Over         []CapacitySpan `json:"over_time"`
	OverLost     []CapacitySpan `json:"over_time_without_lost,omitempty"`
	LostAt       float64        `json:"lost_at_s,omitempty"` // when the replicas are lost, since the beginning
	ScaleAt      float64        `json:"scale_at_in_flight,omitempty"`
	WhatIfs      []WhatIf       `json:"what_ifs,omitempty"`

	perHour float64 // of a replica
}

// Break is what happens first when more requests come.
type Break struct {
	Times float64 `json:"times"` // as many requests; 0 where nothing breaks at as many as were tried
	Term  string  `json:"term,omitempty"`
	Cause string  `json:"cause,omitempty"`
}

// Why an objective breaks.
const (
	CauseSlots = "slots" // requests wait because all slots are taken
	CauseCache = "cache" // requests wait, or are computed again, because the KV cache is full
	CauseSteps = "steps" // prompts wait because the token budget of a step is used up
	causeSpeed = "speed" // none of these: steps take too long
)

// Size is a number of replicas that was tried.
type Size struct {
	Replicas int     `json:"replicas"`
	Held     float64 `json:"minutes_held"` // with the headroom, and without the lost replicas
	Enough   bool    `json:"enough"`
	Hour     float64 `json:"cost_per_hour,omitempty"`
}

// CapacitySpan is a part of the time.
type CapacitySpan struct {
	From     float64 `json:"from_s"`
	Rate     float64 `json:"rate"`
	Mean     float64 `json:"replicas_mean"`
	Least    int     `json:"replicas_min"`
	Most     int     `json:"replicas_max"`
	InFlight float64 `json:"in_flight_mean"`
	Held     float64 `json:"minutes_held"`
	// Worst is the worst minute's value for each term of the objective, in its order: seconds, or a share; null where answers never came; absent without requests.
	Worst []*float64 `json:"worst,omitempty"`
}

// WhatIf is a plan under a change.
type WhatIf struct {
	Change       string  `json:"change"`
	Extrapolated bool    `json:"extrapolated,omitempty"`
	Replicas     int     `json:"replicas,omitempty"` // 0: not even as many as were tried
	Hour         float64 `json:"cost_per_hour,omitempty"`
	Refused      string  `json:"refused,omitempty"`
}

// RefusedTwin is a candidate without a plan.
type RefusedTwin struct {
	Name string `json:"name"`
	Why  string `json:"why"` // a code: those of package twin, or the following
}

// Why there is no plan.
const (
	RefusedCheck = "failed-check" // the twin failed its held-out check
	RefusedMost  = "too-many"     // not even the most replicas are enough
	RefusedPrice = "no-price"     // others have a price
)

// pay fills in the cost: replicas on the mean, and in proportion for the other sizes that the draws need.
func (p *CapacityPlan) pay() {
	if p.perHour == 0 {
		return
	}
	hour := p.Mean * p.perHour
	per := hour / p.Replicas.Value
	p.Hour = &RateRange{hour, per * p.Replicas.Low, per * p.Replicas.High}
	const hours = 365 * 24 / 12 // of a month
	p.Month = &RateRange{hours * p.Hour.Value, hours * p.Hour.Low, hours * p.Hour.High}
	for i := range p.WhatIfs {
		p.WhatIfs[i].Hour = float64(p.WhatIfs[i].Replicas) * p.perHour
	}
}
