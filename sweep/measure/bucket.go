package measure

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
)

// Units of a token bucket.
const (
	perRequest = "requests"
	perToken   = "tokens"
)

// findBucket returns the token bucket that explains best which requests were refused; none where too few were. A bucket of rate r and
// burst b lets at most b + r x t through in any time t. For each rate the burst follows: the most that passed in any time beyond r x t.
// At the right rate the bucket is empty whenever a request is refused, and at no other.
func findBucket(attempts []attempt) rundir.Bucket {
	slices.SortFunc(attempts, func(a, b attempt) int { return cmp.Compare(a.at, b.at) })
	passed, cost, first, last := 0, 0.0, math.NaN(), 0.0
	equal := true
	for _, a := range attempts {
		if !a.passed {
			if math.IsNaN(first) {
				first = a.at
			}
			last = a.at
			continue
		}
		passed++
		equal = equal && a.cost == attempts[0].cost
		cost += a.cost
	}
	if passed < fewestTries || len(attempts)-passed < fewestTries || last <= first {
		return rundir.Bucket{}
	}
	best := fitBucket(attempts, first, last, false)
	if cost > 0 {
		if tokens := fitBucket(attempts, first, last, true); tokens.Agrees.Value() > best.Agrees.Value() {
			best = tokens
		}
	}
	return best
}

// fitBucket returns the best bucket of a unit.
func fitBucket(attempts []attempt, first, last float64, tokens bool) rundir.Bucket {
	const low, high, steps, rounds = 0.7, 2.0, 40, 3
	b := bucketFit{attempts: attempts, tokens: tokens}
	passed := 0.0
	for _, a := range attempts {
		if a.passed && a.at > first && a.at <= last {
			passed += b.cost(a)
		}
	}
	mean := passed / (last - first)
	if mean <= 0 {
		return rundir.Bucket{}
	}
	from, to := low*mean, high*mean
	rate, agrees := mean, -1.0
	var least, most float64
	for range rounds {
		step := (to - from) / steps
		for i := range steps + 1 {
			r := from + float64(i)*step
			switch share := b.agrees(r); {
			case share > agrees+1e-9:
				agrees, least, most = share, r, r
			case share > agrees-1e-9:
				least, most = min(least, r), max(most, r)
			}
		}
		rate = (least + most) / 2
		from, to = max(least-step, 0.01*mean), most+step
	}
	step := (to - from) / steps
	unit := perRequest
	if tokens {
		unit = perToken
	}
	return rundir.Bucket{
		Unit: unit, Rate: rundir.Exactly(rate), Low: rundir.Exactly(least - step), High: rundir.Exactly(most + step),
		Burst: rundir.Exactly(b.burst(rate)), Agrees: rundir.Exactly(agrees),
	}
}

// bucketFit tries buckets on the attempts of a stage.
type bucketFit struct {
	attempts []attempt // by time
	tokens   bool
}

func (b *bucketFit) cost(a attempt) float64 {
	if b.tokens {
		return a.cost
	}
	return 1
}

// burst returns the most that passed in any time t beyond rate x t. For a bucket of tokens the last request of it counts for nothing:
// it passes if there is any token left.
func (b *bucketFit) burst(rate float64) float64 {
	missing, most, at := 0.0, 0.0, 0.0
	for _, a := range b.attempts {
		if !a.passed {
			continue
		}
		missing = max(0, missing-rate*(a.at-at))
		at = a.at
		if b.tokens {
			most = max(most, missing)
		}
		missing += b.cost(a)
		if !b.tokens {
			most = max(most, missing)
		}
	}
	return most
}

// agrees returns the share of the refusals, or of what passed, that the bucket of a rate explains: the smaller one. It follows the levels
// that the bucket may have: a refusal shows that it holds too little for a request, and what passes that it holds enough. At the first
// refusal it holds too little.
func (b *bucketFit) agrees(rate float64) float64 {
	full := b.burst(rate)
	enough, dearest := 1.0, 0.0 // a bucket of requests must hold one; of tokens, any
	for _, a := range b.attempts {
		dearest = max(dearest, b.cost(a))
	}
	if b.tokens {
		enough = 0
	}
	slack := bucketSlack * dearest
	var low, high, at float64
	var right, all [2]float64 // refused, passed
	for _, a := range b.attempts {
		if all[0] == 0 {
			if a.passed {
				continue
			}
			low, high, at = enough-dearest, enough, a.at
		}
		low, high = low+rate*(a.at-at), high+rate*(a.at-at)
		at = a.at
		fills := low // were it larger: a bucket of one request is full when it holds enough
		low, high = min(full, low), min(full, high)
		if !a.passed {
			all[0]++
			if fills < enough+slack {
				right[0]++
			} else { // it cannot be: begin anew
				low = enough - dearest
			}
			high = max(low, min(high, enough+slack))
			continue
		}
		all[1]++
		if high > enough-slack {
			right[1]++
		} else {
			high = enough
		}
		low = min(high, max(low, enough-slack))
		low, high = low-b.cost(a), high-b.cost(a)
	}
	if all[1] == 0 {
		return 0
	}
	return min(right[0]/all[0], right[1]/all[1])
}
