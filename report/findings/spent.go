package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// spentSentence returns what a run spent, as a sentence.
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

// costDigits is how many decimals of a cost are shown.
const costDigits = 4
