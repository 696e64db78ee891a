package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"

	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// sizeFamilies are plain servers of unusual sizes, and usual servers with requests of many lengths.
func sizeFamilies() (all []family) {
	between := func(rng *rand.Rand, low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	for _, f := range []struct {
		name string
		draw func(rng *rand.Rand, s *oddShape)
	}{
		{"half a minute", func(rng *rand.Rand, s *oddShape) { s.Slots, s.Service = 4+rng.IntN(61), between(rng, 20, 40) }},
		{"one in ten seconds", func(rng *rand.Rand, s *oddShape) {
			s.Slots = 1 +
				rng.IntN(4)
			s.Service = 10 * float64(s.Slots)
		}},
		{"one slot", func(rng *rand.Rand, s *oddShape) { s.Slots, s.Service = 1, between(rng, 0.3, 8) }},
		{"thousand slots", func(rng *rand.Rand, s *oddShape) { s.Slots, s.Service = 1000, between(rng, 5, 20) }},
		{"natural lengths", func(rng *rand.Rand, s *oddShape) {
			s.Slots, s.Service, s.Natural = 4+rng.IntN(29), between(rng, 0.3, 4), between(rng, 0.4, 1)
		}},
		{"mixed lengths", func(rng *rand.Rand, s *oddShape) {
			s.Slots, s.Service, s.Lengths = 4+rng.IntN(29), between(rng, 0.3, 4), between(rng, 0.5, 1)
		}},
	} {
		all = append(all, family{f.name, func(seed uint64) *oddTrial {
			rng, s := rand.New(rand.NewPCG(seed, 53)), oddShape{}
			f.draw(rng, &s)
			k := &oddTrial{
				family: f.name, seed: seed, lengths: s.Lengths, natural: s.Natural > 0, about: fmt.Sprintf("%+v", s),
				server: func() (load.Doer, func()) { return newOdd(s, seed), func() {} },
			}
			k.low = float64(s.Slots) / s.Service / s.meanLength(k)
			k.high = k.low
			return k
		}})
	}
	return all
}

// longestNatural is how many times the mean an answer that ends by itself may be long.
const longestNatural = 8

// naturalTokens draws the length of an answer that ends by itself.
func (s *oddShape) naturalTokens(rng *rand.Rand) int {
	sigma := math.Sqrt(math.Log(1 + s.Natural*s.Natural))
	tokens := math.Round(oddTokens * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2))
	return int(min(max(1, tokens), longestNatural*oddTokens))
}

// meanLength returns the mean length of answers to the requests of a trial, in those of which the service time is
// known.
func (s *oddShape) meanLength(k *oddTrial) float64 {
	const n = 20_000
	rng, source, sum := stats.Rand(1, "lengths", "natural"), k.source(1, "mean"), 0
	for range n {
		asked, _ := source.Next()
		if tokens := asked.Turns[0].OutputTokens; s.Natural == 0 {
			sum += tokens
		} else {
			sum += s.naturalTokens(rng)
		}
	}
	return float64(sum) / n / oddTokens
}

// source returns the requests to a server of the trial.
func (k *oddTrial) source(seed uint64, stage string) load.Source {
	if k.natural {
		return simtest.SameInAll(32, longestNatural*oddTokens)
	}
	return simtest.Varied{Fixed: simtest.SameInAll(32, oddTokens), Spread: k.lengths, Rng: stats.Rand(seed, "lengths",
		stage)}
}
