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

// The labels of which one may differ, besides free labels by their names.
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
	Value  string `json:"value"` // of what differs
	Setup  string `json:"setup"`
	config Configuration
	setup  *setup.Setup
}

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
// it. What no label names may still differ. several is set where the setups have several workloads.
func factors(setups []setup.Setup, all []Configuration, hitGroups []string, several bool) []Factor {
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
			// the lack of a quantization or of a heading is a value of it
			if labelValue(run, what) == "" && what != byQuant && what != byHeading {
				continue
			}
			key := groupKey(run, what, free) + hitGroups[i]
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
			if slices.ContainsFunc(g.Members, func(m Member) bool { return m.Value != g.Members[0].Value }) {
				g.finish()
				found = append(found, *g)
			}
		}
	}
	return found
}

// groupKey returns what the members of a group have in common: their workload and all labels but one. Headings are
// compared only where launch commands are equal too. A label that none of them has is one in common.
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

// finish sorts the members by the number of GPUs, else by output, the highest first, and sets the conclusion.
func (f *Factor) finish() {
	slices.SortStableFunc(f.Members, func(a, b Member) int {
		if f.What == ByGPUs {
			return cmp.Or(cmp.Compare(a.config.Labels.GPUs, b.config.Labels.GPUs), strings.Compare(a.Setup, b.Setup))
		}
		return cmp.Or(cmp.Compare(b.output(), a.output()), strings.Compare(a.Setup, b.Setup))
	})
	if f.What == ByGPUs {
		f.eachStep(func(a, b *Member) {
			s := step(&a.config, &b.config)
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
	f, _ := m.config.Get(keyOutput)
	if !f.Value.Known() {
		return -1
	}
	return f.Value.Value()
}
