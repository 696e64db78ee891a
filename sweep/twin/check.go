package twin

import "math"

// Check is how well a twin predicts stages that it was not fitted to.
type Check struct {
	Error  float64    `yaml:"error" json:"error"` // of output rates and median gaps: root of the mean square of the relative errors
	Passed bool       `yaml:"passed" json:"passed"`
	Rows   []CheckRow `yaml:"rows,omitempty" json:"rows,omitempty"`
}

// Limits of a check. Percentiles are shown and not judged, but for the median of the times to the first token: a tail of a short stage is
// uncertain by itself.
const (
	passRate = 0.10 // relative: of output tokens per second, and of the mean gap
	passTTFT = 0.30 // relative: of the median time to the first token, if the difference is more than passTTFTMS
	// passTTFTMS is a difference in milliseconds that a network and a scheduler of an operating system make.
	passTTFTMS = 5.0
)

// Parts of a check, by the keys of Metrics.
const (
	PartOutput = "output_tokens_per_s"
	PartGap    = "itl_mean_ms"
	PartTTFT   = "ttft_p50_ms"
)

// Miss is a part of a check that failed: the relative error of a prediction is beyond its limit.
type Miss struct {
	Part  string
	Stage string
	Error float64
	Limit float64
}

// Misses returns the parts of the check that failed, in the order of the stages.
func (c *Check) Misses() []Miss {
	var all []Miss
	for i := range c.Rows {
		all = append(all, c.Rows[i].misses()...)
	}
	return all
}

func (r *CheckRow) misses() []Miss {
	var all []Miss
	p, m := &r.Predicted, &r.Measured
	beyond := func(part string, predicted, measured, limit float64) {
		if off := predicted/measured - 1; math.Abs(off) > limit {
			all = append(all, Miss{part, r.Stage, off, limit})
		}
	}
	if m.Output > 0 && m.GapMean > 0 {
		beyond(PartOutput, p.Output, m.Output, passRate)
		beyond(PartGap, p.GapMean, m.GapMean, passRate)
	}
	if math.Abs(p.TTFT50-m.TTFT50) > passTTFTMS {
		beyond(PartTTFT, p.TTFT50, m.TTFT50, passTTFT)
	}
	return all
}

// CheckRow is a stage that was left out of the fit, predicted and measured.
type CheckRow struct {
	Stage     string  `yaml:"stage" json:"stage"`
	Full      bool    `yaml:"full,omitempty" json:"full,omitempty"` // a closed loop that kept all slots busy: its requests per second are the saturation rate
	Predicted Metrics `yaml:"predicted,flow" json:"predicted"`
	Measured  Metrics `yaml:"measured,flow" json:"measured"`
}

// Metrics are what a stage comes down to. A metric without values is 0.
type Metrics struct {
	Requests float64 `yaml:"requests_per_s,omitempty" json:"requests_per_s"` // that ended
	Output   float64 `yaml:"output_tokens_per_s" json:"output_tokens_per_s"`
	TTFT50   float64 `yaml:"ttft_p50_ms" json:"ttft_p50_ms"`
	TTFT99   float64 `yaml:"ttft_p99_ms" json:"ttft_p99_ms"`
	Gap50    float64 `yaml:"itl_p50_ms" json:"itl_p50_ms"`
	Gap99    float64 `yaml:"itl_p99_ms" json:"itl_p99_ms"`
	GapMean  float64 `yaml:"itl_mean_ms" json:"itl_mean_ms"`
}

// values returns the metrics, in one order.
func (m *Metrics) values() []*float64 {
	return []*float64{&m.Requests, &m.Output, &m.TTFT50, &m.TTFT99, &m.Gap50, &m.Gap99, &m.GapMean}
}
