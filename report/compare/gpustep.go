package compare

import (
	"slices"

	"llmsweep/sweep/rundir"
)

// Step is the effect of more GPUs.
type Step struct {
	From  int    `json:"from"` // GPUs
	To    int    `json:"to"`
	Loads []Load `json:"loads"`

	origins [2]string
}

// Load is a step at one load.
type Load struct {
	At         string        `json:"at"` // "sync", "50", "80", or "saturation"
	Before     Metric        `json:"before"`
	After      Metric        `json:"after"`
	SpeedUp    rundir.Number `json:"speed_up"`
	Low        rundir.Number `json:"low,omitzero"` // 95 % interval
	High       rundir.Number `json:"high,omitzero"`
	Efficiency rundir.Number `json:"efficiency"` // of SpeedUp, 1 where twice the GPUs give twice as much
	// Bound is that of a [Ratio] whose Low and High the speed-up has; SpeedUp and Efficiency are absent then. Unknown
	// is set of two lower bounds.
	Bound   string           `json:"bound,omitempty"`
	Unknown bool             `json:"unknown,omitempty"`
	ITL     [2]rundir.Number `json:"itl_s"` // before and after
	TTFT    [2]rundir.Number `json:"ttft_s"`
	Answer  [2]rundir.Number `json:"tokens_per_request"`
}

// step returns the effect of more GPUs at each load. At a share of the plateau, each is loaded to that share of its
// own.
func step(a, b *Configuration) Step {
	s := Step{From: a.Labels.GPUs, To: b.Labels.GPUs}
	for _, at := range []string{"sync", "50", "80", keyRate} {
		key := "output@" + at
		if at == keyRate {
			key = keyOutput
		}
		before, ok1 := a.Get(key)
		after, ok2 := b.Get(key)
		if !ok1 || !ok2 {
			continue
		}
		c := change(after, before)
		if c.Ratio.IsZero() {
			continue
		}
		plus1 := func(f rundir.Number) rundir.Number { return rundir.Exactly(f.Value() + 1) } // absent stays absent: NaN
		l := Load{At: at, Before: before, After: after, SpeedUp: plus1(c.Ratio), Low: plus1(c.Low), High: plus1(c.High)}
		l.Efficiency = rundir.Exactly(l.SpeedUp.Value() * float64(s.From) / float64(s.To))
		if at == keyRate {
			l.setBound(ratio(b, a, keyOutput))
		}
		for i, m := range []*Configuration{a, b} {
			itl, _ := m.Get("itl@" + at)
			ttft, _ := m.Get("ttft@" + at)
			l.ITL[i], l.TTFT[i] = itl.Value, ttft.Value
			if at == keyRate {
				answer, _ := m.Get(keyAnswer)
				l.Answer[i] = answer.Value
			}
		}
		s.Loads = append(s.Loads, l)
	}
	return s
}

// eachStep calls do for each pair of a member and one with the next more GPUs, whatever the order in which results were
// named.
func (f *Factor) eachStep(do func(a, b *Member)) {
	for i := range f.Members {
		b := &f.Members[i]
		fewer := 0
		for j := range f.Members[:i] {
			if n := f.Members[j].m.Labels.GPUs; n < b.m.Labels.GPUs {
				fewer = max(fewer, n)
			}
		}
		for j := range f.Members[:i] {
			if a := &f.Members[j]; fewer > 0 && a.m.Labels.GPUs == fewer {
				do(a, b)
			}
		}
	}
}

// setBound takes the speed-up back where it is a bound, or not known.
func (l *Load) setBound(r Ratio, plain bool) {
	if plain {
		return
	}
	l.SpeedUp, l.Efficiency, l.Low, l.High, l.Bound, l.Unknown = rundir.Number{}, rundir.Number{}, r.Low, r.High, r.Bound,
		r.Bound == ""
}

// load is the step at one load.
func (s Step) load(name string) (Load, bool) {
	i := slices.IndexFunc(s.Loads, func(l Load) bool { return l.At == name })
	if i < 0 {
		return Load{}, false
	}
	return s.Loads[i], true
}
