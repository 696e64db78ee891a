package slo

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// "p99 < 500 ms" says that fewer than 1 % of the requests take longer than 500 ms. That is what is decided: by exact
// bounds of the share beyond the limit, among as many independent requests as the measured ones are worth. No
// percentile has to be estimated, so that 300 requests of which none is beyond the limit show it, where 500 would be
// needed to tell where the 99th percentile is. MLPerf Inference ends its runs by the same test ("early stopping"), for
// independent requests.

type tally struct {
	beyond, open float64 // values beyond the limit, and those cut off below it
	total        float64
	neff         float64 // independent values that they are worth
}

func tallyOf(b *rundir.Beyond) tally {
	return tally{float64(b.Count), float64(b.Open), float64(b.Of), b.Neff.Value()}
}

// bounds returns the bounds of the share beyond the limit. A value that was cut off counts as beyond it in the upper
// bound alone.
func (c tally) bounds() (low, high float64) {
	worth := c.weight()
	low, _ = stats.ShareBounds(c.beyond*worth, c.total*worth, level)
	_, high = stats.ShareBounds((c.beyond+c.open)*worth, c.total*worth, level)
	return low, high
}

// weight returns how many independent values one value is worth.
func (c tally) weight() float64 { return min(max(c.neff, 1)/c.total, 1) }

func (c tally) judge(share float64) rundir.SLOVerdict {
	switch low, high := c.bounds(); {
	case high < share:
		return rundir.Met
	case low > share:
		return rundir.Missed
	}
	return rundir.Unsure
}

// Percentile reports whether the term limits a percentile of times. In a stage that was measured here it is decided by
// the number of values beyond the limit, which is counted in the records for each limit.
func (t Term) Percentile() bool {
	return t.Stat != Mean && !t.Share()
}

// count returns the values of the term's metric, and those beyond the limit: exactly, where the stage was judged by
// this term before, else by its percentiles. ok is false for a mean, and where the stage does not tell.
func (t Term) count(s *rundir.Stage) (c tally, ok bool) {
	if t.Stat == Mean {
		return c, false
	}
	if b := t.Counted(s); b != nil {
		return tallyOf(b), b.Of > 0 && b.Neff.Known()
	}
	if !t.Unknown(s).IsZero() {
		return c, false
	}
	if t.Metric == Errors {
		ended := float64(s.Requests.OK + s.Requests.Error)
		return tally{beyond: float64(s.Requests.Error), total: ended, neff: ended}, ended > 0
	}
	d, stat := t.dist(s)
	share, ok := shareAbove(d, t.Limit)
	if !ok || !d.Neff.Known() || d.N == 0 || d.Get(stat).IsZero() {
		return c, false
	}
	n := float64(d.N)
	return tally{share * n, min(float64(d.Censored), (1-share)*n), n, d.Neff.Value()}, true
}

// Counted returns the count of the term in a stage: of a stage that was judged by it before, or of answers. It is nil
// where there is none. Stalls are counted whatever their limit.
func (t Term) Counted(s *rundir.Stage) *rundir.Beyond {
	if t.Metric == Accuracy {
		return wrongAnswers(s)
	}
	if s.Goodput == nil {
		return nil
	}
	name := t.String()
	for _, p := range s.Goodput.Terms {
		same := p.Term == name
		if t.Metric == Stalls {
			o, err := Parse(p.Term)
			same = err == nil && o.Metric == Stalls && o.Gap == t.Gap
		}
		if same && p.Beyond != nil {
			return p.Beyond
		}
	}
	return nil
}

// Bound fills in the bounds of the share beyond the limit that a count shows, each of which holds with a probability of
// 95 %.
func Bound(b *rundir.Beyond) {
	low, high := tallyOf(b).bounds()
	b.Low, b.High = rundir.Exactly(low), rundir.Exactly(high)
}

