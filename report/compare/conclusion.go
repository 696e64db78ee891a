package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

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
	all := c.Differences(setup)
	judged := slices.ContainsFunc(all, func(d Difference) bool { return d.Shown != nil })
	var shown, none, unjudged []lang.Text
	for _, d := range all {
		text := d.Name().Plus(lang.Same(" " + d.String()))
		switch {
		case d.Shown == nil && judged && d.Bound == "":
			unjudged = append(unjudged, text)
		case d.hidden():
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
	return sayAgainst.Text(setup, all[0].From, lang.Joined(shown, lang.Comma))
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
		d := differenceOf(m.figure(keyOutput), best.figure(keyOutput))
		if d.IsZero() || d.undecided() {
			say = sayMayBeMost
		}
		against = append(against, f.ratioText(d, m, l))
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
		if b.known() && differenceOf(b, a).IsZero() && b.Burst.Value() > a.Burst.Value() {
			best = m
		}
	}
	return best
}

// ratioText says by how much the highest output differs from that of a member.
func (f *Factor) ratioText(d Difference, m *Member, l lang.Lang) string {
	name, value, burst := f.valueName(m.Value, l), outputText(d.before, l), burstRatio(d.before, d.after)
	switch ratio := 1 + d.Ratio.Value(); {
	case d.IsZero() && burst > 0:
		return sayTimesBurst.In(l, fmt.Sprintf("%.2f", burst), name, value)
	case d.IsZero():
		return sayTimesUnknown.In(l, name, value)
	case d.mayBeEqual():
		return sayClose.In(l, name, value)
	case d.Bound == "" && math.Abs(burst/ratio-1) > equalTolerance: // the rows throughput show another ratio
		d = d.between(min(ratio, burst), max(ratio, burst))
	}
	return sayTimes.In(l, d.factorText(l), name, value, d.intervalText(l))
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
		if d := differenceOf(first, v); !d.IsZero() { // else one is a bound
			one += lang.Colon.In(l) + d.String()
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
	best := slices.MinFunc(f.Members, func(a, b Member) int {
		return cmp.Compare(itl(a).Value.Value(), itl(b).Value.Value())
	})
	var rest []string
	for _, m := range f.Members {
		if m.Configuration == best.Configuration {
			continue
		}
		d := differenceOf(itl(best), itl(m))
		if d.IsZero() || d.mayBeEqual() {
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
	d := p.difference(keyOutput)
	before, after := d.before, d.after
	name, from, to := f.equal.In(l), p.a.Labels.GPUs, p.b.Labels.GPUs
	switch {
	case !before.known() || !after.known():
		return ""
	case d.IsZero(): // of two lower bounds nothing follows
		if burst := burstRatio(before, after); burst > 0 {
			tokens := func(n rundir.Number) string { return outputText(Figure{Value: n}, l) }
			return sayBursts.In(l, name, to, from, fmt.Sprintf("%.2f", burst), tokens(after.Burst), tokens(before.Burst)) +
				lang.Stop.In(l) + p.aloneSentence(l)
		}
		return ""
	case d.hidden():
		return sayNoSpeedUp.In(l, name, to, from)
	}
	if slices.ContainsFunc(f.Pairs, func(o Pair) bool { // two results have one number of GPUs
		x, y := o.a.figure(keyOutput), o.b.figure(keyOutput)
		return o.From == p.From && o.To == p.To && x.known() && y.known() &&
			(x.Value != before.Value || y.Value != after.Value)
	}) {
		name += lang.InParens.In(l, p.a.Origin+lang.Comma.In(l)+p.b.Origin)
	}
	says := sayScales.In(l, name, to, from, d.factorText(l), outputText(after, l), outputText(before, l),
		d.intervalText(l)) + lang.Stop.In(l)
	// Requests are not equal work.
	if a, b := p.a.figure(keyAnswer).Value, p.b.figure(keyAnswer).Value; lengthsDiffer(a, b) {
		says += sayAnswers.In(l, lang.Number(a, lang.Fixed(1)), lang.Number(b, lang.Fixed(1)))
	}
	return says + p.aloneSentence(l)
}

func (p *Pair) aloneSentence(l lang.Lang) string {
	a, b := p.a.figure("itl@sync").Value, p.b.figure("itl@sync").Value
	if p.difference("output@sync").IsZero() || !a.Known() || !b.Known() {
		return ""
	}
	return sayAlone.In(l, lang.Time(a), lang.Time(b))
}

// lengthTolerance allows for an end token or two, and for a request that the window cuts.
const lengthTolerance = 0.1

func lengthsDiffer(a, b rundir.Number) bool {
	return a.Known() && b.Known() && math.Abs(a.Value()-b.Value()) > lengthTolerance*min(a.Value(), b.Value())
}
