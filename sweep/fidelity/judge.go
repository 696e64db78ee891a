package fidelity

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// margin is the share of answers by which more may differ under load than alone in a stage that is called the same.
const margin = 0.05

// asked is a comparison of one answer.
type asked struct {
	Canary    int
	Malformed bool
	Difference
}

// Stage is what the canaries of a stage gave.
type Stage struct {
	Name   string
	Load   float64 // by which stages are put in order
	Failed int
	Asked  []asked
}

// result is a stage that was judged.
type result struct {
	*Stage
	rundir.Agreed
}

// judgement is what canaries show of a run.
type judgement struct {
	Alone, Load rundir.Agreed
	Stages      map[string]rundir.Agreed
	Verdict     rundir.FidelityVerdict
	Begins      string // the stage where the difference begins
	Hypotheses  int
}

// judge compares the answers of stages with the null: those that were got alone again.
func judge(null []asked, failed int, stages []Stage) *judgement {
	j := &judgement{Alone: agreed(null, failed), Stages: map[string]rundir.Agreed{}}
	together := &Stage{}
	results := make([]*result, 0, len(stages)+1)
	for i := range stages {
		s := &stages[i]
		together.Asked = append(together.Asked, s.Asked...)
		together.Failed += s.Failed
		results = append(results, &result{s, agreed(s.Asked, s.Failed)})
	}
	pooled := &result{together, agreed(together.Asked, together.Failed)}
	family := slices.Clone(results)
	if len(results) > 1 {
		family = append(family, pooled)
	}
	j.Hypotheses = decide(family, null)
	if len(results) == 1 {
		pooled.Agreed = results[0].Agreed
	}
	j.Load, j.Verdict = pooled.Agreed, pooled.Verdict
	slices.SortStableFunc(results, func(a, b *result) int {
		switch {
		case a.Load < b.Load:
			return -1
		case a.Load > b.Load:
			return 1
		}
		return 0
	})
	for _, r := range results {
		if worse(r.Verdict, j.Verdict) {
			j.Verdict, j.Begins = r.Verdict, r.Name
		} else if j.Begins == "" && r.Verdict == j.Verdict && isDifferent(r.Verdict) {
			j.Begins = r.Name
		}
		j.Stages[r.Name] = r.Agreed
	}
	return j
}

func isDifferent(v rundir.FidelityVerdict) bool {
	return v == rundir.FidelityDiffers || v == rundir.FidelityTies
}

// worse reports whether a verdict shows more of a difference than another.
func worse(a, b rundir.FidelityVerdict) bool {
	rank := func(v rundir.FidelityVerdict) int {
		return slices.Index([]rundir.FidelityVerdict{rundir.FidelityTies, rundir.FidelityDiffers}, v)
	}
	return rank(a) > rank(b)
}

// decide tests all of a family together, and writes p-values and verdicts. It returns how many hypotheses there were.
func decide(family []*result, null []asked) int {
	var p, weights []float64
	for _, r := range family {
		all, changes := Test(counts(null, r.Asked, differs)), Test(counts(null, r.Asked, changed))
		r.P, r.PChanges = rundir.Exactly(all), rundir.Exactly(changes)
		p, weights = append(p, all, changes), append(weights, 1, 1)
	}
	rejected := stats.Holm(p, weights, Level)
	for i, r := range family {
		more := atMost(counts(null, r.Asked, differs))
		r.More = rundir.Exactly(more)
		switch {
		case rejected[2*i+1]:
			r.Agreed.Verdict = rundir.FidelityDiffers
		case rejected[2*i]:
			r.Agreed.Verdict = rundir.FidelityTies
		case more < margin:
			r.Agreed.Verdict = rundir.FidelitySame
		default:
			r.Agreed.Verdict = rundir.FidelityUndecided
		}
	}
	return len(p)
}

func differs(a *asked) bool { return !a.Same() }

// changed reports a difference that is no tie.
func changed(a *asked) bool { return a.Kind == change || a.Kind == unknown }

