package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

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
	m.add(Figure{Key: keyUncached, Value: rundir.Exactly(v), Where: p.Where, se: halfWidth(p.Low, p.High) * v / p.Rate.Value()})
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
