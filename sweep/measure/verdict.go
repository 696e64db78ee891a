package measure

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// DefaultTolerance is the share of the rate, or of the requests, below which growth and failures count as none. Package
// saturation takes it for shortened answers, too.
const DefaultTolerance = 0.05

// evidence is what a window shows of the rate of a stage. Growth is a share of the rate.
type evidence struct {
	backlog            rundir.Drift // growth of the backlog of all requests
	taken              bool         // the stage took over what the one before had left
	lasting            bool         // the backlog grows in the second half of the window too
	waits              rundir.Drift // growth of the waits of the part of the requests for which they grow most
	offered, completed float64      // output tokens per second; completed is an upper bound
}

// verdict leaves refusals to [failedShare.judge]. A rate is saturated where the backlog is proven to grow and less is
// completed than offered, or where the waits of a part are proven to grow faster than the backlog of all. It is stable
// where the upper bound of the growth is below the tolerance and none is proven.
func (e evidence) verdict(tolerance float64) rundir.Verdict {
	backlog, waits := e.backlog, e.waits
	if !backlog.Low.Known() {
		return rundir.Undecided
	}
	proven := backlog.Low.Value() > 0 || waits.Low.Or(0) > 0
	// the bounds of two growths that are measured independently of each other need no third proof
	both := backlog.Low.Value() > leastGrowth && waits.Low.Or(0) > leastGrowth
	switch {
	case e.lasting && both,
		e.lasting && backlog.Low.Value() > 0 && backlog.Value.Value() > leastGrowth && e.completed < e.offered,
		waits.Low.Or(0) > max(leastGrowth, backlog.Value.Value()):
		return rundir.Saturated
	// a backlog that falls is what piled up in a pause, or before the stage
	case backlog.High.Value() < tolerance && !proven && (e.taken || backlog.High.Value() > -tolerance):
		return rundir.Stable
	}
	return rundir.Undecided
}

// failedShare counts the requests of a stage that got no answer: they were refused, failed, or timed out.
type failedShare struct {
	failed    int
	refused   int     // of those that failed: turned away, or answered far shorter than asked
	ended     int     // failed or not
	tolerance float64 // a smaller share counts as none
}

// judge changes a verdict on growth where requests failed: the backlog of a server that refuses what is too much stays
// level, too. A stage is stable only where the upper bound of the failed share lies below the tolerance. It is shedding
// where the lower bound of the refused share lies above it.
func (f failedShare) judge(verdict rundir.Verdict) rundir.Verdict {
	if f.failed == 0 || f.ended == 0 || verdict == rundir.Saturated {
		return verdict
	}
	low, high := f.bounds()
	refused := f
	refused.failed = f.refused
	shed, _ := refused.bounds()
	switch {
	case low > f.tolerance && shed <= f.tolerance: // failures that are no answer to too much load
		return rundir.Undecided
	case low > f.tolerance:
		return rundir.Shedding
	case high >= f.tolerance:
		return rundir.Undecided
	}
	return verdict
}

// bounds returns a 95 % interval of the failed share (Wilson, Journal of the American Statistical Association 22
// (1927)). Refusals come in clusters while the server is full, so that two of them count as one.
func (f failedShare) bounds() (low, high float64) {
	const z, cluster = stats.Z95, 2
	n := float64(f.ended) / cluster
	p := float64(f.failed) / float64(f.ended)
	centre := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return (centre - half) / (1 + z*z/n), (centre + half) / (1 + z*z/n)
}
