package slo

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// NeedsCanaries returns how many different canaries, each asked in a stage, would decide a limit on the answers that differ, if their share stayed
// as it is. Asking the same canary again tells nothing new. It is 0 for another metric, where the term is decided, where no canary was answered, and
// where no number of canaries that is of use would do.
func (t Term) NeedsCanaries(s *rundir.Stage) int {
	c, ok := t.count(s)
	if !ok || t.Metric != Fidelity || t.Holds(s) != rundir.Unsure {
		return 0
	}
	need := stats.NeededForShare(c.beyond/c.of, t.tail(), level, c.of*c.worth(), mostCanaries)
	if math.IsInf(need, 0) {
		return 0
	}
	return int(need)
}
