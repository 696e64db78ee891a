package rundir

import "llmsweep/client/note"

// SLOVerdict is whether a term, or all terms, of a service level objective are kept.
type SLOVerdict string

// Whether terms are kept.
const (
	Unsure SLOVerdict = "unsure" // the metric is absent, or what was measured shows neither
	Met    SLOVerdict = "kept"
	Missed SLOVerdict = "broken"
)

// Goodput is how much of a stage's work met the objectives, and whether the stage as a whole met them.
type Goodput struct {
	Rate  Number `json:"rate,omitzero"`  // requests per second that ended in the window and met every term
	Share Number `json:"share,omitzero"` // of those due in the window
	// requests due in the window that cannot be judged; then Share is a lower bound
	Unknown int `json:"unknown,omitempty"`
	// Tokens is the output tokens per second of the requests that Rate counts; absent where they were not counted.
	Tokens Number `json:"tokens_per_s,omitzero"`

	// on the stage as a whole: "kept", "broken" or "unsure"; earlier versions wrote "unknown" for "unsure"
	Verdict SLOVerdict   `json:"verdict"`
	Terms   []TermResult `json:"terms"`
}

// TermResult is one term and its value in a stage.
type TermResult struct {
	Term    string     `json:"term"` // "ttft:p99<500ms"
	Verdict SLOVerdict `json:"verdict"`
	// Value is in seconds; of a speed seconds per token; of errors and stalls a share, of answers and sessions the
	// share that misses.
	Value Number `json:"value,omitzero"`
	// Unknown is why the stage does not tell the metric; zero where it does.
	Unknown note.Note `json:"unknown,omitzero"`
	// Beyond is what the verdict on a percentile or a share of errors rests on; absent for a mean, and in directories
	// of earlier versions.
	Beyond *Beyond `json:"beyond,omitempty"`
	// Needs is how many more requests would decide the term, if the share beyond its limit stayed as it is.
	Needs int `json:"needs_requests,omitempty"`
}

// Beyond counts the values of a stage that lie beyond the limit of a term: requests, or for gaps between tokens the
// gaps of all requests.
type Beyond struct {
	Count int `json:"count"`
	// Open counts the values that were cut off below the limit: they may lie on either side of it.
	Open int    `json:"open,omitempty"`
	Of   int    `json:"of"`             // all values
	Neff Number `json:"n_eff,omitzero"` // the number of independent values that they are worth
	// Low and High are bounds of the share beyond the limit, each of which holds with a probability of 95 %.
	Low  Number `json:"share_low,omitzero"`
	High Number `json:"share_high,omitzero"`
}

// SLO is the highest rate at which all objectives are met.
type SLO struct {
	Terms []string `json:"terms"`
	// Verdict is "kept" where there is a Rate, or a row that meets the terms; "broken" where the terms are missed at
	// the lowest rate that was measured, else "unsure". Absent in directories of earlier versions.
	Verdict SLOVerdict `json:"verdict,omitempty"`
	Rate    Number     `json:"rate,omitzero"` // arrivals per second; a lower bound where no stage missed a term
	Low     Number     `json:"low,omitzero"`  // 95 % interval; without a Rate, the range that it is in
	High    Number     `json:"high,omitzero"`
	// Goodput is the goodput at Rate, interpolated between the stages on either side.
	Goodput Number `json:"goodput,omitzero"`
	// KeptStage is the highest stage below Rate that met all terms, BrokenStage the lowest above it that did not.
	KeptStage   string `json:"kept_stage,omitempty"`
	BrokenStage string `json:"broken_stage,omitempty"`
	// ProofStage held a rate for as long as the holds of the saturation rate, and met all terms: the highest up to
	// Rate.
	ProofStage string `json:"proof_stage,omitempty"`
	// Limiting is the term that is missed above Rate, or LimitSaturation.
	Limiting string `json:"limiting_term,omitempty"`
	// Needs is how many more requests the stage NeedsStage must have to judge the terms; 0 where that is not the
	// reason.
	Needs      int       `json:"needs_requests,omitempty"`
	NeedsStage string    `json:"needs_stage,omitempty"`
	Reason     note.Note `json:"reason,omitzero"`
}
