package findings

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// The units of conclusions.
const (
	UnitRate  = "req/s"
	unitUsers = "users"
)

// WriteConclusions writes conclusions as JSON: one as an object, several as an array.
func WriteConclusions(w io.Writer, all []rundir.Conclusion) error {
	if len(all) == 1 {
		return table.WriteJSON(w, all[0])
	}
	return table.WriteJSON(w, all)
}

// Conclude returns what a run found, for programs.
func Conclude(run *rundir.Run) rundir.Conclusion {
	c := conclusionOf(run)
	c.Tokens = tokenCost(run)
	c.Schema, c.Subject = rundir.VerdictSchema, SetupName(run, lang.English)
	for _, n := range reasons(run) {
		if n.Code != "" && !slices.Contains(c.Because, n.Code) {
			c.Because = append(c.Because, n.Code)
		}
	}
	if run.State == rundir.Interrupted {
		c.Because = append(c.Because, string(run.State))
	}
	if run.Source == nil {
		c.Cost, c.NextCommand = CostOf(run), nextCommand(run)
	}
	return c
}

func conclusionOf(run *rundir.Run) rundir.Conclusion {
	if sent, failed := requestCounts(run); run.State == rundir.Failed || sent > 0 && sent == failed {
		claim := sayNothing.In(lang.English, strconv.Itoa(failed), strconv.Itoa(sent))
		if run.State == rundir.Failed {
			claim = Note(run.Failure, lang.English)
		}
		return rundir.Conclusion{Verdict: rundir.DecisionFailed, Claim: claim, MayClaim: rundir.SupportsNothing}
	}
	a := saturation.AnswerOf(run)
	switch {
	case a == nil || run.Source != nil:
		return concludeRows(run)
	case a.Carried != nil:
		return concludeUsers(run, a.Carried)
	case a.Promise != nil:
		return concludeSLO(run, a.Promise)
	default:
		return concludeRate(run, a)
	}
}

func concludeRate(run *rundir.Run, a *rundir.Answer) rundir.Conclusion {
	c := rundir.Conclusion{Claim: cmp.Or(rateSentence(run, a, lang.English), sayNoSaturation.In(lang.English)),
		Metric: "saturation", Unit: UnitRate}
	switch a.Kind {
	case rundir.Unanswerable:
		c.Verdict, c.MayClaim, c.Metric, c.Unit = rundir.DecisionUndecided, rundir.SupportsNothing, "", ""
	case rundir.AtLeast:
		setNumbers(&c, rundir.Over(a.Rate.Value()), a.Low, a.High)
	default:
		setNumbers(&c, a.Rate, a.Low, a.High)
	}
	return c
}

func concludeSLO(run *rundir.Run, p *rundir.SLOAnswer) rundir.Conclusion {
	c := rundir.Conclusion{Claim: sloSentence(run, lang.English), Metric: "slo_rate", Unit: UnitRate}
	setNumbers(&c, p.Rate, p.Low, p.High)
	switch {
	case p.Met():
		c.Verdict = rundir.DecisionMet
		if c.MayClaim == rundir.SupportsNothing { // a row meets it, and no rate is known
			c.MayClaim = rundir.SupportsSLO
		}
	case p.Verdict == rundir.Missed: // the rate is below all that were measured
		return rundir.Conclusion{Verdict: rundir.DecisionMissed, Claim: c.Claim, MayClaim: rundir.SupportsSLO}
	default:
		c.Verdict = rundir.DecisionUndecided
	}
	return c
}

func concludeUsers(run *rundir.Run, u *rundir.UserCapacity) rundir.Conclusion {
	c := rundir.Conclusion{Claim: capacitySentences(run, u, lang.English)[0], Metric: unitUsers, Unit: unitUsers}
	setNumbers(&c, u.Users, u.Low, u.High)
	switch {
	case u.Verdict == rundir.Missed && u.Users.IsZero():
		return rundir.Conclusion{Verdict: rundir.DecisionMissed, Claim: c.Claim, MayClaim: rundir.SupportsSLO}
	case u.Users.IsZero():
		c.Verdict = rundir.DecisionUndecided
	case len(u.Terms) > 0:
		c.Verdict = rundir.DecisionMet
	}
	return c
}

func setNumbers(c *rundir.Conclusion, value, low, high rundir.Number) {
	switch {
	case value.Bound():
		c.Verdict, c.MayClaim, c.Low = rundir.DecisionBounded, rundir.SupportsBound, rundir.Exactly(value.Value())
	case value.Known() && low.Known() && high.Known():
		c.Verdict, c.MayClaim, c.Value, c.Low, c.High = rundir.DecisionMeasured, rundir.SupportsEstimate, value, low, high
	case value.Known():
		c.Verdict, c.MayClaim, c.Value = rundir.DecisionMeasured, rundir.SupportsValue, value
	case low.Known() && high.Known():
		c.Verdict, c.MayClaim, c.Low, c.High = rundir.DecisionBounded, rundir.SupportsBound, low, high
	default:
		c.Verdict, c.MayClaim, c.Metric, c.Unit = rundir.DecisionUndecided, rundir.SupportsNothing, "", ""
	}
}

