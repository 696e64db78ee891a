// Writes the verdicts of runs and comparisons as CI systems read them: jUnit XML, annotations of GitHub, and the summary of a
// step.

package report

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// GateOutcome is how a check ended.
type GateOutcome int

// The outcomes.
const (
	GatePassed    GateOutcome = iota
	GateFailed                // it is shown to be missed
	GateUndecided             // what was measured does not decide it
)

// Classes of checks.
const (
	classStage = "stage"
	classSLO   = "slo"
	ClassGate  = "gate"
)

// GateCheck is one thing that was judged: a stage, an objective or a gate.
type GateCheck struct {
	Class   string // one of the Class constants
	Name    string
	Seconds float64 // that it took; 0 where it took none of its own
	Outcome GateOutcome
	Message string // why it did not pass, in one line
}

// GateSuite is the checks of one run or comparison.
type GateSuite struct {
	Name       string
	Started    time.Time
	Seconds    float64
	Properties []findings.EnvironmentFact
	Lines      []string // what was found, for people
	Checks     []GateCheck
}

// GateOfRun returns the checks of a run: each stage, and each objective in each stage. A sweep has its objectives once: they are missed at
// its highest rates by design.
func GateOfRun(run *rundir.Run, l lang.Lang) GateSuite {
	s := GateSuite{
		Name: findings.SetupName(run, l), Started: run.Started, Properties: findings.EnvironmentOf(run, l), Lines: findings.Answer(run, l),
	}
	if run.Ended.After(run.Started) {
		s.Seconds = run.Ended.Sub(run.Started).Seconds()
	}
	for _, r := range findings.AllStages(run) {
		s.Checks = append(s.Checks, stageCheck(r.Stage, l))
		s.Lines = append(s.Lines, findings.StageLine(r.Stage, l))
		if run.Plan.Kind != rundir.KindSweep && run.Plan.Kind != rundir.KindUsers && r.Stage.Goodput != nil {
			s.Checks = append(s.Checks, promises(r.Stage, l)...)
		}
	}
	if slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return measure.ByClient(s.Invalid) }) {
		s.Lines = append(s.Lines, findings.ClientRemedy.In(l))
	}
	switch a := saturation.AnswerOf(run); {
	case a != nil && a.Carried != nil:
		s.Checks = append(s.Checks, usersSLO(a.Carried, l)...)
	case a != nil && a.Promise != nil:
		s.Checks = append(s.Checks, sweepSLO(run, a.Promise, l))
	case run.Plan.Kind == rundir.KindSweep && len(run.Plan.SLO) > 0: // it ended before the answer
		s.Checks = append(s.Checks, GateCheck{classSLO, strings.Join(run.Plan.SLO, lang.ListComma.In(l)), 0, GateUndecided, sayNoAnswer.In(l)})
	}
	return s
}

// usersSLO is the objective of a sweep by users: that some users are carried within it.
func usersSLO(c *rundir.Carried, l lang.Lang) []GateCheck {
	if len(c.Terms) == 0 {
		return nil
	}
	one := GateCheck{Class: classSLO, Name: strings.Join(c.Terms, lang.ListComma.In(l)), Outcome: GatePassed}
	switch {
	case c.Verdict == rundir.Broken:
		one.Outcome = GateFailed
	case c.Users.IsZero():
		one.Outcome = GateUndecided
	default:
		return []GateCheck{one}
	}
	one.Message = findings.CarriedSentence(c, l)
	return []GateCheck{one}
}

// stageCheck reports whether a stage measured what it was meant to measure.
func stageCheck(s *rundir.Stage, l lang.Lang) GateCheck {
	c := GateCheck{Class: classStage, Name: s.Name, Seconds: s.Elapsed}
	switch failed := findings.FailedStages(s); {
	case s.Requests.OK == 0 && failed > 0:
		c.Outcome, c.Message = GateFailed, sayAllFailed.In(l, strconv.Itoa(failed))
	case !findings.WholeStages(s):
		c.Outcome, c.Message = GateUndecided, sayCut.In(l)
	case s.FrozenSince.Known():
		c.Outcome, c.Message = GateFailed, sayFrozen.In(l, lang.Time(s.FrozenSince))
	case !s.Invalid.IsZero():
		c.Outcome, c.Message = GateUndecided, findings.Note(s.Invalid, l)
	}
	return c
}

// promises are the objectives in a stage.
func promises(s *rundir.Stage, l lang.Lang) []GateCheck {
	var all []GateCheck
	for _, p := range s.Goodput.Terms {
		c := GateCheck{Class: classSLO, Name: p.Term + " @ " + s.Name, Outcome: outcome(p.Verdict)}
		switch {
		case c.Outcome != GatePassed:
			c.Message = findings.Promise(&p, l)
			if c.Message == "" {
				c.Message = sayUndecided.In(l, p.Term)
			}
		case s.Goodput.Verdict != rundir.Kept && s.FrozenSince.Known():
			c.Outcome, c.Message = GateFailed, sayFrozen.In(l, lang.Time(s.FrozenSince))
		case !s.Invalid.IsZero(): // as the exit code has it
			c.Outcome, c.Message = GateUndecided, findings.Note(s.Invalid, l)
		}
		all = append(all, c)
	}
	return all
}

// sweepSLO is the objectives of a sweep together: they are met where some rate meets them.
func sweepSLO(run *rundir.Run, p *rundir.AnswerPromise, l lang.Lang) GateCheck {
	c := GateCheck{Class: classSLO, Name: strings.Join(p.Terms, lang.ListComma.In(l))}
	switch {
	case p.Met():
	case p.Verdict == rundir.Broken:
		c.Outcome = GateFailed
	default:
		c.Outcome = GateUndecided
	}
	if c.Outcome != GatePassed {
		c.Message = findings.Meets(run, l)
	}
	return c
}

func outcome(verdict rundir.Promised) GateOutcome {
	switch verdict {
	case rundir.Kept:
		return GatePassed
	case rundir.Broken:
		return GateFailed
	}
	return GateUndecided
}

// line returns text that is safe to show in one line.
func line(s string) string { return table.Clean(s) }
