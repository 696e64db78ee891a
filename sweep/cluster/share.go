package cluster

import "hash/fnv"

// Share is the part of a stage that one of several members sends. Every session belongs to exactly one member, for any number of members, so
// that all members together send what one machine would send.
type Share struct {
	Member, Members int
	Limit           int  // most requests in flight, on all members together; 0 for no limit
	Closed          bool // a closed loop
	key             uint64
}

// newShare returns a member's part of a stage of a run.
func newShare(member, members, limit int, closed bool, seed uint64, stage string) Share {
	h := fnv.New64a()
	h.Write([]byte(stage))
	return Share{member, members, limit, closed, mix(seed ^ h.Sum64())}
}

// mix scatters a number over 64 bits: the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Owner returns the member that sends a session, by its place in the stage. In an open loop it is drawn by a hash, so that each member's
// arrivals are those of a thinned process. In a closed loop members take turns, each as often as it has slots.
func (s Share) Owner(seq int) int {
	place := uint64(seq)
	if !s.Closed {
		place = mix(s.key ^ mix(place))
	}
	if s.Limit > 0 {
		place %= uint64(s.Limit)
	}
	return int(place % uint64(s.Members))
}

// Owns reports whether the member sends a session.
func (s Share) Owns(seq int) bool { return s.Owner(seq) == s.Member }

// Slots returns how many of the requests in flight are the member's; 0 where it has none, or where there is no limit.
func (s Share) Slots() int {
	if s.Limit == 0 || s.Member >= s.Limit {
		return 0
	}
	return (s.Limit-s.Member-1)/s.Members + 1
}

// Idle reports whether the member has no part in the stage.
func (s Share) Idle() bool { return s.Limit > 0 && s.Slots() == 0 }
