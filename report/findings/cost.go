package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

const costDigits = 4 // decimals

// costOfMillion returns what a million output tokens cost at saturation, and at the recommended load, where answers are
// taken to be as long. Both are absent where price, number of GPUs or output is not known.
func costOfMillion(run *rundir.Run) (saturated, atLoad rundir.Number) {
	a, hour := saturation.AnswerOf(run), run.Labels.Price*float64(run.Labels.GPUs)
	if a == nil || hour <= 0 || !a.Rate.Known() || a.Rate.Value() <= 0 || !a.Output.Known() || a.Output.Value() <= 0 {
		return saturated, atLoad
	}
	saturated = rundir.Exactly(rundir.CostOfMillion(hour, a.Output.Value()))
	if a.Comfortable != nil && run.Source == nil { // results of others recommend no load
		atLoad = lang.Scale(saturated, a.Rate.Value()/a.Comfortable.Rate.Value())
	}
	return saturated, atLoad
}

func costSentence(run *rundir.Run, l lang.Lang) string {
	saturated, atLoad := costOfMillion(run)
	if saturated.IsZero() {
		return ""
	}
	a, price := saturation.AnswerOf(run), lang.Shortest(run.Labels.Price)
	each := sayGPUHour.In(l, price)
	if n := run.Labels.GPUs; n > 1 {
		each = sayGPUHours.In(l, n, price)
	}
	share := saturated.Value() / a.Rate.Value()
	digits := lang.Estimate(lang.Scale(a.Low, share), lang.Scale(a.High, share))
	money := func(cost rundir.Number) string {
		if text := lang.Number(cost, digits); strings.ContainsAny(text, "123456789") {
			return text
		}
		return lang.Number(cost, lang.Short) // it is less than the last decimal
	}
	if atLoad.IsZero() {
		return sayCostsSaturated.In(l, money(saturated), each)
	}
	load := lang.Number(a.Comfortable.Rate, comfortableDigits(a))
	return sayCosts.In(l, money(atLoad), load, money(saturated), each)
}

func spentSentence(s *rundir.Spent, l lang.Lang) string {
	text := saySpent.In(l, strconv.Itoa(s.Requests), strconv.FormatInt(s.PromptTokens, 10),
		strconv.FormatInt(s.OutputTokens, 10))
	if s.UnsureTokens > 0 {
		text += sayUnsure.In(l, strconv.FormatInt(s.UnsureTokens, 10))
	}
	if s.Cost.Known() {
		text += sayCost.In(l, strconv.FormatFloat(s.Cost.Value(), 'f', costDigits, 64))
	}
	return text + lang.Stop.In(l)
}
