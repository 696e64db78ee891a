package stages

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// Attempts counts the requests of a run, and how many of them failed.
func Attempts(run *rundir.Run) (due, failed int) {
	for i := range run.Stages {
		due += run.Stages[i].Requests.Due
		failed += Failed(&run.Stages[i])
	}
	return due, failed
}

// Take picks one figure of a stage.
type Take func(s *rundir.Stage) rundir.Number

func Completed(s *rundir.Stage) rundir.Number { return s.Rates.Completed }

func Output(s *rundir.Stage) rundir.Number { return s.TokensPerS.Output }

func Latency(s *rundir.Stage) *rundir.Dist { return &s.Latency }

func Ttft(s *rundir.Stage) *rundir.Dist { return &s.TTFT }

func Itl(s *rundir.Stage) *rundir.Dist { return &s.ITL }

// Failed is how many requests failed: by class where the classes are counted, which reaches past the window.
func Failed(s *rundir.Stage) int {
	n := 0
	for _, k := range s.Errors {
		n += k
	}
	return cmp.Or(n, s.Requests.Error)
}

func AnyFailed(runs []rundir.Run) bool {
	for i := range runs {
		for j := range runs[i].Stages {
			if Failed(&runs[i].Stages[j]) > 0 {
				return true
			}
		}
	}
	return false
}

// asAsked orders rows of one role: the rates of a grid from low to high, and repetitions, whose order was shuffled, by load and
// number. Others stay as they ran.
func asAsked(a, b *rundir.Stage) int {
	repeated := a.Repeat > 0 && b.Repeat > 0
	if a.Role != rundir.Grid && !repeated {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.MaxConcurrency, b.MaxConcurrency), cmp.Compare(a.Repeat, b.Repeat))
}

// InTable are the stages of the table: the floor, the rates from low to high, the ceiling.
func InTable(run *rundir.Run) []Row {
	rows := rowsOf(run, func(s *rundir.Stage) bool { return s.Role != rundir.Probe })
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(place(a.Stage.Role), place(b.Stage.Role)), asAsked(a.Stage, b.Stage))
	})
	return rows
}

// Probes are the stages beneath the table.
func Probes(run *rundir.Run) []Row {
	rows := rowsOf(run, func(s *rundir.Stage) bool { return s.Role == rundir.Probe })
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Stage.Rate.Value(), b.Stage.Rate.Value()) })
	return rows
}

func rowsOf(run *rundir.Run, keep func(*rundir.Stage) bool) []Row {
	var rows []Row
	for i := range run.Stages {
		if s := &run.Stages[i]; keep(s) {
			rows = append(rows, Row{run, s})
		}
	}
	return rows
}

// place is where a role stands in the table.
func place(role string) int {
	switch role {
	case rundir.Floor:
		return 0
	case rundir.Ceiling:
		return 2
	}
	return 1
}

// Whole reports whether a stage had all the time it was to have.
func Whole(s *rundir.Stage) bool { return s.State == rundir.Complete }

// Row is what a cell is taken from.
type Row struct {
	Run   *rundir.Run
	Stage *rundir.Stage
}
