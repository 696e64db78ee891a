package stats

import "math"

// queueTail returns the share of Poisson arrivals that find more than a wait in the queue of one server with equal service times (M/D/1). The
// wait is in service times. load is the share of the time in which the server is busy, below 1. Short waits are by Erlang's series, longer ones,
// where its terms cancel, by the exponential that the tail approaches (Tijms, A First Course in Stochastic Models, 2003, chapter 9).
func queueTail(load, wait float64) float64 {
	const series = 6 // service times, from which both agree
	if wait >= series {
		decay := queueDecay(load)
		return (1 - load) / (load*math.Exp(decay) - 1) * math.Exp(-decay*wait)
	}
	sum, factorial := 0.0, 1.0
	for k := 0; float64(k) <= wait; k++ {
		if k > 0 {
			factorial *= float64(k)
		}
		a := load * (wait - float64(k))
		sum += math.Pow(-a, float64(k)) / factorial * math.Exp(a)
	}
	return 1 - (1-load)*sum
}

// QueueWait returns the wait beyond which queueTail is a share of the arrivals; 0 where no wait is that common.
func QueueWait(load, share float64) float64 {
	low, high := 0.0, 1.0
	for queueTail(load, high) > share {
		low, high = high, 2*high
	}
	return bisect(low, high, func(wait float64) bool { return queueTail(load, wait) <= share })
}

// queueDecay returns the rate at which a queue's tail falls: load (exp(decay) - 1) = decay, above 0.
func queueDecay(load float64) float64 {
	high := 1.0
	above := func(decay float64) bool { return load*math.Expm1(decay) >= decay }
	for !above(high) {
		high *= 2
	}
	return bisect(-math.Log(load), high, above) // the difference is least at -log(load)
}

// bisect returns where a condition begins to hold between two values.
func bisect(low, high float64, holds func(float64) bool) float64 {
	const steps = 60
	for range steps {
		if middle := (low + high) / 2; holds(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
