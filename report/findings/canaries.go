package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

var (
	sayAnswersUnsure = lang.Say("%s: %s %% of %s answers to %s canaries differ (95 %%: %s-%s %%)", "%[1]s：%[4]s 条金丝雀提示的 %[3]s 个回答中有 %[2]s %% 不同（95 %%：%[5]s-%[6]s %%）")
	sayMoreCanaries  = lang.Say("At the share of differing answers measured in %s, about %s different canaries would decide %s; this run has %s: --canaries %[2]s, and enough requests to ask each of them in a stage%[5]s.",
		"按 %[1]s 测得的不同回答比例，约 %[2]s 条不同的金丝雀提示即可判定 %[3]s，本次有 %[4]s 条：--canaries %[2]s，且请求数应足以在一个阶段中逐一询问%[5]s。")
	sayCanaryRequests = lang.Say(" (about %s)", "（约 %s 个）")
	sayNoCanaries     = lang.Say("The share of differing answers measured in %s is too near the limit of %s for more canaries to decide it.", "%s 测得的不同回答比例离 %s 的上限太近，增加金丝雀提示也难以判定。")
)

// canaries returns how many canaries would decide a limit on differing answers, where this run has too few: asking them more often tells nothing
// new. told has the terms that this is about.
func canaries(run *rundir.Run, l lang.Lang) (lines []string, told map[string]bool) {
	told = map[string]bool{}
	if run.Fidelity == nil {
		return nil, told
	}
	var where *rundir.Stage
	var term string
	needs := 0
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Goodput == nil || run.SLO != nil && st.Name != run.SLO.NeedsStage {
			continue
		}
		for _, p := range st.Goodput.Terms {
			t, err := slo.Parse(p.Term)
			if err != nil || t.Metric != slo.Fidelity || p.Verdict != rundir.Unsure || p.Beyond == nil {
				continue
			}
			n := t.NeedsCanaries(st)
			if n > 0 && n <= run.Fidelity.Canaries { // a longer stage asks enough of them
				continue
			}
			told[p.Term] = true
			if where == nil || n > needs {
				where, term, needs = st, p.Term, n
			}
		}
	}
	if where == nil {
		return nil, told
	}
	name := table.Clean(StageName(where))
	if needs == 0 {
		return []string{sayNoCanaries.In(l, name, term)}, told
	}
	n, requests := roundUp(float64(needs)), ""
	if share := run.Fidelity.Share; share.Known() && share.Value() > 0 {
		requests = sayCanaryRequests.In(l, whole(roundUp(n/share.Value())))
	}
	return []string{sayMoreCanaries.In(l, name, whole(n), term, strconv.Itoa(run.Fidelity.Canaries), requests)}, told
}
