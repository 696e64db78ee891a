package twin

// Check is how well a twin predicts stages that it was not fitted to.
type Check struct {
	Error  float64    `yaml:"error" json:"error"` // of output rates and median gaps: root of the mean square of the relative errors
	Passed bool       `yaml:"passed" json:"passed"`
	Rows   []CheckRow `yaml:"rows,omitempty" json:"rows,omitempty"`
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
