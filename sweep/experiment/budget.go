package experiment

import "time"

// Within a budget, of the time that is left: what a backlog may take to end before it is cancelled, and the server to
// become idle.
const drainShare = 0.1

// HasBudget reports whether the experiment must end by a time.
func (x *Experiment) HasBudget() bool { return x.config.Budget > 0 }

// TimeLeft returns what is left of the budget; negative where it is used up.
func (x *Experiment) TimeLeft() time.Duration { return x.config.Budget - x.Elapsed() }

// timeOut returns how long a stage that begins now may take; 0 for no limit.
func (x *Experiment) timeOut() time.Duration {
	if !x.HasBudget() {
		return 0
	}
	return max(1, x.TimeLeft())
}

// drain returns how long a backlog may take to end.
func (x *Experiment) drain() time.Duration {
	if !x.HasBudget() {
		return x.config.Drain
	}
	return min(x.config.Drain, max(0, time.Duration(drainShare*float64(x.TimeLeft()))))
}
