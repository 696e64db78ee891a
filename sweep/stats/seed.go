package stats

import (
	"hash/fnv"
	"math/rand/v2"
)

// Rand returns a generator for one purpose and one stage of a run. The same three arguments return the same numbers.
// Two stages, or two purposes, share none.
func Rand(seed uint64, purpose, stage string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write([]byte(stage))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
