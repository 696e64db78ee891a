package choose

import (
	"fmt"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// markPredicted stands after the name of a configuration of which nothing was measured with the wanted workload.
const markPredicted = "~"

// Why a configuration has no rows for the wanted workload, beside the codes of package twin.
const (
	refusedCheck = "failed-check"   // the twin failed its held-out check
	refusedOther = "other-workload" // measured with another workload, and no twin was given
)

// unpredicted is such a reason in words.
func unpredicted(code string, l lang.Lang) string {
	switch code {
	case refusedCheck:
		return whyCheck.In(l)
	case refusedOther:
		return whyOther.In(l)
	}
	return TwinRefusal(code, l)
}

// anyPredicted reports whether a configuration of the ranking is predicted.
func (c *Choice) anyPredicted() bool {
	return slices.ContainsFunc(c.Ranked, func(k Candidate) bool { return k.Predicted != nil })
}

// basis are the cells that tell how many replicas a prediction allows, and by how much its twin was off.
func (k *Candidate) basis() []table.Cell {
	p := k.Predicted
	if p == nil {
		return []table.Cell{{}, {Text: wordMeasured.Text()}}
	}
	cell := table.Cell{Text: lang.Both(func(l lang.Lang) string { return offBy(p, l) }), Tone: table.Caution}
	if p.Extrapolated {
		cell.Text = cell.Text.Plus(lang.Comma.Text()).Plus(wordExtrapolated.Text())
	}
	if p.Failed {
		cell.Tone = table.Bad
	}
	return []table.Cell{table.Literal(fmt.Sprintf("%d-%d", k.Between[0], k.Between[1])), cell}
}

// offBy tells how far predictions of held-out stages were off.
func offBy(p *setup.Prediction, l lang.Lang) string {
	switch {
	case p.CheckError == nil:
		return wordUnchecked.In(l)
	case p.Failed:
		return wordFailed.In(l, lang.Percent(*p.CheckError))
	}
	return wordOff.In(l, lang.Percent(*p.CheckError))
}

var (
	headBasis        = lang.Say("basis", "来源")
	headBetween      = lang.Say("replicas", "副本数")
	subBetween       = lang.Say("interval", "区间")
	wordMeasured     = lang.Say("measured", "实测")
	wordOff          = lang.Say("predicted; held-out rows off by %s", "预测；留出行误差 %s")
	wordFailed       = lang.Say("predicted; FAILED its check by %s", "预测；未通过检验，误差 %s")
	wordUnchecked    = lang.Say("predicted; never checked", "预测；未经检验")
	wordExtrapolated = lang.Say("extrapolated", "外推")

	sayPredicted    = lang.Say("It is predicted by the twin %[1]s, not measured (%[2]s): the prediction allows %[3]d to %[4]d replicas. Measure before you buy.", "该结果由孪生模型 %[1]s 预测，并非实测（%[2]s）：预测允许 %[3]d 至 %[4]d 个副本。购买前请实测。")
	legendPredicted = lang.Say("%s: predicted by a twin for the wanted workload, not measured. The interval of replicas includes the fit's uncertainty and the errors of its held-out check.", "%s：由孪生模型按所需负载预测，并非实测。副本数区间包含拟合的不确定性与留出检验的误差。")
	whyCheck        = lang.Say("its twin failed the held-out check: fit it again on a quiet machine, or use it anyway with --unchecked", "其孪生模型未通过留出检验：请在安静的机器上重新测量，或用 --unchecked 强制使用")
	whyOther        = lang.Say("measured with another workload: give its twin (llmsweep fit), or measure the wanted one", "以另一种负载测得：请给出其孪生模型（llmsweep fit），或测量所需负载")
)
