package experiment

import (
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// readingsKeeper is a [Log] that keeps what the server said of its load: a run directory.
type readingsKeeper interface {
	AppendReadings([]rundir.Reading) error
}

// keep returns what keeps the readings of a stage; nil for a log that keeps none.
func keep(log Log, stage string) func([]load.Reading) error {
	keeper, ok := log.(readingsKeeper)
	if !ok {
		return nil
	}
	return func(all []load.Reading) error { return keeper.AppendReadings(readings(stage, all)) }
}

// readings returns the readings of a stage as a run directory keeps them. What the server does not tell is NaN, and absent there.
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
