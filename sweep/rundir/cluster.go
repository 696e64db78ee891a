package rundir

import "llmsweep/client/note"

// Where the ranks of a run came from.
const (
	SourceFlags      = "flags"      // --rank, --ranks and --coordinator
	SourceSlurm      = "slurm"      // the environment that srun sets
	SourceKubernetes = "kubernetes" // the environment of an Indexed Job
)

// Cluster is the ranks that sent the requests of a run. Rank 0 planned and concluded.
type Cluster struct {
	Source string `json:"source"`
	Ranks  []Rank `json:"ranks"`
}

// Rank is one of the processes that sent requests, over the whole run.
type Rank struct {
	Rank   int         `json:"rank"`
	Host   string      `json:"host,omitempty"`
	OS     string      `json:"os,omitempty"`
	CPUs   int         `json:"cpus,omitempty"`
	Lost   note.Note   `json:"lost,omitzero"`         // why it was left out from some stage on
	Clock  Clock       `json:"clock,omitzero"`        // against rank 0's; absent for rank 0
	LagP99 Number      `json:"lag_p99_s,omitzero"`    // the worst of its stages
	CPU    Number      `json:"cpu_fraction,omitzero"` // of all its cores, the worst of its stages
	Valid  bool        `json:"valid"`                 // it was fast enough in every stage
	Unfit  []note.Note `json:"unfit,omitempty"`       // where it was not
}

// Clock is what is known of a rank's clock. The offset is what has to be added to it to get the time of rank 0. Both lie between Low and
// High with certainty, if no clock drifts faster against another than [llmsweep/sweep/cluster/clock.MaxDrift].
type Clock struct {
	Offset    Number `json:"offset_s,omitzero"`
	Low       Number `json:"low_s,omitzero"`
	High      Number `json:"high_s,omitzero"`
	Drift     Number `json:"drift,omitzero"` // seconds per second; absent where the run was too short to know
	DriftLow  Number `json:"drift_low,omitzero"`
	DriftHigh Number `json:"drift_high,omitzero"`
	RoundTrip Number `json:"round_trip_s,omitzero"` // the shortest
	Exchanges int    `json:"exchanges,omitempty"`
}

// StageRanks is how the ranks held a stage together.
type StageRanks struct {
	N int `json:"n"` // ranks that sent
	// Alignment bounds the error of due times, in-flight and backlog: the largest error of a rank's clock over the stage, in seconds.
	// Latencies are of a rank's own clock, and have no such error.
	Alignment Number `json:"alignment_error_s,omitzero"`
	// Skew is the time between the earliest and the latest start of a rank, in seconds, by clocks with that error.
	Skew Number      `json:"start_skew_s,omitzero"`
	Each []StageRank `json:"each"`
}

// StageRank is one rank in a stage.
type StageRank struct {
	Rank     int    `json:"rank"`
	Requests int    `json:"requests"` // sent, the whole stage
	LagP99   Number `json:"lag_p99_s,omitzero"`
	CPU      Number `json:"cpu_fraction,omitzero"` // of all its cores
	GC       Number `json:"gc_fraction,omitzero"`  // of all its cores, spent on collecting garbage
	Late     Number `json:"late_s,omitzero"`       // its start after the common one
}
