package compare

import (
	"slices"

	"llmsweep/sweep/rundir"
)

// Step is the effect of more GPUs.
type Step struct {
	From    int    `json:"from"` // GPUs
	To      int    `json:"to"`
	Loads   []Load `json:"loads"`
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

// step returns the effect of more GPUs at each load. A share of the plateau is that of each side's own.
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
		l := Load{At: at, Before: before, After: after, SpeedUp: plusOne(c.Ratio), Low: plusOne(c.Low),
			High: plusOne(c.High)}
		l.Efficiency = rundir.Exactly(l.SpeedUp.Value() * float64(s.From) / float64(s.To))
		if at == keyRate {
			if r, plain := ratio(b, a, keyOutput); !plain {
				l.SpeedUp, l.Efficiency = rundir.Number{}, rundir.Number{}
				l.Low, l.High, l.Bound, l.Unknown = r.Low, r.High, r.Bound, r.Bound == ""
			}
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

// eachStep calls do for each pair of a member and one with the next more GPUs. Members are in the order of their GPUs.
func (f *Factor) eachStep(do func(a, b *Member)) {
	for i := range f.Members {
		b := &f.Members[i]
		fewer := 0
		for j := range f.Members[:i] {
			if n := f.Members[j].config.Labels.GPUs; n < b.config.Labels.GPUs {
				fewer = max(fewer, n)
			}
		}
		for j := range f.Members[:i] {
			if a := &f.Members[j]; fewer > 0 && a.config.Labels.GPUs == fewer {
				do(a, b)
			}
		}
	}
}

func (s Step) load(name string) (Load, bool) {
	i := slices.IndexFunc(s.Loads, func(l Load) bool { return l.At == name })
	if i < 0 {
		return Load{}, false
	}
	return s.Loads[i], true
}
