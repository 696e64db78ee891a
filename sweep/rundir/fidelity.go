package rundir

import "llmsweep/client/note"

// CanariesFile holds the answers to canaries, one a line. A run without canaries has none.
const CanariesFile = "canaries.jsonl"

// FidelityVerdict is whether answers to canaries differ. It is empty where none were compared.
type FidelityVerdict string

// Verdicts on the answers of a stage or a run.
const (
	FidelitySame      FidelityVerdict = "same"
	FidelityTies      FidelityVerdict = "same_except_ties" // they differ only where two tokens were nearly as likely
	FidelityDiffers   FidelityVerdict = "differs_under_load"
	FidelityChanged   FidelityVerdict = "differs" // from a baseline
	FidelityUndecided FidelityVerdict = "undecided"
)

// Estimate is a mean or a share, with its 95 % interval.
type Estimate struct {
	N    int    `json:"n"` // values
	Mean Number `json:"mean,omitzero"`
	Low  Number `json:"low,omitzero"`
	High Number `json:"high,omitzero"`
}

// Fidelity is what the canaries of a run show: prompts that are asked alone, alone again, and in every stage.
type Fidelity struct {
	Canaries int             `json:"canaries"`
	Set      string          `json:"set"`             // fingerprint of the prompts: runs with the same can be compared
	Tokens   int             `json:"tokens"`          // of an answer at most
	Share    Number          `json:"share,omitzero"`  // of the requests of a stage
	LogProbs bool            `json:"logprobs"`        // the server sends log-probabilities; else texts are compared
	Alone    Agreed          `json:"alone"`           // the answers of the second time alone, compared with the first: the null
	Load     Agreed          `json:"load"`            // all stages together
	Verdict  FidelityVerdict `json:"verdict"`         // of the answers under load
	Stage    string          `json:"stage,omitempty"` // where the difference begins; empty where no single stage shows it
	// Needs is how many canaries show it with a probability of 80 % when one answer in a hundred is changed in a stage. Detects is the share that
	// this run's canaries show so.
	Needs   int         `json:"needs_canaries,omitempty"`
	Detects Number      `json:"detects,omitzero"`
	Notes   []note.Note `json:"notes,omitempty"`
}

// Agreed is how far answers agree with those of the first time alone.
type Agreed struct {
	Answers  int `json:"answers"`
	Failed   int `json:"failed,omitempty"`   // requests without an answer; they are not compared
	Canaries int `json:"canaries,omitempty"` // that were asked at least once
	// Same is the share of answers that are equal token for token.
	Same Estimate `json:"same"`
	// Ties and Changes count the others: those whose first difference is at a place where the two tokens were within 0.1 nat, and those
	// where they were not. Without log-probabilities neither is known.
	Ties    int `json:"ties,omitempty"`
	Changes int `json:"changes,omitempty"`
	Unknown int `json:"unknown,omitempty"`
	// First is the position of the first difference in tokens, from 0, over the answers that differ.
	First Estimate `json:"first_difference,omitzero"`
	// Shift is the mean distance of the tokens' log-probabilities, in nats, and KL the mean divergence of the most likely tokens, in nats, both up to
	// the first difference.
	Shift     Estimate `json:"logprob_shift,omitzero"`
	KL        Estimate `json:"kl,omitzero"`
	Length    Estimate `json:"length_shift,omitzero"` // in tokens
	Malformed Estimate `json:"malformed,omitzero"`    // share of the answers with broken characters, a loop, or nothing
	// P is the probability of at least this number of differences if load changes nothing, PChanges that of the changes.
	P        Number `json:"p,omitzero"`
	PChanges Number `json:"p_changes,omitzero"`
	// More bounds how much larger the share of answers that differ is than alone, with a probability of 95 %.
	More    Number          `json:"more_at_most,omitzero"`
	Verdict FidelityVerdict `json:"verdict,omitempty"`
}

// Differing returns how many answers differ.
func (a *Agreed) Differing() int { return a.Ties + a.Changes + a.Unknown }

// Likely is a likely token and its log-probability in nats.
type Likely struct {
	Token string  `json:"t"`
	LogP  float64 `json:"p"`
}

// CanaryAnswer is the answer to a canary, and a line of [CanariesFile]. Those of the first time alone are whole. Of others, what equals the first
// time is left out.
type CanaryAnswer struct {
	Stage  string `json:"stage"`
	Canary int    `json:"canary"` // its number, from 0
	Seq    int    `json:"seq"`    // as in records.jsonl
	Failed string `json:"failed,omitempty"`

	Same   bool   `json:"same,omitempty"`  // as the first time
	First  Number `json:"first,omitzero"`  // the first difference, in tokens from 0
	Kind   string `json:"kind,omitempty"`  // of the difference: "tie", "change" or "unknown"
	Shift  Number `json:"shift,omitzero"`  // of the log-probabilities, up to it
	KL     Number `json:"kl,omitzero"`     // of the likely tokens, up to it
	Length Number `json:"length,omitzero"` // in tokens, more than the first time

	Malformed bool       `json:"malformed,omitempty"`
	Text      string     `json:"text,omitempty"`
	Output    int        `json:"output_tokens,omitempty"`
	Tokens    []string   `json:"tokens,omitempty"`
	LogProbs  []float64  `json:"logprobs,omitempty"`
	Top       [][]Likely `json:"top,omitempty"`
}
