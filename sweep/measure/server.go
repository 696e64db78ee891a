package measure

import (
	"math"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// serverLoad sums up the server's gauges within a window; nil where there are none.
func serverLoad(readings []load.Reading, w Window) *rundir.Server {
	var within []load.Gauges
	for _, r := range readings {
		if w.HoldsAt(r.At) {
			within = append(within, r.Gauges)
		}
	}
	if len(within) == 0 {
		return nil
	}
	mean := func(of func(load.Gauges) float64) rundir.Number {
		sum := 0.0
		for _, g := range within {
			sum += of(g)
		}
		return rundir.Exactly(sum / float64(len(within))) // NaN where the server does not say it
	}
	most := func(of func(load.Gauges) float64) rundir.Number {
		top := math.Inf(-1)
		for _, g := range within {
			top = math.Max(top, of(g))
		}
		return rundir.Exactly(top)
	}
	first, last := within[0], within[len(within)-1]
	running := func(g load.Gauges) float64 { return g.Running }
	waiting := func(g load.Gauges) float64 { return g.Waiting }
	usage := func(g load.Gauges) float64 { return g.KVUsage }
	server := &rundir.Server{
		Running: mean(running), RunningMax: most(running), Waiting: mean(waiting), WaitingMax: most(waiting),
		KVUsage: mean(usage), KVUsageMax: most(usage), Preemptions: rundir.Exactly(last.Preemptions - first.Preemptions),
	}
	if queries := last.PrefixQueries - first.PrefixQueries; queries > 0 {
		server.PrefixHitRate = rundir.Exactly((last.PrefixHits - first.PrefixHits) / queries)
	}
	return server
}
