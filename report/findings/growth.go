package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// LoadBrief returns the lengths of a workload in few words; empty where they are not known.
func LoadBrief(w *rundir.Workload, l lang.Lang) string {
	prompt, out := lengthText(w.PromptTokens), AnswerText(w, l)
	if prompt == "" || out == "" {
		return ""
	}
	s := loadBrief.In(l, prompt, out)
	c := w.Conversation
	switch {
	case c != nil && lacksTurnLengths(c):
		s += lang.Comma.In(l) + loadTurns.In(l, lengthText(c.Turns))
	case c != nil:
		s = loadTalkBrief.In(l, lengthText(c.Turns), prompt, laterTurnsText(c), out, pauseText(c, l))
	}
	for _, shared := range sharedPrefixText(w, l) {
		s += lang.Comma.In(l) + shared
	}
	return s
}

// Growth returns how the prompts of a workload grow and what they share; nil where each request stands alone.
func Growth(w *rundir.Workload, l lang.Lang) (parts []string) {
	c := w.Conversation
	switch {
	case c != nil && lacksTurnLengths(c):
		parts = append(parts, loadTurns.In(l, lengthText(c.Turns)))
	case c != nil:
		parts = append(parts, loadTalk.In(l, lengthText(c.Turns), laterTurnsText(c), pauseText(c, l)))
	}
	return append(parts, sharedPrefixText(w, l)...)
}

func sharedPrefixText(w *rundir.Workload, l lang.Lang) []string {
	p := w.Prefix
	switch {
	case p == nil:
		return nil
	case p.Groups == 1:
		return []string{loadShared.In(l, p.Tokens)}
	case p.Zipf:
		return []string{loadZipf.In(l, p.Tokens, p.Groups)}
	default:
		return []string{loadGroups.In(l, p.Tokens, p.Groups)}
	}
}

// lacksTurnLengths reports whether the later messages are not known: another tool measured them.
func lacksTurnLengths(c *rundir.Conversation) bool { return c.Turns.Mean > 1 && c.TurnTokens.Mean == 0 }

func laterTurnsText(c *rundir.Conversation) string {
	if s := lengthText(c.TurnTokens); s != "" {
		return s
	}
	return "0"
}

func pauseText(c *rundir.Conversation, l lang.Lang) string {
	s := strconv.FormatFloat(c.Pause, 'f', -1, 64) + " s"
	if c.RandomPauses {
		return loadRandom.In(l, s)
	}
	return s
}

// sessionRate puts the rate of the answer, or else the highest rate completed, into sessions.
func sessionRate(run *rundir.Run, l lang.Lang) string {
	turns := run.Workload.Turns()
	if turns <= 1 || run.Plan.Kind == rundir.KindUsers {
		return ""
	}
	var rate rundir.Number
	for i := range run.Stages {
		if done := run.Stages[i].Rates.Completed; done.Known() && (!rate.Known() || done.Value() > rate.Value()) {
			rate = done
		}
	}
	if run.Saturation != nil && run.Saturation.Rate.Known() {
		rate = rundir.Exactly(run.Saturation.Rate.Value())
	}
	if !rate.Known() {
		return ""
	}
	return sayTurns.In(l, lengthText(rundir.Lengths{Mean: turns}), lang.Number(rate, lang.Rate),
		lang.Number(lang.Scale(rate, 1/turns), lang.Rate))
}
