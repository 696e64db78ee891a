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

// hitRate returns the share of a setup's prompt tokens that its server reported as cached; absent where it reported
// nothing.
func hitRate(s *setup.Setup) rundir.Number {
	cached, prompt := 0.0, 0.0
	for i := range s.Rows {
		st := s.Rows[i].Stage
		if h := st.Hits; h != nil && h.Reported.Known() && st.PromptTokens.Mean.Known() {
			n := float64(st.PromptTokens.N) * st.PromptTokens.Mean.Value()
			cached, prompt = cached+n*h.Reported.Value(), prompt+n
		}
	}
	return rundir.Exactly(cached / prompt)
}

// hitsDiffer reports whether the hit rates of two configurations differ by too much for their rates and times to be
// compared.
func hitsDiffer(a, b *Configuration) bool {
	return a.Hits.Known() && b.Hits.Known() && math.Abs(a.Hits.Value()-b.Hits.Value()) > hitTolerance
}

func (m *Configuration) addUncached(s *setup.Setup) {
	tokens, n := 0.0, 0.0
	for i := range s.Rows {
		if p := s.Rows[i].Stage.PromptTokens; p.Mean.Known() {
			tokens, n = tokens+float64(p.N)*p.Mean.Value(), n+float64(p.N)
		}
	}
	p := s.Plateau
	if p.Rising || p.Most.Known() || !m.Hits.Known() {
		return
	}
	v := p.Output.Value() + p.Rate.Value()*tokens/n*(1-m.Hits.Value())
	m.add(keyUncached, setup.Value{Number: rundir.Exactly(v), SE: plateauError(p, v/p.Rate.Value())}, p.Where)
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
func (c *Comparison) checkHits(setups []setup.Setup) error {
	for _, g := range c.groups {
		from := g.members[0]
		for _, i := range g.members[1:] {
			a, b := &c.Setups[from], &c.Setups[i]
			if !hitsDiffer(a, b) {
				continue
			}
			for _, k := range []int{from, i} {
				if _, has := c.Setups[k].Get(keyUncached); !has {
					c.Setups[k].addUncached(&setups[k])
				}
			}
			_, ok1 := a.Get(keyUncached)
			if _, ok2 := b.Get(keyUncached); !ok1 || !ok2 {
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
