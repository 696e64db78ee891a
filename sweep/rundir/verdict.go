package rundir

// VerdictSchema names the version of a Conclusion's JSON.
const VerdictSchema = "llmsweep.verdict/v1"

// Conclusion is what --format verdict prints of a run, a comparison, a choice or a plan, for programs that decide by
// it. It renders the answer that the other formats have in words, and holds no number that they do not have.
type Conclusion struct {
	Schema  string `json:"schema"`
	Subject string `json:"subject,omitempty"` // the configuration that it is about
	Against string `json:"against,omitempty"` // the configuration that it is compared with
	// Verdict is "measured" where the question was how much, and Value is the answer; "bounded" where only Low, or Low
	// and High, are known of it; "met" or "missed" of the SLO, or of all gates; "differs" or "no_difference", of
	// Subject from Against; "chosen" where Subject meets the demand, "none" where nothing does; "undecided" where the
	// evidence is too weak for any of these, and "failed" where the measurement failed.
	Verdict Decision `json:"verdict" enum:"measured,bounded,met,missed,differs,no_difference,chosen,none,undecided,failed"`
	Claim   string   `json:"claim"` // Verdict in a sentence of English
	// MayClaim is what the evidence supports: "estimate", Value to within Low and High; "value", Value as this one
	// measurement or document has it; "bound", not below Low and, where it is known, not above High; "slo", Verdict
	// without a number; "difference", that the configurations differ, by Value to within Low and High;
	// "difference_of_runs", that these two runs differ, and not that their configurations do; "no_difference", that
	// none was shown, and not that there is none; "nothing".
	MayClaim Evidence `json:"may_claim" enum:"estimate,value,bound,slo,difference,difference_of_runs,no_difference,nothing"`
	// Metric is what Value, Low and High are of. Of a comparison they are relative: 0.1 is 10 % more than Against, and
	// of errors the difference of the shares.
	Metric string `json:"metric,omitempty"`
	Unit   string `json:"unit,omitempty"`
	Value  Number `json:"value,omitzero"`
	Low    Number `json:"low,omitzero"` // 95 % interval, or what is known instead of a value
	High   Number `json:"high,omitzero"`
	// codes of the reasons and cautions, and the gates that are not met
	Because     []string `json:"because,omitempty"`
	NextCommand string   `json:"next_command,omitempty"` // what would decide more, for a POSIX shell
	Cost        *Cost    `json:"cost,omitempty"`         // of the measurement; absent where nothing was measured
	// Tokens is what a million output tokens cost, by the labels price and gpus; absent without them, and where no
	// saturation rate is known.
	Tokens *TokenCost `json:"cost_per_million_output_tokens,omitempty"`
}

// TokenCost is what a million output tokens cost.
type TokenCost struct {
	AtLoad       Number `json:"at_load,omitzero"` // at the load that the answer recommends; absent without one
	AtSaturation Number `json:"at_saturation"`
}

// CostOfMillion returns what a million tokens cost at so many a second, by the cost of an hour.
func CostOfMillion(hour, perSecond float64) float64 { return hour / (perSecond * 3600) * 1e6 }

// Cost is what a measurement took.
type Cost struct {
	Minutes  float64 `json:"minutes"`
	Requests int     `json:"requests"`       // those of its stages
	Money    Number  `json:"money,omitzero"` // in the unit of the prices; absent without them
}

// Decision is the verdict of a Conclusion.
type Decision string

// The decisions; see [Conclusion].
const (
	DecisionMeasured     Decision = "measured"
	DecisionBounded      Decision = "bounded"
	DecisionMet          Decision = "met"
	DecisionMissed       Decision = "missed"
	DecisionDiffers      Decision = "differs"
	DecisionNoDifference Decision = "no_difference"
	DecisionChosen       Decision = "chosen"
	DecisionNone         Decision = "none"
	DecisionUndecided    Decision = "undecided"
	DecisionFailed       Decision = "failed"
)

// Evidence is what the evidence of a Conclusion supports.
type Evidence string

// The kinds of evidence; see [Conclusion].
const (
	SupportsEstimate         Evidence = "estimate"
	SupportsValue            Evidence = "value"
	SupportsBound            Evidence = "bound"
	SupportsSLO              Evidence = "slo"
	SupportsDifference       Evidence = "difference"
	SupportsDifferenceOfRuns Evidence = "difference_of_runs"
	SupportsNoDifference     Evidence = "no_difference"
	SupportsNothing          Evidence = "nothing"
)
