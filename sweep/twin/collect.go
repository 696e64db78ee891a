package twin

import (
	"path/filepath"
	"time"

	"llmsweep/sweep/rundir"
)

// CollectedStages is what a twin is fitted to: the stages of several run directories of one server.
type CollectedStages struct {
	Stages   []Stage
	From     []string    // names of the directories
	Began    []time.Time // in UTC
	Measured int         // stages of the runs, the invalid ones included
	Invalid  int
	Model    string        // of the first run that names one
	Labels   rundir.Labels // of the first run that has some
}

// CollectStages reads run directories.
func CollectStages(dirs []string) (*CollectedStages, error) {
	c := &CollectedStages{}
	for _, dir := range dirs {
		stages, run, err := stagesOf(dir)
		if err != nil {
			return nil, err
		}
		c.Stages = append(c.Stages, stages...)
		c.From, c.Began = append(c.From, filepath.Base(dir)), append(c.Began, run.Started.UTC().Truncate(time.Second))
		c.Measured += len(run.Stages)
		for i := range run.Stages {
			if !run.Stages[i].Invalid.IsZero() {
				c.Invalid++
			}
		}
		if c.Model == "" {
			c.Model = run.Target.Model
		}
		if c.Labels.IsZero() {
			c.Labels = run.Labels
		}
	}
	return c, nil
}
