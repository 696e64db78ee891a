package saturation

import "llmsweep/sweep/rundir"

// limitByGauges returns what a saturated server ran out of, as far as its gauges tell: [rundir.LimitKV] where the KV
// cache was full or requests were preempted; [rundir.LimitSlots] where as many ran as ever do and others waited, with
// room in the cache; [rundir.LimitCompute] where almost none waited, so that all shared the processors. A gauge that
// stays at none running tells nothing.
func limitByGauges(s *rundir.Server) string {
	switch {
	case s == nil || !s.Running.Known() || !s.Waiting.Known() || s.RunningMax.Or(0) < 1:
		return ""
	case s.Preemptions.Value() > 0, s.KVUsageMax.Value() >= fullCache && s.Waiting.Value() >= minWaiting:
		return rundir.LimitKV
	case s.Waiting.Value() >= minWaiting && s.Running.Value() >= fullBatch*s.RunningMax.Value():
		return rundir.LimitSlots
	case s.Waiting.Value() < minWaiting && s.Running.Value() > 1:
		return rundir.LimitCompute
	}
	return ""
}

// flatStage returns a valid stage with at most [halfBatch] of the requests that ran in the stage at, and as much
// output; nil where none has.
func flatStage(run *rundir.Run, at *rundir.Stage) *rundir.Stage {
	for i := range run.Stages {
		s := &run.Stages[i]
		if s.Invalid.IsZero() && s.Concurrency.Mean.Known() && s.TokensPerS.Output.Known() &&
			s.Concurrency.Mean.Value() <= halfBatch*at.Server.RunningMax.Value() &&
			s.TokensPerS.Output.Value() >= fullBatch*at.TokensPerS.Output.Value() {
			return s
		}
	}
	return nil
}
