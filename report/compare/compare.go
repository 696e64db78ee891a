// Package compare compares configurations: their metrics, the differences with intervals, and the effect of more GPUs,
// another engine or another quantization. It refuses to compare different workloads unless asked to, calls a difference
// shown only where its interval shows it, and gives no interval to results of other tools, which come without records.
// Begin with [Of].
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// schema names the version of a Comparison's JSON.
const schema = "llmsweep.compare/v1"

// Comparison is setups side by side. The first is the baseline.
type Comparison struct {
	Schema   string          `json:"schema"`
	Workload string          `json:"workload,omitempty"` // empty where they differ
	Runs     [2]int          `json:"runs,omitzero"`      // of each side, where runs are the unit
	Setups   []Configuration `json:"setups"`
	Changes  []Change        `json:"changes"` // of each setup but the first
	Factors  []Factor        `json:"factors"` // what one thing changes, the rest being equal
	LeftOut  []setup.RowMark `json:"left_out,omitempty"`
	Marked   []setup.RowMark `json:"marked,omitempty"` // rows that were used, and that the audit doubts or remarks on
	Tails    []Tail          `json:"tails,omitempty"`
	groups   []group
	hitNotes []lang.Text // which hit rates differ
}

// group is the setups of one workload, by their indices. The others are compared with the first.
type group struct {
	run     *rundir.Run // one with the workload
	members []int
}

// The keys of metrics. TTFT and ITL, and the latency of answers in one piece, are those of one request at a time, and
// at 50 and 80 % of the saturation rate.
const (
	keyUsers       = "users"
	keyUsersPerGPU = "users_per_gpu"
	keyRate        = "saturation"
	keyOutput      = "tokens_per_s"
	KeyPerGPU      = "tokens_per_s_per_gpu"
	// keyUncached is of runs whose hit rates differ: prompt tokens that were computed, and output tokens.
	keyUncached = "uncached_tokens_per_s"
	keyAnswer   = "tokens_per_request"
	KeyAccuracy = slo.Accuracy // the share of the graded answers that are right
	KeyErrors   = "errors"
)

// Keys returns the metrics that are compared, in the order of the tables.
func Keys() []string {
	keys := []string{keyUsers, keyUsersPerGPU, keyRate, keyOutput, KeyPerGPU, keyUncached}
	for _, what := range []string{"ttft", "itl", "latency"} {
		for _, at := range operatingLoads() {
			keys = append(keys, what+"@"+at.name)
		}
	}
	return append(append(keys, TermKeys()...), KeyAccuracy, KeyErrors)
}

// Of compares setups. anyWorkload compares also runs that asked different things of their servers.
func Of(setups []setup.Setup, anyWorkload bool) (*Comparison, error) {
	if len(setups) == 1 && slices.ContainsFunc(setups[0].Marked, func(o setup.RowMark) bool { return o.Reprint }) {
		return nil, errors.New("the results are one measurement, which the document prints twice")
	}
	if len(setups) < 2 {
		return nil, errors.New("compare needs two results or more: run directories, or documents with published tables")
	}
	c := &Comparison{Schema: schema, groups: groups(setups, anyWorkload)}
	if len(c.groups) == len(setups) {
		return nil, differentWorkloads{&setups[0], &setups[1]}
	}
	several := len(c.groups) > 1
	for i := range setups {
		c.Setups = append(c.Setups, Measure(&setups[i]))
		if several {
			c.Setups[i].Workload = workload(setups[i].Run, lang.English)
		}
		c.LeftOut = append(c.LeftOut, setups[i].LeftOut...)
		c.Marked = append(c.Marked, setups[i].Marked...)
	}
	hitGroups := make([]string, len(setups))
	if !anyWorkload {
		if err := c.checkHits(setups); err != nil {
			return nil, err
		}
		hitGroups = c.hitGroups()
	}
	for _, g := range c.groups {
		first := g.members[0]
		for _, i := range g.members[1:] {
			c.Changes = append(c.Changes, changes(c.Setups[i], c.Setups[first], hitGroups[i] == hitGroups[first])...)
		}
		c.Tails = append(c.Tails, tails(setups, g)...)
	}
	if !several && c.groups[0].run != nil {
		c.Workload = workload(c.groups[0].run, lang.English)
	}
	c.Factors = factors(setups, c.Setups, hitGroups, several)
	return c, nil
}

// groups returns the setups by workload, in the order of their first setups; where any may be compared, in one group
// without a workload.
func groups(setups []setup.Setup, anyWorkload bool) []group {
	var all []group
	at := map[string]int{}
	for i := range setups {
		run := setups[i].Run
		key := workload(run, lang.English)
		if _, seen := at[key]; !seen {
			at[key] = len(all)
			all = append(all, group{run: run})
		}
		g := &all[at[key]]
		g.members = append(g.members, i)
	}
	if anyWorkload && len(all) > 1 {
		whole := group{}
		for i := range setups {
			whole.members = append(whole.members, i)
		}
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
