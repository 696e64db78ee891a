package twin

import (
	"math/rand/v2"
	"slices"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/stats"
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

// meanOutput returns the mean tokens of an answer.
func (m *Mixed) meanOutput() float64 {
	sum := 0
	for _, l := range m.Lengths {
		sum += l[1]
	}
	return float64(sum) / float64(max(1, len(m.Lengths)))
}

// longest returns the longest prompt and the longest answer.
func (m *Mixed) longest() (prompt, output int) {
	for _, l := range m.Lengths {
		prompt, output = max(prompt, l[0]), max(output, l[1])
	}
	return prompt, output
}

// Ask predicts the saturation rate of a load, or refuses to: that of equal requests of the mean lengths, times what the mix changes where a queue
// never empties and the requests come in their order, again and again.
func (t *Twin) Ask(m Mixed) Answer {
	p, o := m.means()
	a := Answer{Name: m.Name, Prompt: p, Output: o}
	longP, longO := m.longest()
	a.Extrapolated = t.Beyond(longP, longO)
	if a.Refused = t.refuses(longP, longO); a.Refused != "" || len(m.Lengths) == 0 {
		return a
	}
	i, mix := t.Saturation(sim.Workload{PromptTokens: max(1, p), OutputTokens: max(1, o)}, 0), 1.0
	if mean := [2]int{p, o}; slices.ContainsFunc(m.Lengths, func(l [2]int) bool { return l != mean }) && i.Value > 0 {
		mix = t.endless(m) / t.endless(Mixed{Lengths: [][2]int{mean}})
	}
	return a.with(i.Value*mix, i.Low*mix, i.High*mix)
}

// ends notes when requests end.
type ends struct{ at []time.Duration }

func (*ends) Gaps(time.Duration, time.Duration, int) {}
func (*ends) Answered(*sim.Visit)                    {}
func (e *ends) Ended(v *sim.Visit)                   { e.at = append(e.at, v.Last) }

// endless returns the requests that end in a second while a queue never empties; 0 where the server cannot hold one of them. It is the mean over
// some starts: answers of equal length keep the distances at which they started, and these change how prompts and answers share steps.
func (t *Twin) endless(m Mixed) float64 {
	const starts = 5
	sum := 0.0
	for i := range uint64(starts) {
		sum += t.endlessFrom(m, stats.Rand(i, "twin", "endless"))
	}
	return sum / starts
}

// endlessFrom is endless of one start: the answers that run first have only some of their tokens left.
func (t *Twin) endlessFrom(m Mixed, rng *rand.Rand) float64 {
	const turnovers, least = 20, 800 // of all slots; requests
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
		if k < t.Slots {
			l[1] = int(rng.Float64() * float64(l[1]))
		}
		r.Add(&sim.Visit{Prompt: max(1, l[0]), Output: max(1, l[1])})
	}
	r.Finish()
	from, to := len(e.at)/5, len(e.at)*4/5 // without the opening and the end
	return float64(to-from) / (e.at[to] - e.at[from]).Seconds()
}
