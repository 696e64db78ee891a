package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Conclusion returns in a sentence or two what the metrics of a factor show; empty where they show nothing.
func (f *Factor) Conclusion(l lang.Lang) string {
	if s := f.usersConclusion(l); s != "" {
		return s
	}
	if f.closedLoopsOnly() {
		return f.levelConclusion(l)
	}
	if f.What == ByGPUs {
		return f.gpuConclusion(l)
	}
	best := f.best()
	if best.output() <= 0 {
		return ""
	}
	var against []string
	say := sayMost
	for _, m := range f.Members {
		if m.Setup == best.Setup {
			continue
		}
		r, plain := ratio(&best.config, &m.config, keyOutput)
		if r.undecided() || !plain && r.Bound == "" && m.output() > 0 {
			say = sayMayBeMost
		}
		if s := f.ratioText(best, m, l); s != "" {
			against = append(against, s)
		}
	}
	if len(against) == 0 {
		return ""
	}
	top, _ := best.config.Get(keyOutput)
	s := say.In(l, f.equal.In(l), f.valueName(best.Value, l), outputText(top, l),
		strings.Join(against, lang.Semicolon.In(l)))
	return s + lang.Stop.In(l) + f.itlSentence(l)
}

// closedLoopsOnly reports whether the members are compared at equal concurrency: published closed loops show no
// plateau.
func (f *Factor) closedLoopsOnly() bool {
	return len(f.Pairs) > 0 && !slices.ContainsFunc(f.Members, func(m Member) bool { return !m.config.Imported })
}

// best returns the member with the highest output. Of lower bounds the rows throughput tell which that may be.
func (f *Factor) best() Member {
	best := f.Members[0]
	a, _ := best.config.Get(keyOutput)
	for _, m := range f.Members[1:] {
		b, ok := m.config.Get(keyOutput)
		r, plain := ratio(&best.config, &m.config, keyOutput)
		if ok && !plain && r.Bound == "" && b.Burst.Value() > a.Burst.Value() {
			best, a = m, b
		}
	}
	return best
}

// usersConclusion returns how many users the first member carries, and the others against it; empty where that is
// unknown of one, or not within the same terms.
func (f *Factor) usersConclusion(l lang.Lang) string {
	first, ok := f.Members[0].config.Get(keyUsers)
	if !ok {
		return ""
	}
	amount := func(m *Metric) string {
		s := lang.Number(m.Value, lang.Fixed(0))
		if m.Low.Known() && m.High.Known() {
			s += sayInterval.In(l, lang.Number(m.Low, lang.Fixed(0)), lang.Number(m.High, lang.Fixed(0)))
		}
		return s
	}
	var others []string
	for i := range f.Members[1:] {
		m := &f.Members[i+1]
		v, ok := m.config.Get(keyUsers)
		if !ok || v.Terms != first.Terms {
			return ""
		}
		one := sayCarriesOther.In(l, f.valueName(m.Value, l), amount(&v))
		if c := change(v, first); !c.Ratio.IsZero() { // else one is a bound
			one += lang.Colon.In(l) + c.String()
		}
		others = append(others, one)
	}
	return sayCarries.In(l, f.equal.In(l), f.valueName(f.Members[0].Value, l), amount(&first),
		strings.Join(others, lang.Comma.In(l))) + lang.Stop.In(l)
}

func (f *Factor) ratioText(best, m Member, l lang.Lang) string {
	a, ok1 := m.config.Get(keyOutput)
	b, ok2 := best.config.Get(keyOutput)
	c := change(b, a)
	if !ok1 || !ok2 || c.Ratio.IsZero() {
		return ""
	}
	name, value := f.valueName(m.Value, l), outputText(a, l)
	burst := b.Burst.Or(0) / a.Burst.Or(math.NaN())
	r, plain := ratio(&best.config, &m.config, keyOutput)
	switch {
	case c.Shown != nil && !*c.Shown || plain && c.Shown == nil && c.Ratio.Value() < equalTolerance:
		return sayClose.In(l, name, value)
	case plain && burst > 0 && math.Abs(burst/(c.Ratio.Value()+1)-1) > equalTolerance:
		// the rows throughput show another ratio
		low, high := min(burst, c.Ratio.Value()+1), max(burst, c.Ratio.Value()+1)
		return sayTimes.In(l, sayFactor.In(l, sayTo.In(l, times(low), times(high))), name, value, "")
	case plain:
		return sayTimes.In(l, sayFactor.In(l, times(c.Ratio.Value()+1)), name, value, intervalText(c, l))
	case r.Bound == "" && burst > 0:
		return sayTimesBurst.In(l, times(burst), name, value)
	case r.Bound == "":
		return sayTimesUnknown.In(l, name, value)
	case r.Bound == BoundRange && r.Low.Value() < 1+equalTolerance && r.High.Value() > 1/(1+equalTolerance):
		return sayClose.In(l, name, value)
	}
	return sayTimes.In(l, r.boundText(l), name, value, "")
}

func times(v float64) string { return fmt.Sprintf("%.2f", v) }

func outputText(f Metric, l lang.Lang) string {
	text := tokens(f.Value)
	switch {
	case f.AtLeast:
		text = sayOrMore.In(l, text)
	case f.Most.Known():
		text = sayTo.In(l, lang.Number(f.Value, lang.Fixed(2)), tokens(f.Most))
	}
	if f.Burst.Known() {
		text += sayBurst.In(l, lang.Number(f.Burst, lang.Fixed(2)))
	}
	return text
}

