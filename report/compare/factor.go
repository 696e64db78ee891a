package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// The labels of which one may differ.
const (
	ByGPUs   = "gpus"
	byEngine = "engine"
	byQuant  = "quant"
	byGPU    = "gpu"
)

// Factor is the effect of one label, all others being equal.
type Factor struct {
	What    string   `json:"what"`
	Equal   string   `json:"equal"` // what is the same in all of them
	Members []Member `json:"members"`
	Steps   []Step   `json:"steps,omitempty"`  // from fewer GPUs to more
	Ratios  []Ratio  `json:"ratios,omitempty"` // of the outputs: of the highest to the others, of each number of GPUs to the next fewer
	Pairs   []Pair   `json:"pairs,omitempty"`  // at equal concurrency, where closed loops were measured
	Says    string   `json:"says"`             // the conclusion
}

// Member is a setup of a factor.
type Member struct {
	Value string `json:"value"` // of what differs
	Setup string `json:"setup"`
	m     Measured
	setup *setup.Setup
}

// Step is the effect of more GPUs.
type Step struct {
	From  int    `json:"from"` // GPUs
	To    int    `json:"to"`
	Loads []Load `json:"loads"`

	setups [2]string
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
	// Bound is that of a [Ratio] whose Low and High the speed-up has; SpeedUp and Efficiency are absent then. Unknown is set of two lower bounds.
	Bound   string           `json:"bound,omitempty"`
	Unknown bool             `json:"unknown,omitempty"`
	ITL     [2]rundir.Number `json:"itl_s"` // before and after
	TTFT    [2]rundir.Number `json:"ttft_s"`
	Answer  [2]rundir.Number `json:"tokens_per_request"`
}

// labelOf is a setup's value of one thing.
func labelOf(run *rundir.Run, what string) string {
	switch what {
	case ByGPUs:
		if run.Labels.GPUs == 0 {
			return ""
		}
		return strconv.Itoa(run.Labels.GPUs)
	case byEngine:
		return setup.Engine(run)
	case byQuant:
		return run.Labels.Quant
	case byGPU:
		return run.Labels.GPU
	}
	return setup.Model(run)
}

// factors returns the groups of setups in which exactly one label differs, so that a difference can be attributed to it. What no label
// names may still differ.
func factors(setups []setup.Setup, all []Measured) []Factor {
	var found []Factor
	for _, what := range []string{ByGPUs, byEngine, byQuant, byGPU} {
		groups := map[string]*Factor{}
		var order []string
		for i := range setups {
			key, equal := keyOf(setups[i].Run, what)
			if key == "" {
				continue
			}
			if groups[key] == nil {
				groups[key] = &Factor{What: what, Equal: equal}
				order = append(order, key)
			}
			g := groups[key]
			g.Members = append(g.Members, Member{labelOf(setups[i].Run, what), setups[i].Name, all[i], &setups[i]})
		}
		for _, key := range order {
			g := groups[key]
			if g.differs() {
				g.arrange()
				found = append(found, *g)
			}
		}
	}
	return found
}

// keyOf returns the labels that the members of a group have in common; empty where too few are known.
func keyOf(run *rundir.Run, what string) (key, equal string) {
	var parts []string
	for _, other := range []string{"model", byQuant, byGPU, ByGPUs, byEngine} {
		v := labelOf(run, other)
		if other == what {
			if v == "" && what != byQuant {
				return "", ""
			}
			continue
		}
		if v == "" && other != byQuant && !(other == ByGPUs && what == ByGPUs) {
			return "", ""
		}
		parts = append(parts, v)
	}
	shown := parts
	if what != byQuant && parts[1] == "" {
		shown = append(slices.Clone(parts[:1]), parts[2:]...)
	}
	if what == byEngine || what == byQuant { // the count and its GPU are one thing to read
		shown = slices.Clone(shown)
		n := slices.Index(shown, run.Labels.GPU)
		shown = slices.Replace(shown, n, n+2, setup.Hardware(run))
	} else if what == byGPU {
		shown = slices.Clone(shown)
		n := slices.Index(shown, strconv.Itoa(run.Labels.GPUs))
		shown[n] += " GPU"
	}
	return strings.Join(append(parts, Workload(run, lang.English)), "\x00"), strings.Join(shown, ", ")
}

func (f *Factor) differs() bool {
	return slices.ContainsFunc(f.Members, func(m Member) bool { return m.Value != f.Members[0].Value })
}

// arrange sorts the members by the number of GPUs, else by output, the highest first, and sets the conclusion.
func (f *Factor) arrange() {
	slices.SortStableFunc(f.Members, func(a, b Member) int {
		if f.What == ByGPUs {
			return cmp.Or(cmp.Compare(a.m.Labels.GPUs, b.m.Labels.GPUs), strings.Compare(a.Setup, b.Setup))
		}
		return cmp.Or(cmp.Compare(b.output(), a.output()), strings.Compare(a.Setup, b.Setup))
	})
	if f.What == ByGPUs {
		f.eachStep(func(a, b *Member) {
			s := step(&a.m, &b.m)
			s.setups = [2]string{a.Setup, b.Setup}
			f.Steps = append(f.Steps, s)
			f.Ratios = append(f.Ratios, between(b, a))
		})
	} else {
		for i := range f.Members[1:] {
			f.Ratios = append(f.Ratios, between(&f.Members[0], &f.Members[i+1]))
		}
	}
	f.Pairs = f.pairs()
	f.Says = f.Conclusion(lang.English)
}

func (m Member) output() float64 {
	f, _ := m.m.Get(keyOutput)
	if !f.Value.Known() {
		return -1
	}
	return f.Value.Value()
}

// step returns the effect of more GPUs at each load. At a share of the plateau, each is loaded to that share of its own.
func step(a, b *Measured) Step {
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
			l.open(ratio(b, a, keyOutput))
		}
		for i, m := range []*Measured{a, b} {
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

// eachStep calls do for each pair of a member and one with the next more GPUs, whatever the order in which results were named.
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

// open takes the speed-up back where it is a bound, or not known.
func (l *Load) open(r Ratio, plain bool) {
	if plain {
		return
	}
	l.SpeedUp, l.Efficiency, l.Low, l.High, l.Bound, l.Unknown = rundir.Number{}, rundir.Number{}, r.Low, r.High, r.Bound, r.Bound == ""
}

// at is the step at one load.
func (s Step) at(name string) (Load, bool) {
	i := slices.IndexFunc(s.Loads, func(l Load) bool { return l.At == name })
	if i < 0 {
		return Load{}, false
	}
	return s.Loads[i], true
}
