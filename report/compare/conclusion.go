package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Conclusion returns in a sentence or two what the metrics of a factor show.
func (f *Factor) Conclusion(l lang.Lang) string {
	if len(f.Pairs) > 0 && !slices.ContainsFunc(f.Members, func(m Member) bool { return !m.m.Imported }) {
		return f.atEqual(l)
	}
	if f.What == ByGPUs {
		return f.scaling(l)
	}
	best := f.Members[0]
	if best.output() <= 0 {
		return sayNoOutput.In(l, f.Equal)
	}
	var against []string
	for _, m := range f.Members[1:] {
		if s := f.versus(best, m, l); s != "" {
			against = append(against, s)
		}
	}
	if len(against) == 0 {
		return sayNoOutput.In(l, f.Equal)
	}
	top, _ := best.m.Get(KeyOutput)
	s := sayMost.In(l, f.Equal, f.named(best.Value, l), tokens(top.Value), strings.Join(against, Comma.In(l))) + f.atLeast(best, l) + stop.In(l)
	return s + f.quickest(l)
}

// versus returns the ratio of the best to another in words, or that no difference is shown.
func (f *Factor) versus(best, m Member, l lang.Lang) string {
	a, ok1 := m.m.Get(KeyOutput)
	b, ok2 := best.m.Get(KeyOutput)
	c := change(b, a)
	switch {
	case !ok1 || !ok2 || c.Ratio.IsZero():
		return ""
	case c.Shown != nil && !*c.Shown:
		return sayNoDifference.In(l, f.named(m.Value, l))
	}
	output, times := tokens(a.Value), sayTimes
	if m.m.Rising {
		output = sayOrMore.In(l, output)
		if !best.m.Rising {
			times = sayTimesAtMost
		}
	}
	if c.Shown == nil && c.Ratio.Value() < close {
		return sayClose.In(l, f.named(m.Value, l), output)
	}
	return times.In(l, fmt.Sprintf("%.2f", 1+c.Ratio.Value()), f.named(m.Value, l), output, interval(c, l))
}

// close is the relative difference up to which metrics without intervals count as equal: single measurements of a minute
// repeat no better.
const close = 0.05

// interval is the interval of a ratio, in parentheses, where there is one.
func interval(c Change, l lang.Lang) string {
	if c.Shown == nil {
		return ""
	}
	return sayInterval.In(l, fmt.Sprintf("%.2f", 1+c.Low.Value()), fmt.Sprintf("%.2f", 1+c.High.Value()))
}

func (f *Factor) atLeast(m Member, l lang.Lang) string {
	if m.m.Rising {
		return sayStillRising.In(l, f.named(m.Value, l))
	}
	return ""
}

// quickest returns a sentence that names the member with the shortest gaps between tokens alone on the server, where that is shown against all others.
func (f *Factor) quickest(l lang.Lang) string {
	var best *Member
	var least Metric
	for i := range f.Members {
		v, ok := f.Members[i].m.Get("itl@sync")
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
		v, _ := m.m.Get("itl@sync")
		if c := change(v, least); c.Ratio.IsZero() || c.Shown != nil && !*c.Shown || c.Shown == nil && c.Ratio.Value() < close {
			return ""
		}
		rest = append(rest, f.named(m.Value, l)+" "+seconds(v.Value))
	}
	return sayQuickest.In(l, f.named(best.Value, l), seconds(least.Value), strings.Join(rest, Comma.In(l)))
}

// named returns a member's value in words, also where it is empty, as for no quantization.
func (f *Factor) named(value string, l lang.Lang) string {
	if f.What == ByQuant && value == "" {
		return wordUnquantized.In(l)
	}
	return value
}

// scaling returns the effect of more GPUs.
func (f *Factor) scaling(l lang.Lang) string {
	var all []string
	for _, s := range f.Steps {
		p, ok := s.at(KeyRate)
		if !ok {
			continue
		}
		c := Change{Ratio: rundir.Exactly(p.SpeedUp.Value() - 1), Low: p.Low, High: p.High}
		if p.Low.Known() {
			shown := p.Low.Value() > 1 || p.High.Value() < 1
			c = c.Within(p.Low.Value()-1, p.High.Value()-1)
			if !shown {
				all = append(all, sayNoSpeedUp.In(l, f.Equal, s.To, s.From))
				continue
			}
		}
		all = append(all, sayScales.In(l, f.Equal, s.To, s.From, fmt.Sprintf("%.2f", p.SpeedUp.Value()), tokens(p.After.Value),
			tokens(p.Before.Value), fmt.Sprintf("%.0f", 100*p.Efficiency.Value()), interval(c, l))+f.bounds(s, l)+stop.In(l)+unequalWork(p, l)+alone(s, l))
	}
	if len(all) == 0 {
		return sayNoOutput.In(l, f.Equal)
	}
	return strings.Join(all, space.In(l))
}

// bounds returns a sentence where rows end before the plateau, so that the ratio is a bound or unknown.
func (f *Factor) bounds(s Step, l lang.Lang) string {
	rising := func(gpus int) bool {
		for _, m := range f.Members {
			if m.m.Labels.GPUs == gpus && m.m.Rising {
				return true
			}
		}
		return false
	}
	switch few, many := rising(s.From), rising(s.To); {
	case few && many:
		return sayBothRising.In(l)
	case many:
		return sayAtLeast.In(l, s.To)
	case few:
		return sayAtMost.In(l, s.From)
	}
	return ""
}

// uneven is the difference in the lengths of answers from which on they are printed: an end token or two, and a request cut at
// the window's edge.
const uneven = 0.1

// unequalWork returns a sentence where answers before and after differ in length, so that requests are not equal work.
func unequalWork(p Load, l lang.Lang) string {
	if !Unlike(p.Answer[0], p.Answer[1]) {
		return ""
	}
	return sayAnswers.In(l, fmt.Sprintf("%.1f", p.Answer[0].Value()), fmt.Sprintf("%.1f", p.Answer[1].Value()))
}

func Unlike(a, b rundir.Number) bool {
	return a.Known() && b.Known() && math.Abs(a.Value()-b.Value()) > uneven*min(a.Value(), b.Value())
}

// alone returns the effect of a step on one request at a time.
func alone(s Step, l lang.Lang) string {
	p, ok := s.at("sync")
	if !ok || !p.ITL[0].Known() || !p.ITL[1].Known() {
		return ""
	}
	return sayAlone.In(l, seconds(p.ITL[0]), seconds(p.ITL[1]))
}

func tokens(f rundir.Number) string { return table.Number(f, "tok/s", lang.Fixed(2)).In(lang.English) }

func seconds(f rundir.Number) string { return table.Seconds(f).In(lang.English) }
