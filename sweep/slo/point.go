package slo

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A percentile is hard to interpolate over rates: it is flat while a server keeps up, and rises steeply where a queue begins. The
// share of the requests above the limit holds the same information (p99 is below the limit while the share is below 1 %), and its
// log-odds are close to linear in the rate: in an M/M/1 queue P(T > t) = exp(-(mu-lambda) t). It also gives each stage its weight: a
// share among n independent requests has the standard error of a binomial, so that a stage too short for the percentile
// itself still counts for what it is worth.

// point returns what a stage showed of the term: log-odds, less those of the limit, against its rate. ok is false where it shows
// nothing, or nothing that lasts: while a queue grows, its latencies only show that it is too long.
func (t Term) point(s *rundir.Stage, clusters clustering, saturates float64) (p stats.Point, ok bool) {
	p.X = Offered(s)
	if s.Verdict == rundir.Saturated && t.Holds(s) == rundir.Kept {
		return p, false
	}
	if t.Stat == Mean {
		f, _ := t.Of(s)
		p.Y, p.SE = math.Log(f.Value()/t.Limit), t.spreadOfMean(s)
		return p, !f.IsZero() && f.Value() > 0
	}
	c, ok := t.count(s)
	if !ok {
		return p, false
	}
	crowding, worth := t.crowding(s, saturates), c.of/clusters.at(p.X)
	if crowding != 0 {
		worth *= explained
	}
	p = stats.Share(p.X, c.beyond/c.of, worth, t.tail())
	p.Chance = crowding
	return p, true
}

// clustering is how many values one independent one is worth, in several stages.
type clustering []cluster

type cluster struct{ rate, size, weight float64 }

// clustering returns how the values of the term are clustered in the stages.
func (t Term) clustering(stages []*rundir.Stage) clustering {
	var all clustering
	for _, s := range stages {
		if c, ok := t.count(s); ok {
			all = append(all, cluster{Offered(s), 1 / c.worth(), c.of})
		}
	}
	return all
}

// at returns the mean size of a cluster in the stages around a rate, the nearer ones with more weight. A stage by itself does not tell: where by chance few
// values are beyond the limit they also seem independent, so that the stage would outweigh the others, and the
// rate would come out too high.
func (c clustering) at(rate float64) float64 {
	sum, weights := 0.0, 0.0
	for _, k := range c {
		far := math.Abs(k.rate-rate) / (clusterReach * rate)
		if rate == 0 {
			far = k.rate
		}
		if far < 1 {
			w := math.Pow(1-far*far*far, 3) * k.weight
			sum, weights = sum+w*k.size, weights+w
		}
	}
	return math.Max(1, sum/weights)
}

// Offered returns the rate at which requests were due in a stage's window. Poisson arrivals at a rate are by chance more or fewer, and a stage with
// more of them is a stage at a higher rate: its latencies are those of that rate. One request at a time is the limit of small rates: 0. What a stage of
// users asks of the server is their number.
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

// shareAbove returns the share of a distribution above a value, by its percentiles: between two of them the logarithm of the
// share is linear, as of an exponential tail. ok is false where the distribution has no percentiles.
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

// spreadOfMean returns the standard error of the logarithm of a mean.
func (t Term) spreadOfMean(s *rundir.Stage) float64 {
	d, _ := t.dist(s)
	if ci, ok := d.CI[Mean]; ok && ci[0] > 0 {
		return math.Log(ci[1]/ci[0]) / (2 * stats.Z95)
	}
	return noInterval
}