// Verdict returns whether a stage keeps the term.
func (t Term) Verdict(s *rundir.Stage) rundir.SLOVerdict {
	if s.FrozenSince.Known() {
		return rundir.Missed // the server never answered again: no wait is long enough
	}
	if c, ok := t.count(s); ok {
		return c.judge(t.tail())
	}
	f, supported := t.Of(s)
	low, high := f.Value(), f.Value()
	if t.Stat == Mean {
		low, high = t.interval(s)
	}
	switch {
	case f.IsZero():
		return rundir.Unsure
	case f.Bound() && f.Value() >= t.Limit: // a lower bound beyond the limit
		return rundir.Missed
	case f.Bound() || !supported:
		return rundir.Unsure
	case low >= t.Limit:
		return rundir.Missed
	case high < t.Limit:
		return rundir.Met
	}
	return rundir.Unsure
}

// interval returns the 95 % interval of a mean. Means of other tools have none: both bounds are then the mean itself.
func (t Term) interval(s *rundir.Stage) (low, high float64) {
	d, _ := t.dist(s)
	mean, _ := t.Of(s)
	switch ci, ok := d.CI[Mean]; {
	case ok:
		return ci[0], ci[1]
	case !d.Neff.Known() || !d.Std.Known():
		return mean.Value(), mean.Value()
	case d.Neff.Value() < 2:
		return 0, math.Inf(1)
	}
	n := d.Neff.Value()
	half := stats.StudentQuantile(1-level/2, n-1) * d.Std.Value() / math.Sqrt(n-1)
	return mean.Value() - half, mean.Value() + half
}

// Needs returns how many more requests like those of a stage would decide the term, if the share beyond its limit
// stayed as it is. It is 0 where the term is decided, and where a hundred times the requests would not do.
func (t Term) Needs(s *rundir.Stage) int {
	c, ok := t.count(s)
	if !ok || t.Verdict(s) != rundir.Unsure {
		return 0
	}
	if t.Metric == Accuracy && c.neff < c.total { // all were asked: more requests ask no others
		return 0
	}
	worth := c.weight()
	need := stats.NeededForShare(c.beyond/c.total, t.tail(), level, c.total*worth, maxAdvice*c.total*worth)
	requests := float64(s.Requests.OK + s.Requests.Error)
	if more := math.Ceil(requests * (need/(c.total*worth) - 1)); more > 0 && !math.IsInf(more, 0) {
		return int(more)
	}
	return 0
}

// Offered returns the rate at which requests were due in a stage's window. Poisson arrivals at a rate are by chance
// more or fewer, and a stage with more of them is a stage at a higher rate: its latencies are those of that rate. One
// request at a time is the limit of small rates: 0. What a stage of users asks of the server is their number.
func Offered(s *rundir.Stage) float64 {
	switch o := s.Rates.Offered; {
	case s.Kind == rundir.KindOfUsers:
		return float64(s.MaxConcurrency)
	case !s.Rate.Known():
		return 0
	case o.Known():
		return o.Value()
	}
	return s.Rate.Value()
}

// shareAbove returns the share of a distribution above a value, by its percentiles: between two of them the logarithm
// of the share is linear, as of an exponential tail. ok is false where the distribution has no percentiles.
func shareAbove(d *rundir.Dist, limit float64) (share float64, ok bool) {
	shares := map[string]float64{"min": 1, "p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001}
	at, share := math.Inf(-1), 1.0
	for _, f := range d.Numbers() {
		s, listed := shares[f.Name]
		v := f.Number.Value()
		if f.Name == "max" {
			ok = ok || v < limit
		}
		if !listed || f.Number.IsZero() {
			continue
		}
		if v >= limit {
			if math.IsInf(at, -1) || v == at {
				return share, true
			}
			return share * math.Pow(s/share, (limit-at)/(v-at)), true
		}
		at, share, ok = v, s, true
	}
	if d.Max.Known() && d.Max.Value() < limit {
		return 0, ok
	}
	return share / 2, ok // between the last percentile and the longest
}

func (t Term) logMeanError(s *rundir.Stage) float64 {
	d, _ := t.dist(s)
	if ci, ok := d.CI[Mean]; ok && ci[0] > 0 {
		return math.Log(ci[1]/ci[0]) / (2 * stats.Z95)
	}
	return defaultLogError
}
