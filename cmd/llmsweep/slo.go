package main

import (
	"fmt"

	"llmsweep/report"
	"llmsweep/sweep/rundir"
)

// missed returns the error of a run that missed its SLO, or nil where it met it or there was none. An SLO that could not be
// judged counts as missed: a gate in CI must not pass without evidence.
func missed(run *rundir.Run) error {
	if s := run.SLO; s != nil {
		if s.Rate.IsZero() {
			return fmt.Errorf("no rate was shown to meet the SLO: %s", report.Note(s.Reason, report.English))
		}
		return nil
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		switch {
		case st.Goodput == nil:
		case st.Goodput.Verdict == "broken":
			return fmt.Errorf("the SLO is missed: %s", failing(st))
		case st.Goodput.Verdict != "kept":
			return fmt.Errorf("the SLO is not shown to be met: %s", failing(st))
		case !st.Invalid.IsZero():
			return fmt.Errorf("the SLO is not shown to be met: in %s %s", st.Name, report.Note(st.Invalid, report.English))
		}
	}
	return nil
}

// failing describes the term that decided the verdict of a stage.
func failing(st *rundir.Stage) string {
	for _, p := range st.Goodput.Terms {
		switch {
		case p.Verdict != st.Goodput.Verdict:
		case p.Verdict == "broken":
			return fmt.Sprintf("%s is missed in %s", p.Term, st.Name)
		case p.Needs > 0:
			return fmt.Sprintf("%s cannot be judged by the %d requests of %s: it needs %d more", p.Term, st.Requests.OK+st.Requests.Error, st.Name, p.Needs)
		default:
			return fmt.Sprintf("%s cannot be judged in %s", p.Term, st.Name)
		}
	}
	return st.Name
}
