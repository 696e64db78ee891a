// Package ci writes the verdicts of runs and comparisons as CI systems read them: JUnit XML, annotations of GitHub, and the summary of a
// step.
package ci

import (
	"strconv"
	"strings"
	"time"

	"llmsweep/report/environment"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Outcome is how a check ended.
type Outcome int

// The outcomes.
const (
	Passed    Outcome = iota
	Failed            // it is shown to be missed
	Undecided         // what was measured does not decide it
)

// Classes of checks.
const (
	ClassStage = "stage"
	ClassSLO   = "slo"
	ClassGate  = "gate"
)

// Check is one thing that was judged: a stage, an objective or a gate.
type Check struct {
	Class   string // one of the Class constants
	Name    string
	Seconds float64 // that it took; 0 where it took none of its own
	Outcome Outcome
	Message string // why it did not pass, in one line
}

// Suite is the checks of one run or comparison.
type Suite struct {
	Name       string
	Started    time.Time
	Seconds    float64
	Properties []environment.Fact
	Lines      []string // what was found, for people
	Checks     []Check
}

// OfRun returns the checks of a run: each stage, and each objective in each stage. A sweep has its objectives once: they are missed at
// its highest rates by design.
func OfRun(run *rundir.Run, l lang.Lang) Suite {
	s := Suite{
		Name: stages.Setup(run, l), Started: run.Started, Properties: environment.Of(run, l), Lines: findings.Answer(run, l),
	}
	if run.Ended.After(run.Started) {
		s.Seconds = run.Ended.Sub(run.Started).Seconds()
	}
	for _, r := range stages.All(run) {
		s.Checks = append(s.Checks, stageCheck(r.Stage, l))
		s.Lines = append(s.Lines, findings.StageLine(r.Stage, l))
		if run.Plan.Kind != rundir.KindSweep && r.Stage.Goodput != nil {
			s.Checks = append(s.Checks, promises(r.Stage, l)...)
		}
	}
	switch {
	case run.SLO != nil:
		s.Checks = append(s.Checks, sweepSLO(run, l))
	case run.Plan.Kind == rundir.KindSweep && len(run.Plan.SLO) > 0: // it ended before the answer
		s.Checks = append(s.Checks, Check{ClassSLO, strings.Join(run.Plan.SLO, lang.ListComma.In(l)), 0, Undecided, sayNoAnswer.In(l)})
	}
	return s
}

// stageCheck reports whether a stage measured what it was meant to measure.
func stageCheck(s *rundir.Stage, l lang.Lang) Check {
	c := Check{Class: ClassStage, Name: s.Name, Seconds: s.Elapsed}
	switch failed := stages.Failed(s); {
	case s.Requests.OK == 0 && failed > 0:
		c.Outcome, c.Message = Failed, sayAllFailed.In(l, strconv.Itoa(failed))
	case !stages.Whole(s):
		c.Outcome, c.Message = Undecided, sayCut.In(l)
	case s.FrozenSince.Known():
		c.Outcome, c.Message = Failed, sayFrozen.In(l, lang.Time(s.FrozenSince))
	case !s.Invalid.IsZero():
		c.Outcome, c.Message = Undecided, findings.Note(s.Invalid, l)
	}
	return c
}

// promises are the objectives in a stage.
func promises(s *rundir.Stage, l lang.Lang) []Check {
	var all []Check
	for _, p := range s.Goodput.Terms {
		c := Check{Class: ClassSLO, Name: p.Term + " @ " + s.Name, Outcome: outcome(p.Verdict)}
		switch {
		case c.Outcome != Passed:
			c.Message = findings.Promise(&p, l)
			if c.Message == "" {
				c.Message = sayUndecided.In(l, p.Term)
			}
		case s.Goodput.Verdict != rundir.Kept && s.FrozenSince.Known():
			c.Outcome, c.Message = Failed, sayFrozen.In(l, lang.Time(s.FrozenSince))
		case !s.Invalid.IsZero(): // as the exit code has it
			c.Outcome, c.Message = Undecided, findings.Note(s.Invalid, l)
		}
		all = append(all, c)
	}
	return all
}

// sweepSLO is the objectives of a sweep together: they are met where some rate meets them.
func sweepSLO(run *rundir.Run, l lang.Lang) Check {
	c := Check{Class: ClassSLO, Name: strings.Join(run.SLO.Terms, lang.ListComma.In(l))}
	switch {
	case !run.SLO.Rate.IsZero(), run.SLO.Verdict == rundir.Kept:
	case run.SLO.Verdict == rundir.Broken:
		c.Outcome = Failed
	default:
		c.Outcome = Undecided
	}
	if c.Outcome != Passed {
		c.Message = findings.Promises(run, l)[0]
	}
	return c
}

func outcome(verdict rundir.Promised) Outcome {
	switch verdict {
	case rundir.Kept:
		return Passed
	case rundir.Broken:
		return Failed
	}
	return Undecided
}

// line returns text that is safe to show in one line.
func line(s string) string { return table.Clean(s) }