// concludeRows concludes from the objectives of rows, or from a single row. Published rows may show a saturation rate.
func concludeRows(run *rundir.Run) rundir.Conclusion {
	if sat := run.Saturation; run.Source != nil && sat != nil {
		c := rundir.Conclusion{Claim: publishedSaturation(sat, lang.English), Metric: "saturation", Unit: UnitRate}
		setNumbers(&c, sat.Rate, sat.Low, sat.High)
		return c
	}
	rows := AllStages(run)
	var worst *rundir.Stage
	for _, r := range rows {
		if g := r.Stage.Goodput; g != nil && (worst == nil || severity(r.Stage) > severity(worst)) {
			worst = r.Stage
		}
	}
	switch {
	case worst != nil:
		decisions := [...]rundir.Decision{rundir.DecisionMet, rundir.DecisionUndecided, rundir.DecisionMissed}
		c := rundir.Conclusion{Verdict: decisions[severity(worst)], Claim: rowSLO(worst, lang.English),
			MayClaim: rundir.SupportsSLO}
		if c.Verdict == rundir.DecisionUndecided {
			c.MayClaim = rundir.SupportsNothing
		}
		return c
	case len(rows) == 1 && rows[0].Stage.Invalid.IsZero():
		c := rundir.Conclusion{Claim: strings.Join(StageFacts(rows[0].Stage, lang.English), ", "), Metric: "completed",
			Unit: UnitRate}
		setNumbers(&c, Completed(rows[0].Stage), rundir.Number{}, rundir.Number{})
		return c
	case len(rows) == 0:
		return rundir.Conclusion{Verdict: rundir.DecisionUndecided, Claim: sayNoRows.In(lang.English),
			MayClaim: rundir.SupportsNothing}
	}
	return rundir.Conclusion{Verdict: rundir.DecisionMeasured, Claim: sayRowsOnly.In(lang.English, len(rows)),
		MayClaim: rundir.SupportsValue}
}

// severity is as in the exit code: the worst stage decides, and an invalid one decides nothing in its favour.
func severity(s *rundir.Stage) int {
	switch {
	case s.Goodput.Verdict == rundir.Missed:
		return 2
	case s.Goodput.Verdict != rundir.Met || !s.Invalid.IsZero():
		return 1
	}
	return 0
}

// reasons tell why there is no rate or only a bound, what a reader must know first, and why stages do not count. Their
// words are in sweepWords.
func reasons(run *rundir.Run) []note.Note {
	all := []note.Note{run.Failure}
	if run.Saturation != nil {
		all = append(all, run.Saturation.Reason)
	}
	if run.SLO != nil {
		all = append(all, run.SLO.Reason)
	}
	if why, ok := noAnswerReason(run); ok {
		all = append(all, why)
	}
	if a := saturation.AnswerOf(run); a != nil {
		return append(all, a.Cautions...)
	}
	for i := range run.Stages {
		all = append(all, run.Stages[i].Invalid)
	}
	return all
}

var advicePattern = regexp.MustCompile(`(?:Run it again with|:) (--[a-z-]+) ([0-9]\w*)`)

func nextCommand(run *rundir.Run) string {
	for _, s := range Answer(run, lang.English) {
		if m := advicePattern.FindStringSubmatch(s); m != nil && len(run.Command.Args) > 0 {
			return RepeatCommand(run, m[1], m[2])
		}
	}
	return ""
}

// RepeatCommand returns the command of a run with another value of a flag, and without its directory, which exists;
// empty where the command is not known.
func RepeatCommand(run *rundir.Run, flag, value string) string {
	args := slices.Clone(run.Command.Args)
	if len(args) == 0 {
		return ""
	}
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case name != "--out" && name != flag:
			continue
		case joined || i+1 == len(args):
			args = slices.Delete(args, i, i+1)
		default:
			args = slices.Delete(args, i, i+2)
		}
		i--
	}
	if flag != "" {
		args = append(args, flag, value)
	}
	return CommandLine(args)
}

// CommandLine returns arguments as a POSIX shell takes them.
func CommandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = shellQuote(a)
	}
	return strings.Join(words, " ")
}

func shellQuote(a string) string {
	if a != "" && !strings.ContainsFunc(a, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+",
			r))
	}) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// CostOf returns what runs took that were measured together.
func CostOf(runs ...*rundir.Run) *rundir.Cost {
	c, began, ended := &rundir.Cost{}, runs[0].Started, time.Time{}
	for _, run := range runs {
		if run.Started.Before(began) {
			began = run.Started
		}
		if run.Ended.After(ended) {
			ended = run.Ended
		}
		for i := range run.Stages {
			c.Requests += run.Stages[i].Requests.Sent
		}
		if run.Spent != nil && run.Spent.Cost.Known() {
			c.Money = rundir.Exactly(c.Money.Or(0) + run.Spent.Cost.Value())
		}
	}
	if ended.After(began) {
		c.Minutes = ended.Sub(began).Minutes()
	}
	return c
}
