package sim

import (
	"math"

	"llmsweep/client/sim/habit"
)

// Collapsed returns the requests per second that a server with the habit collapses completes while some wait and all slots are busy. A closed
// loop of slots+W requests is such a state.
func Collapsed(c MachineConfig, w Workload, waiting float64) float64 {
	c = c.WithDefaults()
	rate := CapacityOf(c, w).RequestsPerSecond
	if h, ok := habit.Find[habit.Collapses](c.Habits); ok {
		rate /= h.Slowdown(waiting, c.MaxNumSeqs)
	}
	return rate
}

// PointOfNoReturn returns the number of requests that must wait before a server with the habit collapses falls further and further behind
// arrivals at a rate: infinitely many where it keeps up with them however many wait, 0 where it never keeps up.
func PointOfNoReturn(c MachineConfig, w Workload, rate float64) float64 {
	c = c.WithDefaults()
	return turn(c, CapacityOf(c, w).RequestsPerSecond/rate)
}

// Accepts returns the requests per second that the server accepts of a Poisson stream. For a server that refuses because it is full it is
// an upper bound, which is reached when far more arrive than it takes; below its rate it refuses few.
//
// For a token bucket it is exact if lengths are equal: what is missing in the bucket is the work that waits in an M/D/1
// queue whose customers turn away where more than some requests are before them (Burst-1, or Burst in a bucket of tokens). Its states are computed by Ramaswami's recursion, which
// adds positive terms only.
func (t Rates) Accepts(offered float64) float64 {
	if t.Limit == 0 || t.Limit > t.Takes {
		return min(offered, t.Takes)
	}
	const most = 500 // requests in a bucket, beyond which its size hardly matters
	room := min(t.room, most)
	rho := offered / t.Limit
	n := int(room)
	low, high := bucketStates(rho, n), bucketStates(rho, n+1)
	q := low * math.Pow(high/low, room-float64(n)) // exact below 1, where it is exp(rho x room)
	if math.IsInf(q, 1) {
		return t.Limit
	}
	return t.Limit * rho * q / (rho*q + 1)
}

// Answers returns the requests per second that the server answers of a Poisson stream. Just above Takes it is too low, where a queue
// grows so slowly that a collapse has not come yet.
func (t Rates) Answers(offered float64) float64 {
	if offered <= t.Takes || t.Limit > 0 && t.Limit <= t.Takes {
		return t.Accepts(offered) * (1 - t.Dropped)
	}
	return t.Overload*(1-t.Cached) + t.Cached*offered
}

// bucketStates returns P(at most n in an M/D/1 queue of load rho) / P(the queue is empty). The ratio is defined above load 1 too,
// where the probabilities are not.
func bucketStates(rho float64, n int) float64 {
	// beyond[k] is the chance of more than k arrivals during one service.
	beyond := make([]float64, n+2)
	term, sum := math.Exp(-rho), 0.0
	for k := range beyond {
		sum += term
		beyond[k] = max(0, 1-sum)
		term *= rho / float64(k+1)
	}
	states := []float64{1}
	total := 1.0
	for i := range n {
		next := beyond[i]
		for j := 1; j <= i; j++ {
			next += states[j] * beyond[i+1-j]
		}
		next /= math.Exp(-rho)
		states = append(states, next)
		total += next
	}
	return total
}
