package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
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
	Value string `json:"value"` // of what differs
	Setup string `json:"setup"`
	*Configuration
}

// Pair is two members of a factor: one with the next more GPUs, or one and the first.
type Pair struct {
	From   string    `json:"from"` // the values of what differs: "2", "vLLM"
	To     string    `json:"to"`
	Setups [2]string `json:"setups"`
	Levels []Level   `json:"levels,omitempty"` // at equal concurrency, where closed loops were measured
	a, b   *Member
}

// change is that of the output at a load of both: at a share of the plateau of each, or at saturation.
func (p *Pair) change(at string) (c Change, before, after Figure) {
	key := "output@" + at
	if at == keyRate {
		key = keyOutput
	}
	before, after = p.a.figure(key), p.b.figure(key)
	return change(after, before), before, after
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
		f.Pairs = append(f.Pairs, Pair{From: a.Value, To: b.Value, Setups: [2]string{a.Setup, b.Setup},
			Levels: levels(a.Configuration, b.Configuration), a: a, b: b})
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

// Conclusion returns in a sentence or two what the figures of a factor show; empty where they show nothing.
func (f *Factor) Conclusion(l lang.Lang) string {
	if s := f.usersConclusion(l); s != "" {
		return s
	}
	switch {
	case f.closedLoopsOnly():
		return f.levelConclusion(l)
	case f.What == ByGPUs:
		return f.gpuConclusion(l)
	}
	best := f.best()
	if best.figure(keyOutput).Value.Or(0) <= 0 {
		return ""
	}
	var against []string
	say := sayMost
	for i := range f.Members {
		m := &f.Members[i]
		if m.Setup == best.Setup || !(m.figure(keyOutput).Value.Or(0) > 0) {
			continue
		}
		c := change(best.figure(keyOutput), m.figure(keyOutput))
		if c.IsZero() || c.Bound && c.Low.Known() && c.Low.Value() < 0 && c.High.Value() > 0 {
			say = sayMayBeMost
		}
		against = append(against, f.ratioText(c, best, m, l))
	}
	if len(against) == 0 {
		return ""
	}
	return say.In(l, f.equal.In(l), f.valueName(best.Value, l), outputText(best.figure(keyOutput), l),
		strings.Join(against, lang.Semicolon.In(l))) + lang.Stop.In(l) + f.itlSentence(l)
}

// closedLoopsOnly reports whether the members are compared at equal concurrency: published closed loops show no
// plateau.
func (f *Factor) closedLoopsOnly() bool {
	return slices.ContainsFunc(f.Pairs, func(p Pair) bool { return len(p.Levels) > 0 }) &&
		!slices.ContainsFunc(f.Members, func(m Member) bool { return !m.Imported })
}

// best returns the member with the highest output. Of lower bounds the rows throughput tell which that may be.
func (f *Factor) best() *Member {
	best := &f.Members[0]
	for i := range f.Members[1:] {
		m := &f.Members[i+1]
		a, b := best.figure(keyOutput), m.figure(keyOutput)
		if b.known() && change(a, b).IsZero() && b.Burst.Value() > a.Burst.Value() {
			best = m
		}
	}
	return best
}

func (f *Factor) ratioText(c Change, best, m *Member, l lang.Lang) string {
	top, other := best.figure(keyOutput), m.figure(keyOutput)
	name, value, burst := f.valueName(m.Value, l), outputText(other, l), burstRatio(top, other)
	switch ratio := 1 + c.Ratio.Value(); {
	case c.IsZero() && burst > 0:
		return sayTimesBurst.In(l, fmt.Sprintf("%.2f", burst), name, value)
	case c.IsZero():
		return sayTimesUnknown.In(l, name, value)
	case c.mayBeEqual():
		return sayClose.In(l, name, value)
	case math.Abs(burst/ratio-1) > equalTolerance: // the rows throughput show another ratio
		low, high := rundir.Exactly(min(ratio, burst)-1), rundir.Exactly(max(ratio, burst)-1)
		return sayTimes.In(l, Change{Bound: true, Low: low, High: high}.times(l), name, value, "")
	case c.Bound:
		return sayTimes.In(l, c.times(l), name, value, "")
	}
	return sayTimes.In(l, c.times(l), name, value, c.interval(l))
}

func outputText(f Figure, l lang.Lang) string {
	print := func(n rundir.Number) table.Cell { return table.Number(n, "tok/s", lang.Fixed(2)) }
	text := print(f.Value).In(l)
	switch {
	case f.Open:
		text = sayOrMore.In(l, text)
	case f.Most.Known():
		text = sayTo.In(l, lang.Number(f.Value, lang.Fixed(2)), print(f.Most).In(l))
	}
	if f.Burst.Known() {
		text += sayBurst.In(l, lang.Number(f.Burst, lang.Fixed(2)))
	}
	return text
}

// usersConclusion returns how many users the first member carries, and the others against it; empty where that is
// unknown of one, or not within the same terms.
func (f *Factor) usersConclusion(l lang.Lang) string {
	first, ok := f.Members[0].Get(keyUsers)
	if !ok {
		return ""
	}
	amount := func(m Figure) string {
		s := lang.Number(m.Value, lang.Fixed(0))
		if m.Low.Known() && m.High.Known() {
			s += sayInterval.In(l, lang.Number(m.Low, lang.Fixed(0)), lang.Number(m.High, lang.Fixed(0)))
		}
		return s
	}
	var others []string
	for _, m := range f.Members[1:] {
		v, ok := m.Get(keyUsers)
		if !ok || v.Terms != first.Terms {
			return ""
		}
		one := sayCarriesOther.In(l, f.valueName(m.Value, l), amount(v))
		if c := change(v, first); !c.IsZero() { // else one is a bound
			one += lang.Colon.In(l) + c.String()
		}
		others = append(others, one)
	}
	return sayCarries.In(l, f.equal.In(l), f.valueName(f.Members[0].Value, l), amount(first),
		strings.Join(others, lang.Comma.In(l))) + lang.Stop.In(l)
}

// itlSentence names the member with the shortest gaps between tokens for one request at a time, where that is shown
// against all others.
func (f *Factor) itlSentence(l lang.Lang) string {
	itl := func(m Member) Figure { return m.figure("itl@sync") }
	if slices.ContainsFunc(f.Members, func(m Member) bool { return !itl(m).Value.Known() }) {
		return ""
	}
	best := slices.MinFunc(f.Members, func(a, b Member) int { return cmp.Compare(itl(a).Value.Value(), itl(b).Value.Value()) })
	var rest []string
	for _, m := range f.Members {
		if m.Configuration == best.Configuration {
			continue
		}
		c := change(itl(m), itl(best))
		if c.IsZero() || c.mayBeEqual() {
			return ""
		}
		rest = append(rest, f.valueName(m.Value, l)+" "+lang.Time(itl(m).Value))
	}
	return sayQuickest.In(l, f.valueName(best.Value, l), lang.Time(itl(best).Value), strings.Join(rest, lang.Comma.In(l)))
}

func (f *Factor) gpuConclusion(l lang.Lang) string {
	var all []string
	for i := range f.Pairs {
		if s := f.gpuSentence(&f.Pairs[i], l); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return strings.Join(all, space.In(l))
}

func (f *Factor) gpuSentence(p *Pair, l lang.Lang) string {
	c, before, after := p.change(keyRate)
	name, from, to := f.equal.In(l), p.a.Labels.GPUs, p.b.Labels.GPUs
	switch {
	case !before.known() || !after.known():
		return ""
	case c.IsZero(): // of two lower bounds nothing follows
		if burst := burstRatio(after, before); burst > 0 {
			tokens := func(n rundir.Number) string { return outputText(Figure{Value: n}, l) }
			return sayBursts.In(l, name, to, from, fmt.Sprintf("%.2f", burst), tokens(after.Burst), tokens(before.Burst)) +
				lang.Stop.In(l) + p.aloneSentence(l)
		}
		return ""
	case c.hidden():
		return sayNoSpeedUp.In(l, name, to, from)
	}
	if slices.ContainsFunc(f.Pairs, func(o Pair) bool { // two results have one number of GPUs
		_, x, y := o.change(keyRate)
		return o.From == p.From && o.To == p.To && x.known() && y.known() && (x.Value != before.Value || y.Value != after.Value)
	}) {
		name += lang.InParens.In(l, p.a.Origin+lang.Comma.In(l)+p.b.Origin)
	}
	interval := ""
	if !c.Bound {
		interval = c.interval(l)
	}
	says := sayScales.In(l, name, to, from, c.times(l), outputText(after, l), outputText(before, l), interval) + lang.Stop.In(l)
	if a, b := p.a.figure(keyAnswer).Value, p.b.figure(keyAnswer).Value; lengthsDiffer(a, b) { // requests are not equal work
		says += sayAnswers.In(l, lang.Number(a, lang.Fixed(1)), lang.Number(b, lang.Fixed(1)))
	}
	return says + p.aloneSentence(l)
}

func (p *Pair) aloneSentence(l lang.Lang) string {
	a, b := p.a.figure("itl@sync").Value, p.b.figure("itl@sync").Value
	if c, _, _ := p.change("sync"); c.IsZero() || !a.Known() || !b.Known() {
		return ""
	}
	return sayAlone.In(l, lang.Time(a), lang.Time(b))
}

// lengthTolerance allows for an end token or two, and for a request that the window cuts.
const lengthTolerance = 0.1

func lengthsDiffer(a, b rundir.Number) bool {
	return a.Known() && b.Known() && math.Abs(a.Value()-b.Value()) > lengthTolerance*min(a.Value(), b.Value())
}

// maxLines is how many conclusions an answer has: a reader takes in no more.
const maxLines = 5

// Answer returns what the comparison shows, as sentences: at most five.
func (c *Comparison) Answer() []lang.Text {
	all := c.conclusions()
	return all[:min(len(all), maxLines)]
}

// conclusions returns the effect of each factor, those with the most members first, then how each setup that is part of
// no factor differs from the first one.
func (c *Comparison) conclusions() (all []lang.Text) {
	byMembers := slices.Clone(c.Factors)
	slices.SortStableFunc(byMembers, func(a, b Factor) int { return cmp.Compare(len(b.Members), len(a.Members)) })
	told := map[string]bool{}
	for i := range byMembers {
		for _, m := range byMembers[i].Members {
			told[m.Setup] = true
		}
		if says := lang.Both(byMembers[i].Conclusion); !says.IsZero() {
			all = append(all, says)
		}
	}
	for _, g := range c.groups {
		for _, i := range g.members[1:] {
			name := c.Setups[i].Name
			if told[name] || len(c.models(g)) > 1 { // the difference is also that of the models
				continue
			}
			if s := c.setupSentence(name); !s.IsZero() {
				all = append(all, s)
			}
		}
	}
	return all
}

// setupSentence says how a setup differs from the first one, in what no difference is shown, and what is not judged: a
// difference without an interval where others have one.
func (c *Comparison) setupSentence(setup string) lang.Text {
	from, all := c.Differences(setup)
	judged := slices.ContainsFunc(all, func(d Difference) bool { return d.Change.Shown != nil })
	var shown, none, unjudged []lang.Text
	for _, d := range all {
		text := d.Name.Plus(lang.Same(" " + d.Change.String()))
		switch {
		case d.Change.Shown == nil && judged && !d.Change.Bound:
			unjudged = append(unjudged, text)
		case d.Change.hidden():
			none = append(none, text)
		default:
			shown = append(shown, text)
		}
	}
	if len(none) > 0 {
		shown = append(shown, sayNoneOf.Text(lang.Joined(none, lang.Comma)))
	}
	if len(unjudged) > 0 {
		shown = append(shown, sayUnjudgedOf.Text(lang.Joined(unjudged, lang.Comma)))
	}
	if len(shown) == 0 {
		return lang.Text{}
	}
	return sayAgainst.Text(setup, from, lang.Joined(shown, lang.Comma))
}

// Difference is the change of a metric with its name.
type Difference struct {
	Name lang.Text
	Change
}

// Better reports whether the change is good.
func (d Difference) Better() bool { return d.better() }

// Differences returns those of one setup from another, which it names, in the order of the tables.
func (c *Comparison) Differences(setup string) (from string, all []Difference) {
	for _, m := range metrics {
		if ch := c.changeOf(setup, m.key); ch != nil {
			from, all = ch.From, append(all, Difference{m.Heading(), *ch})
		}
	}
	return from, all
}
