package compare

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// The labels of which one may differ. There are also those that people made up, by their names.
const (
	ByGPUs    = "gpus"
	byEngine  = "engine"
	byQuant   = "quant"
	byGPU     = "gpu"
	byModel   = "model"
	byThink   = "think"
	byHeading = "heading" // of the document, where nothing else differs
)

// Factor is the effect of one label, all others being equal.
type Factor struct {
	What    string   `json:"what"`
	Equal   string   `json:"equal"` // what is the same in all of them
	Members []Member `json:"members"`
	Steps   []Step   `json:"steps,omitempty"` // from fewer GPUs to more
	// of the outputs: of the highest to the others, of each number of GPUs to the next fewer
	Ratios []Ratio `json:"ratios,omitempty"`
	Pairs  []Pair  `json:"pairs,omitempty"` // at equal concurrency, where closed loops were measured
	Says   string  `json:"says"`            // the conclusion

	equal lang.Text // Equal, in both languages
}

// Member is a setup of a factor.
type Member struct {
	Value string `json:"value"` // of what differs
	Setup string `json:"setup"`
	m     Configuration
	setup *setup.Setup
}

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

// labelValue is a setup's value of one thing.
func labelValue(run *rundir.Run, what string) string {
	switch what {
	case ByGPUs:
		if run.Labels.GPUs == 0 {
			return ""
		}
		return strconv.Itoa(run.Labels.GPUs)
	case byEngine:
		return setup.Engine(run)
	case byQuant:
		return setup.Labels(run).Quant
	case byGPU:
		return run.Labels.GPU
	case byModel:
		return setup.Model(run)
	case byThink:
		return setup.ThinkingText(run, lang.English)
	case byHeading:
		return setup.Heading(run)
	}
	return run.Labels.Free[what]
}

// factors returns the groups of setups in which exactly one label differs, so that a difference can be attributed to
// it. What no label names may still differ. like has the key of those with like hit rates. Several is set where the
// setups have several workloads.
func factors(setups []setup.Setup, all []Configuration, like []string, several bool) []Factor {
	var free []string
	for i := range setups {
		free = append(free, setups[i].Run.Labels.FreeKeys()...)
	}
	slices.Sort(free)
	free = slices.Compact(free)
	var found []Factor
	for _, what := range append([]string{ByGPUs, byEngine, byQuant, byGPU, byThink, byHeading}, free...) {
		groups := map[string]*Factor{}
		var order []string
		for i := range setups {
			run := setups[i].Run
			if labelValue(run, what) == "" && !mayLack(what) {
				continue
			}
			key := groupKey(run, what, free) + like[i]
			if groups[key] == nil {
				equal := lang.Both(func(l lang.Lang) string { return commonText(run, what, several, l) })
				groups[key] = &Factor{What: what, Equal: equal.EN, equal: equal}
				order = append(order, key)
			}
			g := groups[key]
			g.Members = append(g.Members, Member{labelValue(run, what), setups[i].Name, all[i], &setups[i]})
		}
		for _, key := range order {
			g := groups[key]
			if g.differs() {
				g.finish()
				found = append(found, *g)
			}
		}
	}
	return found
}

// mayLack reports whether the lack of a label is a value of it: no quantization, no heading.
func mayLack(what string) bool { return what == byQuant || what == byHeading }

// groupKey returns what the members of a group have in common: their workload and all labels but one. A label that none of
// them has is one in common. A heading and the options of a launch command count only where nothing else differs.
func groupKey(run *rundir.Run, what string, free []string) string {
	parts := []string{workload(run, lang.English)}
	for _, other := range append([]string{byModel, byQuant, byGPU, ByGPUs, byEngine, byThink}, free...) {
		if other != what {
			parts = append(parts, labelValue(run, other))
		}
	}
	if what == byHeading {
		parts = append(parts, run.Target.Launch)
	}
	return strings.Join(parts, "\x00")
}

// commonText returns in words what the members of a group have in common: the workload too where there are several.
func commonText(run *rundir.Run, what string, several bool, l lang.Lang) string {
	var parts []string
	add := func(name, text string) {
		if name != what && text != "" {
			parts = append(parts, text)
		}
	}
	if what == byQuant {
		add(byModel, setup.Model(run))
	} else {
		add(byModel, findings.ModelName(run))
	}
	switch {
	case what == ByGPUs:
		add(byGPU, run.Labels.GPU)
	case what != byGPU:
		add(byGPU, setup.Hardware(run, l)) // the count and its GPU are one thing to read
	case run.Labels.GPUs == 1:
		add(ByGPUs, sayOneGPU.In(l))
	case run.Labels.GPUs > 1:
		add(ByGPUs, sayCount.In(l, run.Labels.GPUs))
	}
	add(byEngine, setup.Engine(run))
	for _, key := range run.Labels.FreeKeys() {
		add(key, key+"="+run.Labels.Free[key])
	}
	if several {
		add("", workload(run, l))
	}
	add(byThink, setup.ThinkingText(run, l))
	if len(parts) == 0 {
		return wordNoLabels.In(l)
	}
	return strings.Join(parts, lang.Comma.In(l))
}

func (f *Factor) differs() bool {
	return slices.ContainsFunc(f.Members, func(m Member) bool { return m.Value != f.Members[0].Value })
}

// finish sorts the members by the number of GPUs, else by output, the highest first, and sets the conclusion.
func (f *Factor) finish() {
	slices.SortStableFunc(f.Members, func(a, b Member) int {
		if f.What == ByGPUs {
			return cmp.Or(cmp.Compare(a.m.Labels.GPUs, b.m.Labels.GPUs), strings.Compare(a.Setup, b.Setup))
		}
		return cmp.Or(cmp.Compare(b.output(), a.output()), strings.Compare(a.Setup, b.Setup))
	})
	if f.What == ByGPUs {
		f.eachStep(func(a, b *Member) {
			s := step(&a.m, &b.m)
			s.origins = [2]string{a.setup.Origin(), b.setup.Origin()}
			f.Steps = append(f.Steps, s)
			f.Ratios = append(f.Ratios, memberRatio(b, a))
		})
	} else {
		for i := range f.Members[1:] {
			f.Ratios = append(f.Ratios, memberRatio(&f.Members[0], &f.Members[i+1]))
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
