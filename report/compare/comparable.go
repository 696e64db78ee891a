package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

// A prompt token that is in the prefix cache costs the server next to nothing. Runs whose hit rates differ did
// different work, so they are compared by the work alone: uncached prompt tokens and output tokens per second.

// hitTolerance is by how much hit rates may differ between runs that are compared by other metrics.
const hitTolerance = 0.1

// cachedPrompts returns how many of a setup's prompt tokens its server reported as cached, and of how many; and all of
// them, with the number of requests.
func cachedPrompts(s *setup.Setup) (cached, reported, tokens, requests float64) {
	for i := range s.Rows {
		st := s.Rows[i].Stage
		if !st.PromptTokens.Mean.Known() {
			continue
		}
		n := float64(st.PromptTokens.N)
		prompt := n * st.PromptTokens.Mean.Value()
		tokens, requests = tokens+prompt, requests+n
		if h := st.Hits; h != nil && h.Reported.Known() {
			cached, reported = cached+prompt*h.Reported.Value(), reported+prompt
		}
	}
	return cached, reported, tokens, requests
}

func hitRate(s *setup.Setup) rundir.Number {
	cached, reported, _, _ := cachedPrompts(s)
	return rundir.Exactly(cached / reported)
}

// hitsDiffer reports whether hit rates differ by too much for rates and times to be compared.
func hitsDiffer(a, b *Configuration) bool {
	return math.Abs(a.Hits.Value()-b.Hits.Value()) > hitTolerance
}

func (m *Configuration) addUncached() {
	p := m.setup.Plateau
	if _, has := m.Get(keyUncached); has || p.Rising || p.Most.Known() || !m.Hits.Known() {
		return
	}
	_, _, tokens, n := cachedPrompts(m.setup)
	v := p.Output.Value() + p.Rate.Value()*tokens/n*(1-m.Hits.Value())
	m.add(Figure{Key: keyUncached, Value: rundir.Exactly(v), Where: p.Where,
		se: halfWidth(p.Low, p.High) * v / p.Rate.Value()})
}

// hitGroups returns for each configuration the key of those with a like hit rate, which are compared by all metrics:
// the index of the first.
func (c *Comparison) hitGroups() []string {
	keys := make([]string, len(c.Setups))
	for i := range c.Setups {
		like := func(m Configuration) bool { return !hitsDiffer(&m, &c.Setups[i]) }
		keys[i] = strconv.Itoa(slices.IndexFunc(c.Setups, like))
	}
	return keys
}

// checkHits adds uncached tokens per second where the hit rates in a group differ. The error is of two configurations
// that have no such rate.
func (c *Comparison) checkHits() error {
	for _, g := range c.groups {
		a := &c.Setups[g.members[0]]
		for _, i := range g.members[1:] {
			b := &c.Setups[i]
			if !hitsDiffer(a, b) {
				continue
			}
			a.addUncached()
			b.addUncached()
			if !a.figure(keyUncached).known() || !b.figure(keyUncached).known() {
				return differentHits{a, b}
			}
			c.hitNotes = append(c.hitNotes, sayHitsApart.Text(a.Name, lang.Percent(a.Hits.Value()), b.Name,
				lang.Percent(b.Hits.Value())))
		}
	}
	return nil
}

type differentHits struct{ a, b *Configuration }

func (e differentHits) Error() string {
	return fmt.Sprintf("%s found %s of its prompt tokens in the prefix cache and %s %s, so their numbers cannot be "+
		"compared; measure both with equal --cache-hits, or compare them anyway with --any-workload",
		e.a.Origin, lang.Percent(e.a.Hits.Value()), e.b.Origin, lang.Percent(e.b.Hits.Value()))
}
