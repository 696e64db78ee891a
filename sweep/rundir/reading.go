package rundir

// ReadingsFile holds what the server said of its load while it was measured, one reading a line. A run of a server that
// says nothing has none.
const ReadingsFile = "server.jsonl"

// Reading is the server's gauges at one instant of a stage, and a line of [ReadingsFile]. What the server does not tell
// is absent.
type Reading struct {
	Stage       string  `json:"stage"`
	At          float64 `json:"at"`                   // seconds from the stage's start
	Running     Number  `json:"running,omitzero"`     // requests
	Waiting     Number  `json:"waiting,omitzero"`     // requests
	KVUsage     Number  `json:"kv_usage,omitzero"`    // 0 to 1
	Preemptions Number  `json:"preemptions,omitzero"` // since the server started
}
