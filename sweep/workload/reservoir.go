package workload

import "math/rand/v2"

// reservoir draws a uniform sample out of a stream whose length nobody knows, in one pass (Vitter 1985, algorithm R).
type reservoir[T any] struct {
	kept []T
	most int // to keep
	seen int
	rng  *rand.Rand
}

// place is where the next of the stream goes; nil where it is not drawn.
func (v *reservoir[T]) place() *T {
	v.seen++
	if len(v.kept) < v.most {
		v.kept = append(v.kept, *new(T))
		return &v.kept[len(v.kept)-1]
	}
	if i := v.rng.IntN(v.seen); i < len(v.kept) {
		return &v.kept[i]
	}
	return nil
}

// shrink drops one at random and keeps one fewer from now on: a uniform part of a uniform sample is uniform.
func (v *reservoir[T]) shrink() (dropped T) {
	last := len(v.kept) - 1
	i := v.rng.IntN(len(v.kept))
	dropped, v.kept[i] = v.kept[i], v.kept[last]
	v.kept[last] = *new(T) // lest it be kept from the collector
	v.kept = v.kept[:last]
	v.most = last
	return dropped
}
