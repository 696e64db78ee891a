package cluster

import "hash/fnv"

// share is the part of a stage that one rank sends. Every session belongs to exactly one rank, so that all ranks
// together send what one machine would send.
type share struct {
	Rank, Ranks int
	Limit       int  // most requests in flight, of all ranks together; 0 for no limit
	Closed      bool // a closed loop
	Key         uint64
}

func newShare(rank, ranks, limit int, closed bool, seed uint64, stage string) share {
	h := fnv.New64a()
	h.Write([]byte(stage))
	return share{rank, ranks, limit, closed, mix(seed ^ h.Sum64())}
}

// mix scatters a number over 64 bits: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// owns reports whether the rank sends a session, by its place in the stage. In an open loop a hash draws the rank:
// thinned so, a Poisson process leaves independent Poisson processes, whose sum is one again even where the ranks begin
// a little apart. In a closed loop ranks take turns, each as often as it has slots.
func (s share) owns(seq int) bool {
	place := uint64(seq)
	if !s.Closed {
		place = mix(s.Key ^ mix(place))
	}
	if s.Limit > 0 {
		place %= uint64(s.Limit)
	}
	return int(place%uint64(s.Ranks)) == s.Rank
}

// slots returns how many of the requests in flight are the rank's; 0 where it has none, or where there is no limit.
func (s share) slots() int {
	if s.Limit == 0 || s.Rank >= s.Limit {
		return 0
	}
	return (s.Limit-s.Rank-1)/s.Ranks + 1
}

func (s share) idle() bool { return s.Limit > 0 && s.slots() == 0 }

func (s share) part() float64 {
	if s.Limit > 0 {
		return float64(s.slots()) / float64(s.Limit)
	}
	return 1 / float64(s.Ranks)
}
