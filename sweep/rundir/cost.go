package rundir

// TokenCost is what a million output tokens cost.
type TokenCost struct {
	AtLoad       Number `json:"at_load,omitzero"` // at the load that the answer recommends; absent without one
	AtSaturation Number `json:"at_saturation"`
}

// CostOfMillion returns what a million tokens cost at so many a second, by the cost of an hour.
func CostOfMillion(hour, perSecond float64) float64 { return hour / (perSecond * 3600) * 1e6 }
