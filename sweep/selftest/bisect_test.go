package selftest

import (
	"slices"
	"testing"
)

// Two numbers between the levels find the limit to within a factor of 1.8; where the lowest level fails, fewer streams are tried.
func TestTheLimitIsLookedForBetweenTheLevels(t *testing.T) {
	for limit, want := range map[int]struct {
		tried       []int
		good, worse int
	}{
		1000: {[]int{100, 1000}, 1000, 0}, 600: {[]int{100, 1000, 316, 562}, 562, 1000}, 400: {[]int{100, 1000, 316, 562}, 316, 562},
		128: {[]int{100, 1000, 316, 178}, 100, 178}, 50: {[]int{100, 10, 32}, 32, 100}, 2: {[]int{100, 10, 3}, 0, 3},
	} {
		o := Quick(nil, 0)
		r := &Result{}
		var tried []int
		try := func(n int) error {
			l := Level{Streams: n}
			if n > limit {
				l.Limit = LimitError
			}
			r.Levels, tried = append(r.Levels, l), append(tried, n)
			return nil
		}
		if err := (&bench{Options: o, out: r}).search(try); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(r.Levels, func(a, b Level) int { return a.Streams - b.Streams }) {
			t.Errorf("a limit of %d: the levels are not in order", limit)
		}
		if got := trust(r); got.Streams != want.good || got.LimitStreams != want.worse || !slices.Equal(tried, want.tried) {
			t.Errorf("a limit of %d: tried %d, good up to %d, too many from %d; want %+v", limit, tried, got.Streams, got.LimitStreams, want)
		}
	}
}
