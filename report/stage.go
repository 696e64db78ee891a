package report

import (
	"cmp"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// tableRows are the stages of the table: the floor, the rates from low to high, the ceiling.
func tableRows(run *rundir.Run) []row {
	rows := rowsOf(run, func(s *rundir.Stage) bool { return s.Role != rundir.Probe })
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(place(a.stage.Role), place(b.stage.Role)), asAsked(a.stage, b.stage))
	})
	return rows
}

// probeRows are the stages beneath the table.
func probeRows(run *rundir.Run) []row {
	rows := rowsOf(run, func(s *rundir.Stage) bool { return s.Role == rundir.Probe })
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.stage.Rate.Value(), b.stage.Rate.Value()) })
	return rows
}

func rowsOf(run *rundir.Run, keep func(*rundir.Stage) bool) []row {
	var rows []row
	for i := range run.Stages {
		if s := &run.Stages[i]; keep(s) {
			rows = append(rows, row{run, s})
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

// whole reports whether a stage had all the time it was to have.
func whole(s *rundir.Stage) bool { return s.State == rundir.Complete }

// marks are what the name of a stage has to warn of.
func marks(s *rundir.Stage) string {
	m := ""
	if !whole(s) {
		m += markCut
	}
	if !s.Invalid.IsZero() {
		m += markInvalid
	}
	return m
}

// publishedName is a stage's name in the six-column table, where Poisson arrivals are called asynchronous.
func publishedName(s *rundir.Stage) string {
	switch {
	case !s.Rate.Known():
		return stageName(s)
	case s.Kind == "poisson":
		return "asynchronous@" + number(s.Rate, rate) + " req/sec"
	}
	return stageName(s) + " req/sec"
}

// modelName is the model as people call it, its quantization included.
func modelName(run *rundir.Run) string {
	name := cmp.Or(run.Labels.Model, run.Target.Model)
	quant := run.Labels.Quant
	if name == "" || quant == "" || strings.Contains(strings.ToLower(name), strings.ToLower(quant)) {
		return name
	}
	return name + "-" + quant
}

// engineName is the serving engine, as labelled or as it said itself.
func engineName(run *rundir.Run) string { return cmp.Or(run.Labels.Engine, run.Target.Engine) }
