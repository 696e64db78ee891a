package workload

import "math/rand/v2"

// reservoir draws a uniform sample from a stream of unknown length in one pass (algorithm R of Vitter, ACM Transactions
// on Mathematical Software 11 (1985)).
type reservoir[T any] struct {
	kept  []T
	limit int // to keep
	seen  int
	rng   *rand.Rand
}

// place returns where to put the next element of the stream; nil where it is not drawn.
func (v *reservoir[T]) place() *T {
	v.seen++
	if len(v.kept) < v.limit {
		v.kept = append(v.kept, *new(T))
		return &v.kept[len(v.kept)-1]
	}
	if i := v.rng.IntN(v.seen); i < len(v.kept) {
		return &v.kept[i]
	}
	return nil
}

// shrink drops one element at random and keeps one fewer from now on: a uniform sample of a uniform sample is uniform.
func (v *reservoir[T]) shrink() (dropped T) {
	last := len(v.kept) - 1
	i := v.rng.IntN(len(v.kept))
	dropped, v.kept[i] = v.kept[i], v.kept[last]
	v.kept[last] = *new(T) // so that the garbage collector can free it
	v.kept = v.kept[:last]
	v.limit = last
	return dropped
}
