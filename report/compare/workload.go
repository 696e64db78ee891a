package compare

import (
	"fmt"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// group is the setups of one workload, by their indices. The others are compared with the first.
type group struct {
	run     *rundir.Run // one with the workload
	members []int
}

// groups returns the setups by workload, in the order of their first setups; where any may be compared, in one group
// without a workload.
func groups(setups []setup.Setup, anyWorkload bool) []group {
	var all []group
	at := map[string]int{}
	whole := group{}
	for i := range setups {
		run := setups[i].Run
		key := workload(run, lang.English)
		if _, seen := at[key]; !seen {
			at[key] = len(all)
			all = append(all, group{run: run})
		}
		g := &all[at[key]]
		g.members, whole.members = append(g.members, i), append(whole.members, i)
	}
	if anyWorkload && len(all) > 1 {
		return []group{whole}
	}
	return all
}

// differentWorkloads is the error of setups of which no two have the same workload. It names two.
type differentWorkloads struct{ a, b *setup.Setup }

func (e differentWorkloads) Error() string {
	return fmt.Sprintf("%s asks for %s and %s for %s, so their numbers cannot be compared; add a result of the same "+
		"workload, or compare them anyway with --any-workload",
		e.a.Origin(), workload(e.a.Run, lang.English), e.b.Origin(), workload(e.b.Run, lang.English))
}

// Incomparable reports whether [Of] failed because no two setups have the same workload, or two have unlike hit rates.
func Incomparable(err error) bool {
	switch err.(type) {
	case differentWorkloads, differentHits:
		return true
	}
	return false
}

// Workload returns what was asked of a server, with whether the model is to think.
func Workload(run *rundir.Run, l lang.Lang) string {
	parts := []string{workload(run, l)}
	if mode := setup.ThinkingText(run, l); mode != "" {
		parts = append(parts, mode)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

// workload returns what was asked of a server, as far as it must be the same for a comparison. Seeds may differ.
func workload(run *rundir.Run, l lang.Lang) string {
	w := run.Workload
	answer := lengths(w.OutputTokens)
	if w.Capped {
		answer = findings.AnswerText(&w, l)
	}
	parts := []string{loadTokens.In(l, lengths(w.PromptTokens), answer)}
	if w.Capped && w.PromptTokens.Mean == 0 {
		parts = []string{loadAnswers.In(l, lengths(w.OutputTokens))}
	}
	parts = append(parts, findings.Growth(&w, l)...)
	if w.Dataset != "" {
		parts = append(parts, loadDataset.In(l, w.Dataset))
	}
	if w.Prompt != "" {
		parts = append(parts, loadPrompt.In(l, len(w.Prompt)))
	}
	return strings.Join(parts, lang.Comma.In(l))
}

func lengths(n rundir.Lengths) string {
	if n.Mean == 0 {
		return "?"
	}
	s := lang.WholeOr(2)(n.Mean, false)
	if n.Std > 0 {
		s += fmt.Sprintf("±%s (%d-%d)", lang.WholeOr(1)(n.Std, false), n.Min, n.Max)
	}
	return s
}
