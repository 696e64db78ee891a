package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Words of workloads whose prompts share a beginning or grow.
var (
	loadBrief     = lang.Say("%s -> %s tokens", "%s -> %s token")
	loadTalkBrief = lang.Say("%s turns: %s, then +%s -> %s tokens, think time %s", "%s 轮：%s，之后每轮 +%s -> %s token，用户停顿 %s")
	loadTalk      = lang.Say("%s turns, +%s tokens in each after the first, think time %s", "%s 轮，首轮之后每轮 +%s token，用户停顿 %s")
	loadShared    = lang.Say("the first %d tokens shared", "前 %d 个 token 相同")
	loadGroups    = lang.Say("the first %d tokens shared in %d groups", "前 %d 个 token 相同（共 %d 组）")
	sayTurns      = lang.Say("Rates count turns. A session has %s turns: %s turns/s are %s sessions/s.", "速率按轮计。每个会话 %s 轮：%s 轮/s 即 %s 会话/s。")
	loadZipf      = lang.Say("the first %d tokens shared in %d groups by Zipf's law", "前 %d 个 token 相同（共 %d 组，按 Zipf 定律分布）")
	loadRandom    = lang.Say("%s on average", "平均 %s")
)

// LoadBrief returns the lengths of a workload in few words; empty where they are not known.
func LoadBrief(w *rundir.Workload, l lang.Lang) string {
	prompt, out := lengthText(w.PromptTokens), AnswerText(w, l)
	if prompt == "" || out == "" {
		return ""
	}
	s := loadBrief.In(l, prompt, out)
	if c := w.Conversation; c != nil {
		s = loadTalkBrief.In(l, lengthText(c.Turns), prompt, laterText(c), out, pause(c, l))
	}
	for _, shared := range sharedText(w, l) {
		s += lang.Comma.In(l) + shared
	}
	return s
}

// Growth returns how the prompts of a workload grow and what they share: one part each; nil where each request stands alone.
func Growth(w *rundir.Workload, l lang.Lang) (parts []string) {
	if c := w.Conversation; c != nil {
		parts = append(parts, loadTalk.In(l, lengthText(c.Turns), laterText(c), pause(c, l)))
	}
	return append(parts, sharedText(w, l)...)
}

func sharedText(w *rundir.Workload, l lang.Lang) []string {
	switch p := w.Prefix; {
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

// laterText returns the lengths of messages after the first; 0 where no conversation has a second.
func laterText(c *rundir.Conversation) string {
	if s := lengthText(c.TurnTokens); s != "" {
		return s
	}
	return "0"
}

func pause(c *rundir.Conversation, l lang.Lang) string {
	s := strconv.FormatFloat(c.Pause, 'f', -1, 64) + " s"
	if c.RandomPauses {
		return loadRandom.In(l, s)
	}
	return s
}

// sessionRate returns what the rate of the answer, or else the highest rate completed, is in sessions; empty where each request stands alone.
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
	return sayTurns.In(l, lengthText(rundir.Lengths{Mean: turns}), lang.Number(rate, lang.Rate), lang.Number(lang.Scale(rate, 1/turns), lang.Rate))
}
