package twin

// Check is how well a twin predicts stages that it was not fitted to.
type Check struct {
	Error  float64    `yaml:"error"` // of output rates and median gaps: root of the mean square of the relative errors
	Passed bool       `yaml:"passed"`
	Rows   []CheckRow `yaml:"rows,omitempty"`
}

// CheckRow is a stage that was left out of the fit, predicted and measured.
type CheckRow struct {
	Stage     string  `yaml:"stage"`
	Predicted Metrics `yaml:"predicted,flow"`
	Measured  Metrics `yaml:"measured,flow"`
}

// Metrics are what a stage comes down to. A metric without values is 0.
type Metrics struct {
	Output  float64 `yaml:"output_tokens_per_s"`
	TTFT50  float64 `yaml:"ttft_p50_ms"`
	TTFT99  float64 `yaml:"ttft_p99_ms"`
	Gap50   float64 `yaml:"itl_p50_ms"`
	Gap99   float64 `yaml:"itl_p99_ms"`
	GapMean float64 `yaml:"itl_mean_ms"`
}

// Numbers returns the metrics in the order in which they are shown.
func (m *Metrics) Numbers() []float64 {
	return []float64{m.Output, m.TTFT50, m.TTFT99, m.Gap50, m.Gap99, m.GapMean}
}
