package draw

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// AnswerDigits prints the rates of an answer, as its sentence does: as many decimals as a located rate has, two of a
// bound.
func AnswerDigits(a *rundir.Answer) lang.Printer {
	switch a.Kind {
	case rundir.AtLeast, rundir.AtMost, rundir.Between:
		return lang.Rate
	}
	return lang.Estimate(a.Low, a.High)
}

// AnswerNumber is an answer as one number, with the signs of a bound, or a range: a rate, or the number of users; empty
// where there is none.
func AnswerNumber(a *rundir.Answer) string {
	if a == nil {
		return ""
	}
	digits, rate := AnswerDigits(a), a.Rate
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

// AnswerRange is a rate with its unit and, where it was located, its interval.
func AnswerRange(a *rundir.Answer) string {
	text, digits := AnswerNumber(a)+" req/s", AnswerDigits(a)
	if a.Rate.Known() && a.Low.Known() && a.High.Known() {
		text += " (" + lang.Number(a.Low, digits) + "–" + lang.Number(a.High, digits) + ")"
	}
	return text
}
