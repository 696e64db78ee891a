package measure

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Undone counts requests that a stage sent and got no answer to: they were refused, failed, or timed out.
type Undone struct {
	Failed    int
	Refused   int     // of those that failed: turned away, or answered far shorter than asked
	Ended     int     // failed or not
	Tolerance float64 // a smaller share counts as none
}

// Judge changes a verdict on the backlog where requests went undone: the backlog of a server that refuses what is too
// much stays level, too. A stage is stable only where the upper bound of the undone share lies below the tolerance. It
// is shedding where the lower bound lies above what chance explains.
func (u Undone) Judge(verdict rundir.Verdict) rundir.Verdict {
	if u.Failed == 0 || u.Ended == 0 || verdict == rundir.Saturated {
		return verdict
	}
	low, high := u.bounds()
	refused := u
	refused.Failed = u.Refused
	shed, _ := refused.bounds()
	switch {
	case low > u.Tolerance && shed <= u.Tolerance: // failures that are no answer to too much load
		return rundir.Undecided
	case low > u.Tolerance:
		return rundir.Shedding
	case high >= u.Tolerance:
		return rundir.Undecided
	}
	return verdict
}

// bounds returns a 95 % interval of the undone share (Wilson, Journal of the American Statistical Association 22
// (1927)). Refusals come in clusters while the server is full, so that two of them count as one.
func (u Undone) bounds() (low, high float64) {
	const z, cluster = stats.Z95, 2
	n := float64(u.Ended) / cluster
	p := float64(u.Failed) / float64(u.Ended)
	centre := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (centre - half) / (1 + z*z/n), (centre + half) / (1 + z*z/n)
}
