package sweep

import (
	"slices"
	"strconv"
)

// Repetitions of a stage are stages of their own: their names seed arrivals and prompts, so that nothing but the server is
// the same in two of them. They run in shuffled order, so that a server that warms up, throttles or is shared with others
// shows as a spread between them, and not as a difference between rates.

// repetition is one of the stages that measure a rate; number counts from 1, and is 0 where each rate is measured once.
type repetition struct {
	rate   float64
	number int
}

// repetitions are all stages that rates take, in the order in which they run.
func (x *experiment) repetitions(rates []float64) []repetition {
	var all []repetition
	if x.repeats() == 1 {
		for _, rate := range rates {
			all = append(all, repetition{rate: rate})
		}
		return all
	}
	for n := range x.repeats() {
		for _, rate := range rates {
			all = append(all, repetition{rate, n + 1})
		}
	}
	return shuffled(all, x.Seed)
}

func (c *Config) repeats() int { return max(1, c.Repeats) }

// repeatName is the name of a repetition: the first has that of its stage, so that its arrivals are those of a run without
// any.
func repeatName(name string, number int) string {
	if number < 2 {
		return name
	}
	return name + "#" + strconv.Itoa(number)
}

// shuffled is a copy in an order that the seed alone decides.
func shuffled[T any](all []T, seed uint64) []T {
	all = slices.Clone(all)
	NewRand(seed, "order", "").Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Again is a repetition of the job, counted from 1; 0 is the job as it is. A schedule that is drawn at random is to be drawn
// anew, by the repetition's name.
func (j Job) Again(number int) Job {
	j.Name, j.Repeat = repeatName(j.Name, number), number
	return j
}
