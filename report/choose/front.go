package choose

import (
	"cmp"
	"math"
	"slices"
)

// FrontPoint is a row on the Pareto front of a user's speed and a GPU's output.
type FrontPoint struct {
	Name            string
	PerUser, PerGPU float64 // tokens per second; of a user, 1 / mean gap between tokens
}

// Front returns the points that no other beats in both what a user and what a GPU gets, from the fastest for a user on.
func Front(all []FrontPoint) []FrontPoint {
	return undominated(all, func(p FrontPoint) (float64, float64) { return -p.PerUser, -p.PerGPU })
}

// frontCost is the Pareto front of candidates: less for a million tokens, or sooner the first of them.
func frontCost(ranked []Candidate) []string {
	priced := slices.DeleteFunc(slices.Clone(ranked), func(k Candidate) bool {
		return !k.MillionSLO.Known() || !k.TTFT.Known()
	})
	var names []string
	measures := func(k Candidate) (float64, float64) { return k.MillionSLO.Value(), k.TTFT.Value() }
	for _, k := range undominated(priced, measures) {
		names = append(names, k.Name)
	}
	return names
}

// undominated returns the items that no other dominates in two measures, of which less is better. The result is
// ascending in the first measure and descending in the second.
func undominated[T any](all []T, measures func(T) (a, b float64)) []T {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(x, y T) int {
		a1, b1 := measures(x)
		a2, b2 := measures(y)
		return cmp.Or(cmp.Compare(a1, a2), cmp.Compare(b1, b2))
	})
	var front []T
	least := math.Inf(1)
	for _, x := range sorted {
		if _, b := measures(x); b < least {
			front = append(front, x)
			least = b
		}
	}
	return front
}
