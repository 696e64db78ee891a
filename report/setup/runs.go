package setup

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Pool returns several sweeps of one configuration as one setup: that of the sweep in the middle by its plateau,
// with the plateau of all.
func Pool(runs []Setup, name string) Setup {
	byRate := slices.SortedFunc(slices.Values(runs), func(a, b Setup) int {
		return cmp.Compare(a.Plateau.Rate.Or(0), b.Plateau.Rate.Or(0))
	})
	s := byRate[(len(runs)-1)/2]
	s.Name, s.Runs = name, slices.Clone(runs)
	s.LeftOut, s.Marked = nil, nil
	var rates, outputs []estimate
	for i := range s.Runs {
		one := &s.Runs[i]
		one.nameMarks(name)
		s.LeftOut, s.Marked = append(s.LeftOut, one.LeftOut...), append(s.Marked, one.Marked...)
		p := one.Plateau
		s.Plateau.Rising = s.Plateau.Rising || p.Rising
		rates = append(rates, estimate{p.Rate, p.Low, p.High})
		outputs = append(outputs, estimate{value: p.Output})
	}
	rate, output := geometricMean(rates), geometricMean(outputs)
	s.Plateau.Rate, s.Plateau.Low, s.Plateau.High, s.Plateau.Output = rate.value, rate.low, rate.high, output.value
	return s
}

// Origins names the sweeps that the setup consists of.
func (s *Setup) Origins() string {
	var all []string
	for i := range s.Runs {
		all = append(all, s.Runs[i].Origin())
	}
	return strings.Join(all, ", ")
}

// poolLimits returns the limit of several runs: what a run refuses, all do. Rate, users and output are geometric means
// over the runs, the interval is by the spread between them, and the rest is that of the run in the middle. Where a run
// has only a bracket, the interval is from the lowest low to the highest high.
func poolLimits(runs []Setup, of func(*Setup) (Limit, *Refusal)) (Limit, *Refusal) {
	var limits []Limit
	for i := range runs {
		l, refusal := of(&runs[i])
		if refusal != nil {
			return Limit{}, refusal
		}
		limits = append(limits, l)
	}
	slices.SortStableFunc(limits, func(a, b Limit) int {
		return cmp.Compare(a.loadEstimate().value.Value(), b.loadEstimate().value.Value())
	})
	l := limits[(len(limits)-1)/2]
	var loads, rates, outputs []estimate
	for i := range limits {
		one := &limits[i]
		loads = append(loads, one.loadEstimate())
		rates = append(rates, estimate{value: rundir.Exactly(one.Rate)})
		outputs = append(outputs, estimate{value: one.Output})
		l.BracketOnly, l.Doubted = l.BracketOnly || one.BracketOnly, l.Doubted || one.Doubted
		l.Unjudged = l.Unjudged || one.Unjudged
	}
	if l.BracketOnly || l.Doubted {
		l = limits[0]
		for _, one := range limits {
			l.High = rundir.Max(l.High, one.High)
			if one.Low.Known() && one.Low.Value() < l.Low.Or(math.Inf(1)) {
				l.Low = one.Low
			}
		}
		return l, nil
	}
	pooled := geometricMean(loads)
	l.Low, l.High = pooled.low, pooled.high
	if l.Users.Known() {
		l.Users = pooled.value
	}
	l.Rate, l.Output = geometricMean(rates).value.Value(), geometricMean(outputs).value
	return l, nil
}

// loadEstimate is what the limit is of, users or a rate, with its interval.
func (l *Limit) loadEstimate() estimate {
	if l.Users.Known() {
		return estimate{l.Users, l.Low, l.High}
	}
	return estimate{rundir.Exactly(l.Rate), l.Low, l.High}
}

// estimate is a value with its 95 % interval, which may be absent.
type estimate struct{ value, low, high rundir.Number }

// geometricMean returns the geometric mean of a value over runs. Its interval is by Student's t and the spread between
// the runs, which is at least that within them; it has none where a value is a bound. It is absent where a run lacks
// it.
func geometricMean(runs []estimate) estimate {
	var logs []float64
	within, n, bound := 0.0, 0.0, false
	for _, r := range runs {
		if v := r.value.Or(0); r.value.IsZero() || v <= 0 {
			return estimate{}
		}
		bound = bound || r.value.Bound()
		logs = append(logs, math.Log(r.value.Value()))
		if r.low.Known() && r.high.Known() {
			within, n = within+math.Pow((r.high.Value()-r.low.Value())/2/stats.Z95/r.value.Value(), 2), n+1
		}
	}
	mean := stats.Mean(logs)
	if bound {
		return estimate{value: rundir.Over(math.Exp(mean))}
	}
	pooled := estimate{value: rundir.Exactly(math.Exp(mean))}
	spread := stats.PooledSpread(logs, nil, stats.Spread{})
	if n > 0 {
		spread.Deviation = max(spread.Deviation, math.Sqrt(within/n))
	}
	if spread.DF > 0 {
		half := spread.Half(len(logs), 0.05)
		pooled.low, pooled.high = rundir.Exactly(math.Exp(mean-half)), rundir.Exactly(math.Exp(mean+half))
	}
	return pooled
}
