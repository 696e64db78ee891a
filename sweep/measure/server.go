package measure

import (
	"math"
	"slices"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

func serverLoad(readings []load.Reading, w Window) *rundir.Server {
	readings = slices.DeleteFunc(slices.Clone(readings), func(r load.Reading) bool { return !w.HoldsAt(r.At) })
	if len(readings) == 0 {
		return nil
	}
	mean := func(gauge func(load.Reading) float64) rundir.Number {
		sum := 0.0
		for _, r := range readings {
			sum += gauge(r)
		}
		return rundir.Exactly(sum / float64(len(readings))) // NaN where the server does not say it
	}
	most := func(gauge func(load.Reading) float64) rundir.Number {
		top := math.Inf(-1)
		for _, r := range readings {
			top = math.Max(top, gauge(r))
		}
		return rundir.Exactly(top)
	}
	first, last := readings[0], readings[len(readings)-1]
	running := func(r load.Reading) float64 { return r.Running }
	waiting := func(r load.Reading) float64 { return r.Waiting }
	usage := func(r load.Reading) float64 { return r.KVUsage }
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
		server.AcceptRate = mean(func(r load.Reading) float64 { return r.AcceptRate })
		server.AcceptLength = mean(func(r load.Reading) float64 { return r.AcceptLength })
	}
	behind, n := 0.0, 0.0
	for _, r := range readings {
		if r.Waiting > 0 {
			behind, n = behind+r.Running*r.Waiting, n+r.Waiting
		}
	}
	server.RunningBehind = rundir.Exactly(behind / n)
	if last.KVTokens > 0 {
		server.KVTokens = rundir.Exactly(last.KVTokens)
	}
	server.TTFT, server.Queue = meanSince(first.TTFT, last.TTFT), meanSince(first.Queue, last.Queue)
	server.ITL, server.Latency = meanSince(first.ITL, last.ITL), meanSince(first.Latency, last.Latency)
	if steps := last.Steps - first.Steps; steps > 0 {
		server.Steps = rundir.Exactly(steps / (last.At - first.At).Seconds())
	}
	return server
}

// meanSince is absent where there is no new value, and where the server began again.
func meanSince(first, last client.Tally) rundir.Number {
	n, sum := last.Count-first.Count, last.Sum-first.Sum
	if n <= 0 || sum < 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(sum / n)
}
