package measure

import (
	"math"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

func serverLoad(readings []load.Reading, w Window) *rundir.Server {
	var within []load.Gauges
	var at []time.Duration
	for _, r := range readings {
		if w.HoldsAt(r.At) {
			within, at = append(within, r.Gauges), append(at, r.At)
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
	if drafted, drafts := last.Drafted-first.Drafted, last.Drafts-first.Drafts; drafted > 0 && drafts > 0 {
		accepted := last.Accepted - first.Accepted
		server.AcceptRate, server.AcceptLength = rundir.Exactly(accepted/drafted), rundir.Exactly(1+accepted/drafts)
	} else if last.AcceptLength >= 1 {
		server.AcceptRate = mean(func(g load.Gauges) float64 { return g.AcceptRate })
		server.AcceptLength = mean(func(g load.Gauges) float64 { return g.AcceptLength })
	}
	behind, n := 0.0, 0.0
	for _, g := range within {
		if g.Waiting > 0 {
			behind, n = behind+g.Running*g.Waiting, n+g.Waiting
		}
	}
	server.RunningBehind = rundir.Exactly(behind / n)
	if last.KVTokens > 0 {
		server.KVTokens = rundir.Exactly(last.KVTokens)
	}
	server.TTFT, server.Queue, server.ITL, server.Latency =
		meanSince(first.TTFT, last.TTFT), meanSince(first.Queue, last.Queue), meanSince(first.ITL, last.ITL),
		meanSince(first.Latency, last.Latency)
	if steps := last.Steps - first.Steps; steps > 0 {
		server.Steps = rundir.Exactly(steps / (at[len(at)-1] - at[0]).Seconds())
	}
	return server
}

// meanSince is absent where there is no new value, and where the server began again.
func meanSince(first, last load.Tally) rundir.Number {
	n, sum := last.Count-first.Count, last.Sum-first.Sum
	if n <= 0 || sum < 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(sum / n)
}
