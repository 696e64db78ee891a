package experiment

import "time"

// DrainShare is the share of the time left that a backlog may take to end before it is cancelled, and that the server
// may take to become idle.
const DrainShare = 0.1

// HasBudget reports whether the experiment must end by a time.
func (x *Experiment) HasBudget() bool { return x.config.Budget > 0 }

// TimeLeft returns what is left of the budget; negative where it is used up.
func (x *Experiment) TimeLeft() time.Duration { return x.config.Budget - x.Elapsed() }

// timeOut is 0 for no limit.
func (x *Experiment) timeOut() time.Duration {
	if !x.HasBudget() {
		return 0
	}
	return max(1, x.TimeLeft())
}

func (x *Experiment) drain() time.Duration {
	if !x.HasBudget() {
		return x.config.Drain
	}
	return min(x.config.Drain, max(0, time.Duration(DrainShare*float64(x.TimeLeft()))))
}
