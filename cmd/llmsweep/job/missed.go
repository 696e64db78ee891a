package job

import (
	"fmt"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// sloFailure returns an error with exit code [console.Missed] where a run missed its SLO, and [console.Undecided]
// where it did not show whether it meets it; nil where it met it or there was none. A stage that ended before all its
// requests were sent is a failure: a gate in CI must not pass without evidence.
func sloFailure(run *rundir.Run, l lang.Lang) error {
	a := run.Answer
	switch {
	case a == nil:
	case a.Carried != nil:
		return missedByUsers(a.Carried)
	case a.Promise == nil:
	case a.Promise.Met():
		return nil
	case a.Promise.Verdict == rundir.Missed:
		return console.Exit(console.Missed, fmt.Errorf("the SLO is missed: %s", findings.Note(run.SLO.Reason, l)))
	default:
		return console.Exit(console.Undecided, fmt.Errorf("no rate was shown to meet the SLO: %s",
			findings.Note(run.SLO.Reason, l)))
	}
	var undecided error
	for i := range run.Stages {
		st := &run.Stages[i]
		switch {
		case st.Goodput == nil:
		case st.Goodput.Verdict == rundir.Missed:
			return console.Exit(console.Missed, fmt.Errorf("the SLO is missed: %s", decidingTerm(st)))
		case undecided != nil:
		case st.Goodput.Verdict != rundir.Met:
			undecided = fmt.Errorf("the SLO is not decided: %s", decidingTerm(st))
		case !st.Invalid.IsZero():
			undecided = fmt.Errorf("the SLO is not decided: in %s %s", findings.StageName(st), findings.Note(st.Invalid, l))
		}
	}
	if undecided != nil {
		return console.Exit(console.Undecided, undecided)
	}
	return endedEarly(run, l)
}

// missedByUsers returns the error of a sweep by users that missed its SLO with one user, or did not show how many it
// carries.
func missedByUsers(c *rundir.UserCapacity) error {
	terms := strings.Join(c.Terms, ", ")
	switch {
	case len(c.Terms) == 0 || !c.Users.IsZero():
		return nil
	case c.Verdict == rundir.Missed:
		return console.Exit(console.Missed, fmt.Errorf("the SLO is missed: not even one user gets %s", terms))
	}
	return console.Exit(console.Undecided, fmt.Errorf("no number of users was shown to meet the SLO %s: measure for "+
		"longer (--stage-time, --budget)", terms))
}

// endedEarly returns the error of a run with a stage that ended before all its requests were sent; nil where none did,
// and for a sweep, which also measures what a server cannot do.
func endedEarly(run *rundir.Run, l lang.Lang) error {
	if run.Plan.Kind != rundir.KindRun {
		return nil
	}
	for i := range run.Stages {
		if why, ok := measure.EndedEarly(&run.Stages[i]); ok {
			return fmt.Errorf("%s %s", findings.StageName(&run.Stages[i]), findings.Note(why, l))
		}
	}
	return nil
}

func decidingTerm(st *rundir.Stage) string {
	for _, p := range st.Goodput.Terms {
		switch {
		case p.Verdict != st.Goodput.Verdict:
		case p.Verdict == rundir.Missed:
			return fmt.Sprintf("%s is missed in %s", p.Term, findings.StageName(st))
		default:
			return fmt.Sprintf("the requests of %s do not show whether %s is met", findings.StageName(st), p.Term)
		}
	}
	return findings.StageName(st)
}
