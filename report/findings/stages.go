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

// AllStages returns the rows of a run: synchronous, the loads from low to high, throughput.
func AllStages(run *rundir.Run) []StageRow {
	var rows []StageRow
	for i := range run.Stages {
		if st := &run.Stages[i]; !st.Quick() {
			rows = append(rows, StageRow{run, st})
		}
	}
	slices.SortStableFunc(rows, func(a, b StageRow) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Stage.Role), roleOrder(b.Stage.Role)), compareLoad(a.Stage, b.Stage))
	})
	return rows
}

// GridStages returns the rows of a run without those of a sweep that only its answer needs.
func GridStages(run *rundir.Run) []StageRow {
	return slices.DeleteFunc(AllStages(run), func(r StageRow) bool { return narrowsAnswer(r.Stage) })
}

const maxRows = 10 // of a sweep in the main table

// MainStages returns the rows that the answer of a sweep rests on and the highest rows of its grid, at most maxRows in
// all; of other runs all rows.
func MainStages(run *rundir.Run) []StageRow {
	all := AllStages(run)
	if run.Plan.Kind != rundir.KindSweep {
		return all
	}
	var ends []string // of the ranges that the answer and the SLO's rate are in
	if sat := run.Saturation; sat != nil {
		ends = append(ends, sat.KeptStage, sat.FailedStage)
	}
	if run.SLO != nil {
		ends = append(ends, run.SLO.KeptStage, run.SLO.BrokenStage)
	}
	all = slices.DeleteFunc(all, func(r StageRow) bool {
		return narrowsAnswer(r.Stage) && !likeGrid(r.Stage) && !slices.Contains(ends, r.Stage.Name)
	})
	extra := len(all) - maxRows
	return slices.DeleteFunc(all, func(r StageRow) bool {
		if r.Stage.Role != rundir.Grid || extra <= 0 {
			return false
		}
		extra--
		return true
	})
}

// narrowsAnswer reports whether a stage of a sweep by rate is a probe or a hold, and not a row of the grid.
func narrowsAnswer(s *rundir.Stage) bool {
	return s.Kind != rundir.KindOfUsers && (s.Role == rundir.Probe || s.Role == rundir.Hold)
}

// likeGrid reports whether a stage is a row of the grid, or the one at the recommended rate, which is measured as they
// are.
func likeGrid(s *rundir.Stage) bool {
	return s.Role == rundir.Grid ||
		s.Role == rundir.Probe && s.Kind != rundir.KindOfUsers && s.Source == nil && !s.Held()
}

func roleOrder(role rundir.Role) int {
	switch role {
	case rundir.Synchronous:
		return 0
	case rundir.Throughput:
		return 2
	}
	return 1
}

// compareLoad orders the stages of a sweep, and repetitions, which ran in shuffled order, by load and number. Other
// stages stay in the order in which they ran.
func compareLoad(a, b *rundir.Stage) int {
	repeated := a.Repeat > 0 && b.Repeat > 0
	if a.Role != rundir.Grid && !narrowsAnswer(a) && a.Kind != rundir.KindOfUsers && !repeated {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.MaxConcurrency, b.MaxConcurrency),
		cmp.Compare(a.Repeat, b.Repeat))
}

func isComplete(s *rundir.Stage) bool { return s.State == rundir.Complete }

func requestCounts(run *rundir.Run) (due, failed int) {
	for i := range run.Stages {
		due += run.Stages[i].Requests.Due
		failed += FailedRequests(&run.Stages[i])
	}
	return due, failed
}

// FailedRequests returns how many requests failed. Where failures are counted by class, those outside of the window are
// included.
func FailedRequests(s *rundir.Stage) int {
	n := 0
	for _, k := range s.Errors {
		n += k
	}
	return cmp.Or(n, s.Requests.Error)
}

// StageNumber returns a number of a stage.
type StageNumber func(s *rundir.Stage) rundir.Number

// Completed returns the completed requests per second.
func Completed(s *rundir.Stage) rundir.Number { return s.Rates.Completed }

// Offered returns the requests per second that were due in the window: with random arrivals not the planned rate, which
// is all that a published table has.
func Offered(s *rundir.Stage) rundir.Number {
	if s.Rates.Offered.IsZero() {
		return s.Rate
	}
	return s.Rates.Offered
}

// Output returns the output tokens per second.
func Output(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }

// Latency returns the distribution of latency, in seconds.
func Latency(s *rundir.Stage) *rundir.Dist { return &s.Latency }

// TTFT returns the distribution of the time to the first token, in seconds.
func TTFT(s *rundir.Stage) *rundir.Dist { return &s.TTFT }

// ITL returns the distribution of inter-token latency, in seconds.
func ITL(s *rundir.Stage) *rundir.Dist { return &s.ITL }
