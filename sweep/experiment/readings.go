package experiment

import (
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// readings returns the readings of a stage as a run directory keeps them. What the server does not tell is NaN, and
// absent there.
func readings(stage string, all []load.Reading) []rundir.Reading {
	var kept []rundir.Reading
	for _, r := range all {
		kept = append(kept, rundir.Reading{
			Stage: stage, At: r.At.Seconds(), Running: rundir.Exactly(r.Running), Waiting: rundir.Exactly(r.Waiting),
			KVUsage: rundir.Exactly(r.KVUsage), Preemptions: rundir.Exactly(r.Preemptions),
		})
	}
	return kept
}
