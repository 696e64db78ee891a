package rundir

// CostOfMillion returns what a million tokens cost at so many a second, by the cost of an hour.
func CostOfMillion(hour, perSecond float64) float64 { return hour / (perSecond * 3600) * 1e6 }
