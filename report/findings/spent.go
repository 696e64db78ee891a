package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

var (
	saySpent = lang.Say("Spent: %s requests, %s prompt and %s output tokens", "已花费：%s 个请求，%s 个提示词 token，%s 个输出 token")
	sayCost  = lang.Say(", at a cost of %s", "，费用 %s")
	// sayUnsure follows the tokens that the server counted.
	sayUnsure = lang.Say(", and up to %s tokens of requests that were cancelled or failed in mid-stream",
		"，另有被取消或中途失败的请求，至多 %s 个 token")
)

// spent returns what a run spent, as a sentence.
func spent(s *rundir.Spent, l lang.Lang) string {
	text := saySpent.In(l, strconv.Itoa(s.Requests), strconv.FormatInt(s.PromptTokens, 10), strconv.FormatInt(s.OutputTokens, 10))
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
