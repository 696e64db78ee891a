package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

var (
	sayAnswersSame = lang.Say("Answers under load are as alone: %s of %s are equal%s; at most %s more differ (95 %%).",
		"负载下的回答与单独询问时一致：%[2]s 个中有 %[1]s 个相同%[3]s；差异至多增加 %[4]s（95 %%）。")
	sayAnswersTies = lang.Say("Answers under load are as alone except for ties%s, where two tokens are nearly as likely: %s of %s are equal%s, %s differ at a tie and %s elsewhere, no more than chance explains.",
		"除平局（两个 token 几乎同样可能）外，负载下的回答与单独询问时一致%[1]s：%[3]s 个中有 %[2]s 个相同%[4]s，%[5]s 个在平局处不同，%[6]s 个在别处不同（不超出偶然）。")
	sayAnswersDiffer = lang.Say("Answers differ under load%s: %s of %s are equal%s; %s differ at a tie of two tokens, %s elsewhere.",
		"负载下的回答不同%[1]s：%[3]s 个中有 %[2]s 个相同%[4]s；%[5]s 个在两个 token 的平局处不同，%[6]s 个在别处不同。")
	sayAnswersTexts = lang.Say("Answers differ under load%s: %s of %s texts are equal%s. Without log-probabilities, ties cannot be told from changes.",
		"负载下的回答不同%[1]s：%[3]s 个文本中有 %[2]s 个相同%[4]s。没有对数概率，无法区分平局与真正的改变。")
	sayAnswersOpen = lang.Say("Undecided whether load changes answers: %s of %s were the same%s, and up to %s more may differ (95 %%). More canaries would tell (longer stages, --canaries, --canary-share).",
		"负载是否改变回答尚未定论：%[2]s 个中有 %[1]s 个相同%[3]s，差异可能至多增加 %[4]s（95 %%）。更多金丝雀提示可以判定（更长的阶段、--canaries、--canary-share）。")
	sayAnswersNone = lang.Say("No canary was answered under load, so that nothing is known of the answers.", "负载下没有金丝雀提示得到回答，因此对回答一无所知。")
	sayAnswersFrom = lang.Say(", from %s on", "，始于 %s")
	sayAnswersNull = lang.Say(" (alone again: %s of %s)", "（再次单独询问：%[2]s 个中有 %[1]s 个）")
	sayAnswersNeed = lang.Say("This run can show that %s or more of the answers change in a stage. For 1 %%: --canaries %s, each asked once in it.",
		"本次运行只能显示一个阶段中 %s 或更多的回答被改变。要显示 1 %%：--canaries %s，每条在其中询问一次。")

	sayAnswersFew = lang.Say("%s takes at least %s canaries in a stage, none of which differs, and there are %s: it stays undecided (--canaries %s, in stages that are long enough)",
		"%s 在一个阶段中至少需要 %s 条金丝雀提示且全部相同，而现有 %s 条：将无法判定（--canaries %s，并用足够长的阶段）")
)

// fidelity returns what the canaries of a run show; none where there were none.
func fidelity(run *rundir.Run, l lang.Lang) []string {
	f := run.Fidelity
	if f == nil {
		return nil
	}
	lines := []string{fidelityAnswer(f, l)}
	if f.Needs > 0 && f.Detects.Known() {
		lines = append(lines, sayAnswersNeed.In(l, lang.Percent(f.Detects.Value()), strconv.Itoa(f.Needs)))
	}
	return lines
}

// fidelityAnswer is the verdict on the answers.
func fidelityAnswer(f *rundir.Fidelity, l lang.Lang) string {
	a := &f.Load
	if a.Answers == 0 {
		return sayAnswersNone.In(l)
	}
	begins := ""
	if f.Stage != "" {
		begins = sayAnswersFrom.In(l, table.Clean(lang.Row(f.Stage)))
	}
	same, all, null, more := strconv.Itoa(equal(a)), strconv.Itoa(a.Answers), "", lang.Percent(a.More.Value())
	if f.Alone.Answers > 0 {
		null = sayAnswersNull.In(l, strconv.Itoa(equal(&f.Alone)), strconv.Itoa(f.Alone.Answers))
	}
	switch {
	case f.Verdict == rundir.FidelitySame:
		return sayAnswersSame.In(l, same, all, null, more)
	case f.Verdict == rundir.FidelityTies:
		return sayAnswersTies.In(l, begins, same, all, null, strconv.Itoa(a.Ties), strconv.Itoa(a.Changes))
	case f.Verdict == rundir.FidelityDiffers && !f.LogProbs:
		return sayAnswersTexts.In(l, begins, same, all, null)
	case f.Verdict == rundir.FidelityDiffers:
		return sayAnswersDiffer.In(l, begins, same, all, null, strconv.Itoa(a.Ties), strconv.Itoa(a.Changes+a.Unknown))
	}
	return sayAnswersOpen.In(l, same, all, null, more)
}

// FewCanaries returns, before they are asked, that canaries are too few to decide an objective; empty where they are not, or there is none.
func FewCanaries(canaries int, terms []slo.Term, l lang.Lang) string {
	t := slo.Of(slo.Fidelity, terms)
	if t == nil || canaries >= t.Fewest() {
		return ""
	}
	least := strconv.Itoa(t.Fewest())
	return sayAnswersFew.In(l, t.String(), least, strconv.Itoa(canaries), least)
}

// equal returns how many answers are equal to those of the first time.
func equal(a *rundir.Agreed) int { return a.Answers - a.Differing() }

// SpreadOf is an estimate with a unit and its interval, where it has one, as print writes numbers.
func SpreadOf(e rundir.Estimate, unit string, print func(rundir.Number) string) string {
	switch {
	case !e.Mean.Known():
		return lang.Absent
	case !e.Low.Known():
		return print(e.Mean) + unit
	}
	return print(e.Mean) + unit + " (" + print(e.Low) + ".." + print(e.High) + ")"
}