// counts counts by canary.
func counts(null, load []asked, is func(*asked) bool) []Count {
	most := -1
	for _, all := range [][]asked{null, load} {
		for i := range all {
			most = max(most, all[i].Canary)
		}
	}
	c := make([]Count, most+1)
	for i := range null {
		a := &null[i]
		c[a.Canary].OfNull++
		if is(a) {
			c[a.Canary].Null++
		}
	}
	for i := range load {
		a := &load[i]
		c[a.Canary].OfLoad++
		if is(a) {
			c[a.Canary].Load++
		}
	}
	return c
}

// atMost returns an upper bound of how much larger the share of differing answers is under load, with a probability of 95 %: the exact bound of
// the share of canaries that differ more under load, or where there are more of them that of the mean difference.
func atMost(counts []Count) float64 {
	const few = 6
	var d []float64
	more := 0.0
	for _, c := range counts {
		if c.OfNull == 0 || c.OfLoad == 0 {
			continue
		}
		v := float64(c.Load)/float64(c.OfLoad) - float64(c.Null)/float64(c.OfNull)
		d = append(d, v)
		if v > 0 {
			more++
		}
	}
	if len(d) == 0 {
		return 1
	}
	_, high := stats.ShareBounds(more, float64(len(d)), Level)
	if more < few {
		return high
	}
	n := float64(len(d))
	return min(high, stats.Mean(d)+stats.StudentQuantile(1-Level, n-1)*stats.Deviation(d)/math.Sqrt(n-1))
}

// agreed sums up answers.
func agreed(all []asked, failed int) rundir.Agreed {
	s := rundir.Agreed{Answers: len(all), Failed: failed}
	most := 0
	for i := range all {
		most = max(most, all[i].Canary+1)
	}
	same, malformed, first := newMean(most), newMean(most), newMean(most)
	shift, kl, length := newMean(most), newMean(most), newMean(most)
	for i := range all {
		a := &all[i]
		switch a.Kind {
		case Tie:
			s.Ties++
		case change:
			s.Changes++
		case unknown:
			s.Unknown++
		}
		same.add(a, truth(a.Same()))
		malformed.add(a, truth(a.Malformed))
		first.add(a, a.First)
		shift.add(a, a.Shift)
		kl.add(a, a.KL)
		length.add(a, a.Length)
	}
	each, _, _ := same.means()
	s.Canaries = len(each)
	s.Same, s.Malformed = same.share(), malformed.share()
	s.First, s.Shift, s.KL, s.Length = first.mean(), shift.mean(), kl.mean(), length.mean()
	return s
}

func truth(v bool) float64 {
	if v {
		return 1
	}
	return 0
}

// byCanary has the values of a metric, by canary: the answers to one canary are alike, so that each canary counts as one observation.
type byCanary []total

type total struct {
	sum float64
	n   int
}

func newMean(canaries int) byCanary { return make(byCanary, canaries) }

func (b byCanary) add(a *asked, v float64) {
	if !math.IsNaN(v) {
		b[a.Canary].sum += v
		b[a.Canary].n++
	}
}

// means returns the mean of each canary, in order, and the mean and number of all values.
func (b byCanary) means() (each []float64, mean float64, n int) {
	each = make([]float64, 0, len(b))
	sum := 0.0
	for _, t := range b {
		if t.n > 0 {
			each = append(each, t.sum/float64(t.n))
			sum += t.sum
			n += t.n
		}
	}
	return each, sum / float64(n), n
}

// mean returns the mean with its interval.
func (b byCanary) mean() rundir.Estimate {
	each, mean, n := b.means()
	if n == 0 {
		return rundir.Estimate{}
	}
	e := rundir.Estimate{N: n, Mean: rundir.Exactly(mean)}
	if k := float64(len(each)); k > 1 {
		half := stats.StudentQuantile(1-Level/2, k-1) * stats.Deviation(each) / math.Sqrt(k-1)
		e.Low, e.High = rundir.Exactly(mean-half), rundir.Exactly(mean+half)
	}
	return e
}

// share returns a share with its exact interval. The answers to one canary count as one observation of their mean.
func (b byCanary) share() rundir.Estimate {
	each, mean, n := b.means()
	if n == 0 {
		return rundir.Estimate{}
	}
	k := float64(len(each))
	low, high := stats.ShareBounds(min(mean*k, k), k, Level/2)
	return rundir.Estimate{N: n, Mean: rundir.Exactly(mean), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
}
