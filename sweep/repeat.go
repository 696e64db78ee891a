package sweep

import (
	"slices"

	"llmsweep/sweep/stats"
)

// Repetitions of a stage are stages of their own: their names seed arrivals and prompts, so that only the server is
// the same in two of them. They run in shuffled order, so that a server that warms up, throttles or is shared with others
// shows as a spread between them, and not as a difference between rates.

// repetition is one of the stages that measure a rate; number counts from 1, and is 0 where each rate is measured once.
type repetition struct {
	rate   float64
	number int
}

// repetitions returns all stages of the given rates, in the order in which they run.
func repetitions(rates []float64, times int, runSeed uint64) []repetition {
	var all []repetition
	if times == 1 {
		for _, rate := range rates {
			all = append(all, repetition{rate: rate})
		}
		return all
	}
	for n := range times {
		for _, rate := range rates {
			all = append(all, repetition{rate, n + 1})
		}
	}
	return shuffled(all, runSeed)
}

// shuffled returns a copy in an order that the seed alone decides.
func shuffled[T any](all []T, runSeed uint64) []T {
	all = slices.Clone(all)
	stats.Rand(runSeed, "order", "").Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
