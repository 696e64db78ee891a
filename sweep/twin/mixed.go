package twin

import (
	"time"

	"llmsweep/client/sim"
)

// Mixed is requests of different lengths, of which a load is made.
type Mixed struct {
	Name    string
	Lengths [][2]int // tokens of prompt and answer
}

// means returns the mean lengths.
func (m *Mixed) means() (prompt, output int) {
	for _, l := range m.Lengths {
		prompt, output = prompt+l[0], output+l[1]
	}
	n := max(1, len(m.Lengths))
	return prompt / n, output / n
}

// longest returns the longest prompt and the longest answer.
func (m *Mixed) longest() (prompt, output int) {
	for _, l := range m.Lengths {
		prompt, output = max(prompt, l[0]), max(output, l[1])
	}
	return prompt, output
}

// AskMixed predicts the saturation rate of a mixed load, or refuses to. The requests come in their order, again and again, and a queue never
// empties. The interval is that of equal requests of the mean lengths.
func (t *Twin) AskMixed(m Mixed) Answer {
	p, o := m.means()
	a := Answer{Name: m.Name, Prompt: p, Output: o}
	longP, longO := m.longest()
	a.Extrapolated = t.Beyond(longP, longO)
	if a.Refused = t.refuses(longP, longO); a.Refused != "" || len(m.Lengths) == 0 {
		return a
	}
	rate := t.endless(m)
	i := t.Saturation(sim.Workload{PromptTokens: max(1, p), OutputTokens: max(1, o)}, 0)
	if rate == 0 || i.Value == 0 {
		a.Refused = RefusedHolds
		return a
	}
	return a.with(rate, rate*i.Low/i.Value, rate*i.High/i.Value)
}

// ends notes when requests end.
type ends struct{ at []time.Duration }

func (*ends) Gaps(time.Duration, time.Duration, int) {}
func (*ends) Answered(*sim.Visit)                    {}
func (e *ends) Ended(v *sim.Visit)                   { e.at = append(e.at, v.Last) }

// endless returns the requests that end in a second while a queue never empties; 0 where the server cannot hold one of them.
func (t *Twin) endless(m Mixed) float64 {
	const turnovers, least = 40, 2000 // of all slots; requests
	c := t.Config()
	c.Jitter = 0
	e := &ends{}
	r, err := sim.NewReplica(c, 0, e)
	if err != nil {
		return 0
	}
	for k := range max(least, turnovers*t.Slots) {
		l := m.Lengths[k%len(m.Lengths)]
		if !r.Fits(max(1, l[0]), max(1, l[1])) {
			return 0
		}
		r.Add(&sim.Visit{Prompt: max(1, l[0]), Output: max(1, l[1])})
	}
	r.Finish()
	from, to := len(e.at)/5, len(e.at)*4/5 // without the opening and the end
	return float64(to-from) / (e.at[to] - e.at[from]).Seconds()
}
