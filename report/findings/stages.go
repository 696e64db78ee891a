// The stages of a run as rows of tables: which there are and in which order, what they are called, and
// the columns that renderings share.

package findings

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// StageRow is a stage and its run.
type StageRow struct {
	Run   *rundir.Run
	Stage *rundir.Stage
}

// InTable returns the rows of the main table: the floor, the rates from low to high, the ceiling.
func InTable(run *rundir.Run) []StageRow {
	rows := rowsOf(run, func(s *rundir.Stage) bool {
		return s.Role != rundir.Probe && s.Role != rundir.Hold && s.Role != rundir.Control
	})
	slices.SortStableFunc(rows, func(a, b StageRow) int {
		return cmp.Or(cmp.Compare(place(a.Stage.Role), place(b.Stage.Role)), byLoad(a.Stage, b.Stage))
	})
	return rows
}

// ProbeStages returns the rows beneath the main table, by rate.
func ProbeStages(run *rundir.Run) []StageRow {
	rows := rowsOf(run, func(s *rundir.Stage) bool { return s.Role == rundir.Probe || s.Role == rundir.Hold })
	slices.SortStableFunc(rows, func(a, b StageRow) int { return cmp.Compare(a.Stage.Rate.Value(), b.Stage.Rate.Value()) })
	return rows
}

// ControlStages returns the rows beneath those, in the order in which they ran: loads that were measured again at the end.
func ControlStages(run *rundir.Run) []StageRow {
	return rowsOf(run, func(s *rundir.Stage) bool { return s.Role == rundir.Control })
}

// AllStages returns the rows of the main table and those beneath it.
func AllStages(run *rundir.Run) []StageRow {
	return slices.Concat(InTable(run), ProbeStages(run), ControlStages(run))
}

func rowsOf(run *rundir.Run, keep func(*rundir.Stage) bool) []StageRow {
	var rows []StageRow
	for i := range run.Stages {
		if s := &run.Stages[i]; keep(s) {
			rows = append(rows, StageRow{run, s})
		}
	}
	return rows
}

// place returns where a role stands in the table.
func place(role rundir.Role) int {
	switch role {
	case rundir.Floor:
		return 0
	case rundir.Ceiling:
		return 2
	}
	return 1
}

// byLoad orders stages of one role: the rates of a grid from low to high, and repetitions, which ran in shuffled order, by
// load and number. Other stages stay in the order in which they ran.
func byLoad(a, b *rundir.Stage) int {
	repeated := a.Repeat > 0 && b.Repeat > 0
	if a.Role != rundir.Grid && !repeated {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.MaxConcurrency, b.MaxConcurrency), cmp.Compare(a.Repeat, b.Repeat))
}

// WholeStages reports whether a stage ran for as long as planned.
func WholeStages(s *rundir.Stage) bool { return s.State == rundir.Complete }

// StageAttempts returns how many requests of a run were due, and how many failed.
func StageAttempts(run *rundir.Run) (due, failed int) {
	for i := range run.Stages {
		due += run.Stages[i].Requests.Due
		failed += FailedStages(&run.Stages[i])
	}
	return due, failed
}

// FailedStages returns how many requests failed. Where failures are counted by class, those outside of the window are included.
func FailedStages(s *rundir.Stage) int {
	n := 0
	for _, k := range s.Errors {
		n += k
	}
	return cmp.Or(n, s.Requests.Error)
}

// AnyFailed reports whether a request failed in any of the runs.
func AnyFailed(runs []rundir.Run) bool {
	return slices.ContainsFunc(runs, func(run rundir.Run) bool {
		_, failed := StageAttempts(&run)
		return failed > 0
	})
}

// TakeStages returns a number of a stage.
type TakeStages func(s *rundir.Stage) rundir.Number

// CompletedCell returns the completed requests per second.
func CompletedCell(s *rundir.Stage) rundir.Number { return s.Rates.Completed }

// Offered returns the requests per second that were due in the window; the planned rate of a published table, which has no other. The
// planned rate of a stage is in its name. It never stands for the offered rate of a stage that was measured here: with random
// arrivals the two differ.
func Offered(s *rundir.Stage) rundir.Number {
	if s.Rates.Offered.IsZero() {
		return s.Rate
	}
	return s.Rates.Offered
}

// Bracket returns the highest rate that a stable stage was offered, and the lowest that an overloaded one was, of the stages whose planned
// rates lie within those of the run's saturation. Random arrivals may put the first above the second. A rate that no stage was
// planned with stands for itself.
func Bracket(run *rundir.Run) (stable, saturated rundir.Number) {
	sat := run.Saturation
	for i := range run.Stages {
		s := &run.Stages[i]
		offered := Offered(s)
		switch {
		case !s.Rate.Known() || !WholeStages(s) || !s.Invalid.IsZero() || !offered.Known():
		case WithinAnswer(s, sat): // it decides nothing
		case s.Verdict == rundir.Stable && sat.HighestStable.Known() && s.Rate.Value() <= sat.HighestStable.Value():
			if !stable.Known() || offered.Value() > stable.Value() {
				stable = offered
			}
		case overloaded(s) && sat.LowestSaturated.Known() && s.Rate.Value() >= sat.LowestSaturated.Value():
			if !saturated.Known() || offered.Value() < saturated.Value() {
				saturated = offered
			}
		}
	}
	if !stable.Known() && !within(sat.HighestStable, sat) {
		stable = sat.HighestStable
	}
	if !saturated.Known() && !within(sat.LowestSaturated, sat) {
		saturated = sat.LowestSaturated
	}
	return stable, saturated
}

// WithinAnswer reports whether the rate of a stage lies within the interval of the saturation rate: its verdict decides nothing.
func WithinAnswer(s *rundir.Stage, sat *rundir.Saturation) bool { return within(s.Rate, sat) }

// within reports whether a rate lies within the interval of the saturation rate.
func within(rate rundir.Number, sat *rundir.Saturation) bool {
	return rate.Known() && sat.Low.Known() && sat.High.Known() && rate.Value() > sat.Low.Value() && rate.Value() < sat.High.Value()
}

// overloaded reports whether a stage was shown to get more than the server sustains.
func overloaded(s *rundir.Stage) bool {
	switch s.Verdict {
	case rundir.Stable, rundir.Undecided, rundir.Closed, "":
		return false
	}
	return true
}

// Output returns the output tokens per second.
func Output(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }

// Latency returns the distribution of latency, in seconds.
func Latency(s *rundir.Stage) *rundir.Dist { return &s.Latency }

// TTFT returns the distribution of the time to the first token, in seconds.
func TTFT(s *rundir.Stage) *rundir.Dist { return &s.TTFT }

// ITL returns the distribution of inter-token latency, in seconds.
func ITL(s *rundir.Stage) *rundir.Dist { return &s.ITL }
