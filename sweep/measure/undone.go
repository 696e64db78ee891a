package measure

import (
	"math"

	"llmsweep/sweep/rundir"
)

// undone is work that a stage's requests asked for and did not get: they were refused, failed, or timed out.
type undone struct {
	failed, ended int
	tolerance     float64 // of the share that counts as none
}

// judge changes a verdict on the backlog where requests went undone. A backlog also stays level where the server refuses what is too
// much. So a stage is stable only if the work is done: the upper bound of the undone share lies below the tolerance. It is shedding
// where the lower bound lies above what chance failures explain.
func (u undone) judge(verdict string) string {
	// A fifth of the tolerance, 1 %, is put down to chance: a server that is below its limit refuses a few requests in a burst of
	// arrivals. Above the whole tolerance the work is not done whatever the backlog does.
	const chance = 0.2
	if u.failed == 0 || u.ended == 0 || verdict == rundir.Saturated {
		return verdict
	}
	low, high := u.bounds()
	switch {
	case low > u.tolerance, verdict == rundir.Stable && low > chance*u.tolerance:
		return rundir.Shedding
	case high >= u.tolerance:
		return rundir.Undecided
	}
	return verdict
}

// bounds returns a 95 % interval of the undone share (Wilson, Journal of the American Statistical Association 22 (1927)). Refusals come in
// clusters, while the server is full: two of them are worth one.
func (u undone) bounds() (low, high float64) {
	const z, cluster = 1.96, 2
	n := float64(u.ended) / cluster
	p := float64(u.failed) / float64(u.ended)
	centre := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (centre - half) / (1 + z*z/n), (centre + half) / (1 + z*z/n)
}
