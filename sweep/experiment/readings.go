package experiment

import (
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// saveReadings returns what keeps the readings of a stage.
func saveReadings(log Log, stage string) func([]load.Reading) error {
	return func(all []load.Reading) error { return log.AppendReadings(readings(stage, all)) }
}

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
