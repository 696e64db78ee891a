package twin

// Check is how well a twin predicts stages that it was not fitted to.
type Check struct {
	Error  float64    `yaml:"error"` // of output tokens per second and of the means of gaps: root of the mean square of the relative errors
	Passed bool       `yaml:"passed"`
	Rows   []CheckRow `yaml:"rows,omitempty"`
}

// CheckRow is one stage, predicted and measured.
type CheckRow struct {
	Stage string `yaml:"stage"`
}

func check([]stageData) *Check { return nil }