// equalTolerance is the relative difference up to which metrics without intervals count as equal: single measurements
// of a minute repeat no better.
const equalTolerance = 0.05

func intervalText(c Change, l lang.Lang) string {
	if c.Shown == nil {
		return ""
	}
	return sayInterval.In(l, fmt.Sprintf("%.2f", 1+c.Low.Value()), fmt.Sprintf("%.2f", 1+c.High.Value()))
}

// itlSentence names the member with the shortest gaps between tokens for one request at a time, where that is shown
// against all others.
func (f *Factor) itlSentence(l lang.Lang) string {
	var best *Member
	var least Metric
	for i := range f.Members {
		v, ok := f.Members[i].config.Get("itl@sync")
		if !ok || !v.Value.Known() {
			return ""
		}
		if best == nil || v.Value.Value() < least.Value.Value() {
			best, least = &f.Members[i], v
		}
	}
	var rest []string
	for i := range f.Members {
		m := &f.Members[i]
		if m == best {
			continue
		}
		v, _ := m.config.Get("itl@sync")
		c := change(v, least)
		if c.Ratio.IsZero() || c.Shown != nil && !*c.Shown || c.Shown == nil && c.Ratio.Value() < equalTolerance {
			return ""
		}
		rest = append(rest, f.valueName(m.Value, l)+" "+seconds(v.Value))
	}
	return sayQuickest.In(l, f.valueName(best.Value, l), seconds(least.Value), strings.Join(rest, lang.Comma.In(l)))
}

// valueName returns a member's value in words, also where it is empty, as for no quantization.
func (f *Factor) valueName(value string, l lang.Lang) string {
	switch {
	case f.What == byQuant && value == "":
		return wordUnquantized.In(l)
	case f.What == byHeading && value == "":
		return wordNoHeading.In(l)
	case f.What == byThink:
		for i := range f.Members {
			if m := &f.Members[i]; m.Value == value {
				return setup.ThinkingText(m.setup.Run, l)
			}
		}
	}
	return value
}

func (f *Factor) gpuConclusion(l lang.Lang) string {
	var all []string
	add := func(sentences string) {
		if !slices.Contains(all, sentences) {
			all = append(all, sentences)
		}
	}
	for _, s := range f.Steps {
		p, ok := s.load(keyRate)
		if !ok {
			continue
		}
		if p.Unknown { // of two lower bounds nothing follows
			if a, b := p.Before.Burst, p.After.Burst; a.Value() > 0 && b.Known() {
				add(sayBursts.In(l, f.equal.In(l), s.To, s.From, times(b.Value()/a.Value()), tokens(b), tokens(a)) +
					lang.Stop.In(l) + synchronousSentence(s, l))
			}
			continue
		}
		c := Change{Ratio: rundir.Exactly(p.SpeedUp.Value() - 1), Low: p.Low, High: p.High}
		if p.Low.Known() && p.SpeedUp.Known() {
			c = c.withInterval(p.Low.Value()-1, p.High.Value()-1)
			if !*c.Shown {
				add(sayNoSpeedUp.In(l, f.equal.In(l), s.To, s.From))
				continue
			}
		}
		says := f.speedUpText(s, p, c, l) + lang.Stop.In(l)
		if a, b := p.Answer[0], p.Answer[1]; lengthsDiffer(a, b) { // requests are not equal work
			says += sayAnswers.In(l, fmt.Sprintf("%.1f", a.Value()), fmt.Sprintf("%.1f", b.Value()))
		}
		add(says + synchronousSentence(s, l))
	}
	return strings.Join(all, space.In(l))
}

func (f *Factor) speedUpText(s Step, p Load, c Change, l lang.Lang) string {
	name := f.equal.In(l)
	if slices.ContainsFunc(f.Steps, func(o Step) bool { // two results have one number of GPUs
		other, ok := o.load(keyRate)
		return ok && o.From == s.From && o.To == s.To && (other.Before.Value != p.Before.Value ||
			other.After.Value != p.After.Value)
	}) {
		name += lang.InParens.In(l, strings.Join(s.origins[:], lang.Comma.In(l)))
	}
	ratio := sayFactor.In(l, times(p.SpeedUp.Value()))
	if p.Bound != "" {
		ratio = Ratio{Bound: p.Bound, Low: p.Low, High: p.High}.boundText(l)
	}
	return sayScales.In(l, name, s.To, s.From, ratio, outputText(p.After, l), outputText(p.Before, l), intervalText(c, l))
}

// lengthTolerance allows for an end token or two, and for a request that the window cuts.
const lengthTolerance = 0.1

func lengthsDiffer(a, b rundir.Number) bool {
	return a.Known() && b.Known() && math.Abs(a.Value()-b.Value()) > lengthTolerance*min(a.Value(), b.Value())
}

func synchronousSentence(s Step, l lang.Lang) string {
	p, ok := s.load("sync")
	if !ok || !p.ITL[0].Known() || !p.ITL[1].Known() {
		return ""
	}
	return sayAlone.In(l, seconds(p.ITL[0]), seconds(p.ITL[1]))
}

func tokens(f rundir.Number) string { return table.Number(f, "tok/s", lang.Fixed(2)).In(lang.English) }

func seconds(f rundir.Number) string { return table.Seconds(f).In(lang.English) }
