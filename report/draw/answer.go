package draw

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// answerDigits prints rates as the sentence of the answer does.
func answerDigits(a *rundir.Answer) lang.Printer {
	switch a.Kind {
	case rundir.AtLeast, rundir.AtMost, rundir.Between:
		return lang.Rate
	}
	return lang.Estimate(a.Low, a.High)
}

// AnswerNumber returns the rate or the users of an answer, with the sign of a bound or as a range; empty for none.
func AnswerNumber(a *rundir.Answer) string {
	if a == nil {
		return ""
	}
	digits, rate := answerDigits(a), a.Rate
	if a.Carried != nil {
		digits, rate = func(v float64, _ bool) string { return lang.Shortest(v) }, a.Carried.Users
	}
	switch {
	case a.Kind == rundir.AtMost:
		return "≤ " + lang.Number(a.High, digits)
	case a.Kind == rundir.Between:
		return lang.Number(a.Low, digits) + "–" + lang.Number(a.High, digits)
	case rate.IsZero():
		return ""
	case rate.Bound():
		return "≥ " + lang.Number(rundir.Exactly(rate.Value()), digits)
	}
	return lang.Number(rate, digits)
}

// AnswerRange returns the rate of an answer with its unit and its interval.
func AnswerRange(a *rundir.Answer) string {
	text, digits := AnswerNumber(a)+" req/s", answerDigits(a)
	if a.Rate.Known() && a.Low.Known() && a.High.Known() {
		text += " (" + lang.Number(a.Low, digits) + "–" + lang.Number(a.High, digits) + ")"
	}
	return text
}
