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
	Pairs   []Pair   `json:"pairs,omitempty"`
	Says    string   `json:"says"` // the conclusion

	equal lang.Text // Equal, in both languages
}

// Member is a setup of a factor.
type Member struct {
	Value          string `json:"value"` // of what differs
	Setup          string `json:"setup"`
	*Configuration `json:"-"`
}

// Pair is two members of a factor: one with the next more GPUs, or one and the first.
type Pair struct {
	From    string       `json:"from"` // the values of what differs: "2", "vLLM"
	To      string       `json:"to"`
	Setups  [2]string    `json:"setups"`
	Changes []Difference `json:"changes,omitempty"` // of the output at each load that both have
	Levels  []Level      `json:"levels,omitempty"`  // at equal concurrency, where closed loops were measured
	a, b    *Member
}

func (p *Pair) difference(key string) Difference {
	return differenceOf(p.a.figure(key), p.b.figure(key))
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
func (c *Comparison) factors(hitGroups []string, several bool) (found []Factor) {
	var free []string
	for i := range c.Setups {
		free = append(free, c.Setups[i].Labels.FreeKeys()...)
	}
	slices.Sort(free)
	free = slices.Compact(free)
	for _, what := range append([]string{ByGPUs, byEngine, byQuant, byGPU, byThink, byHeading}, free...) {
		groups := map[string]*Factor{}
		var order []string
		for i := range c.Setups {
			m := &c.Setups[i]
			run := m.setup.Run
			value := labelValue(run, what)
			if value == "" && what != byQuant && what != byHeading { // to have none is a value of these
				continue
			}
			key := groupKey(run, what, free) + hitGroups[i]
			if groups[key] == nil {
				equal := lang.Both(func(l lang.Lang) string { return commonText(run, what, several, l) })
				groups[key] = &Factor{What: what, Equal: equal.EN, equal: equal}
				order = append(order, key)
			}
			groups[key].Members = append(groups[key].Members, Member{value, m.Name, m})
		}
		for _, key := range order {
			f := groups[key]
			if slices.ContainsFunc(f.Members, func(m Member) bool { return m.Value != f.Members[0].Value }) {
				f.finish()
				found = append(found, *f)
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
	model, hardware := findings.ModelName(run), setup.Hardware(run, l) // the count and its GPU are one thing to read
	switch {
	case what == byQuant:
		model = setup.Model(run)
	case what == ByGPUs:
		hardware = run.Labels.GPU
	case what == byGPU && run.Labels.GPUs == 1:
		hardware = sayOneGPU.In(l)
	case what == byGPU:
		hardware = sayCount.In(l, run.Labels.GPUs)
	}
	if what == byGPU && run.Labels.GPUs == 0 {
		hardware = ""
	}
	parts := []string{model, hardware}
	if what != byEngine {
		parts = append(parts, setup.Engine(run))
	}
	for _, key := range run.Labels.FreeKeys() {
		if key != what {
			parts = append(parts, key+"="+run.Labels.Free[key])
		}
	}
	if several {
		parts = append(parts, workload(run, l))
	}
	if what != byThink {
		parts = append(parts, setup.ThinkingText(run, l))
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return cmp.Or(strings.Join(parts, lang.Comma.In(l)), wordNoLabels.In(l))
}

// finish sorts the members by the number of GPUs, else by output, the highest first, and pairs them.
func (f *Factor) finish() {
	slices.SortStableFunc(f.Members, func(a, b Member) int {
		by := cmp.Compare(b.figure(keyOutput).Value.Or(-1), a.figure(keyOutput).Value.Or(-1))
		if f.What == ByGPUs {
			by = cmp.Compare(a.Labels.GPUs, b.Labels.GPUs)
		}
		return cmp.Or(by, strings.Compare(a.Setup, b.Setup))
	})
	pair := func(a, b *Member) {
		p := Pair{From: a.Value, To: b.Value, Setups: [2]string{a.Setup, b.Setup},
			Levels: levels(a.Configuration, b.Configuration), a: a, b: b}
		for _, key := range []string{"output@sync", "output@50", "output@80", keyOutput} {
			if d := p.difference(key); !d.IsZero() {
				p.Changes = append(p.Changes, d)
			}
		}
		f.Pairs = append(f.Pairs, p)
	}
	for i := range f.Members {
		b, fewer := &f.Members[i], 0
		for _, a := range f.Members[:i] {
			if n := a.Labels.GPUs; n < b.Labels.GPUs {
				fewer = max(fewer, n)
			}
		}
		switch {
		case f.What != ByGPUs && b.Value != f.Members[0].Value:
			pair(b, &f.Members[0])
		case f.What == ByGPUs && fewer > 0:
			for j := range f.Members[:i] {
				if a := &f.Members[j]; a.Labels.GPUs == fewer {
					pair(a, b)
				}
			}
		}
	}
	f.Says = f.Conclusion(lang.English)
}

// valueName returns a member's value in words, also where it is empty, as for no quantization.
func (f *Factor) valueName(value string, l lang.Lang) string {
	switch {
	case f.What == byQuant && value == "":
		return wordUnquantized.In(l)
	case f.What == byHeading && value == "":
		return wordNoHeading.In(l)
	case f.What == byThink:
		i := slices.IndexFunc(f.Members, func(m Member) bool { return m.Value == value })
		return setup.ThinkingText(f.Members[i].setup.Run, l)
	}
	return value
}
