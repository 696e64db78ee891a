package rundir

import "llmsweep/client/note"

// Answer is what a sweep found: the only source of its sentences and large numbers. Every report renders it, and none
// computes a rate, an interval or a percentile of its own. Rates are requests per second.
type Answer struct {
	Kind AnswerKind `json:"kind"`
	// a lower bound where Kind is "at_least"; absent where it is "between" or "none"
	Rate Number `json:"rate,omitzero"`
	Low  Number `json:"low,omitzero"` // 95 % interval; where Kind is "between", what is known instead of a rate
	High Number `json:"high,omitzero"`
	// Needed is how long a sweep of this server takes until its answer is known, in seconds; absent where it is known,
	// and where the sweep was given as long.
	Needed Number `json:"needed_s,omitzero"`
	// Guess is what the throughput stage completed per second: no bound, and no answer.
	Guess Number `json:"guess,omitzero"`
	// Output is the output tokens per second at Rate.
	Output Number `json:"output_tokens_per_s,omitzero"`
	// Overload is what the server completes per second at a rate above High, where that is less than Low; absent
	// elsewhere.
	Overload Number `json:"overload,omitzero"`
	// Limit is what the server ran out of in LimitStage, by its own gauges; empty where that is not known.
	Limit      string `json:"limit,omitempty"`
	LimitStage string `json:"limit_stage,omitempty"`
	// LimitFlat is a stage of about half as many requests in flight with as much output; where there is one, a larger
	// batch would not help.
	LimitFlat string `json:"limit_flat_stage,omitempty"`
	// Quota is the limit on the rate that the server or a gateway before it has; nil where none is shown.
	Quota *Quota `json:"quota,omitempty"`

	// Comfortable is how the server feels below its limit; absent where no rows surround that rate.
	Comfortable *Comfortable `json:"comfortable,omitempty"`
	// Promise is the highest rate that meets the SLO; absent without one. It is the rate and interval of the run's SLO.
	Promise *SLOAnswer `json:"slo,omitempty"`
	// Carried is how many users the server carries: the answer of a sweep by users, which has no rate; absent in
	// others.
	Carried *UserCapacity `json:"carried,omitempty"`
	// Cautions are what a reader must know first, the weightiest first: three at most.
	Cautions []note.Note `json:"cautions,omitempty"`
}

// AnswerKind is what the rate of an answer is.
type AnswerKind string

// The kinds of answers.
const (
	Saturates    AnswerKind = "saturates" // what is completed when more arrives
	Sustains     AnswerKind = "sustains"  // the highest rate that is kept up with: when more arrives, less is completed
	Accepts      AnswerKind = "accepts"   // what is not refused
	AtLeast      AnswerKind = "at_least"  // a lower bound: no limit was found
	Between      AnswerKind = "between"   // only known to lie between Low and High
	AtMost       AnswerKind = "at_most"   // only High is known: no rate was sustained
	Unanswerable AnswerKind = "none"      // nothing is known of it
	Carries      AnswerKind = "carries"   // users and no rate: see Carried
)

// Comfortable is the latency at a rate that leaves room for a busy minute: 80 % of the saturation rate, or the highest
// rate that meets the SLO where that is lower. Times are in seconds, interpolated between the rows next to that rate;
// each is absent where one of the rows lacks it.
type Comfortable struct {
	Rate        Number   `json:"rate"`             // offered
	BySLO       bool     `json:"by_slo,omitempty"` // the SLO limits it
	TTFTMean    Number   `json:"ttft_mean_s,omitzero"`
	TTFTP90     Number   `json:"ttft_p90_s,omitzero"`
	ITLMean     Number   `json:"itl_mean_s,omitzero"`
	LatencyMean Number   `json:"latency_mean_s,omitzero"`
	LatencyP90  Number   `json:"latency_p90_s,omitzero"` // of answers in one piece, which have no TTFT
	Stages      []string `json:"stages"`                 // the rows, from low to high: one or two
}

// SLOAnswer is the highest rate that meets the terms of an SLO.
type SLOAnswer struct {
	Terms   []string   `json:"terms"`
	Verdict SLOVerdict `json:"verdict,omitempty"`
	Rate    Number     `json:"rate,omitzero"`
	Low     Number     `json:"low,omitzero"`
	High    Number     `json:"high,omitzero"`
}

// Met reports whether some rate meets the terms.
func (p *SLOAnswer) Met() bool { return !p.Rate.IsZero() || p.Verdict == Met }

// LimitSaturation is the limit of objectives that are met up to the saturation rate.
const LimitSaturation = "saturation"

// Saturation is the highest rate that the server sustains, in requests per second.
type Saturation struct {
	Rate   Number    `json:"rate,omitzero"` // absent where the bracket is too wide to be called an answer
	Low    Number    `json:"low,omitzero"`  // what is sustained at least,
	High   Number    `json:"high,omitzero"` // and at most
	Output Number    `json:"output_tokens_per_s,omitzero"`
	Reason note.Note `json:"reason,omitzero"` // what was seen in FailedStage
	// Cautions are what a reader of the rate must know.
	Cautions []note.Note `json:"cautions,omitempty"`
	// Limit is what the server ran out of in LimitStage, by its own gauges; empty where that is not known.
	Limit      string `json:"limit,omitempty"`
	LimitStage string `json:"limit_stage,omitempty"`
	// LimitFlat is a stage of about half as many requests in flight with as much output; where there is one, a larger
	// batch would not help.
	LimitFlat string `json:"limit_flat_stage,omitempty"`

	// Quota is the limit on the rate that the server or a gateway before it has; nil where none is shown.
	Quota *Quota `json:"quota,omitempty"`

	// Overload is what the server completes per second when more arrives than it sustains; absent where that is no
	// less.
	Overload Number `json:"overload,omitzero"`

	// The two holds of the bracket, and the rates that were asked for in them.
	KeptStage       string `json:"kept_stage,omitempty"`
	FailedStage     string `json:"failed_stage,omitempty"`
	HighestStable   Number `json:"highest_stable,omitzero"`
	LowestSaturated Number `json:"lowest_saturated,omitzero"`
}
