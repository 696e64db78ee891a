package cluster

import (
	"testing"

	"pgregory.net/rapid"
)

// Every session belongs to exactly one member, for any number of members; none to a member without slots; and a member's part is about as
// large as its slots.
func TestEachSessionHasOneOwner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members, limit := rapid.IntRange(1, 40).Draw(t, "members"), rapid.IntRange(0, 60).Draw(t, "limit")
		closed := limit > 0 && rapid.Bool().Draw(t, "closed")
		seed := rapid.Uint64().Draw(t, "seed")
		slots := 0
		owned := make([]int, members)
		const sessions = 2000
		for m := range members {
			s := newShare(m, members, limit, closed, seed, "stage")
			slots += s.Slots()
			for seq := range sessions {
				if s.Owns(seq) {
					owned[m]++
				}
			}
			if s.Idle() != (owned[m] == 0) && members < 20 {
				t.Errorf("member %d of %d, limit %d: idle %v, and owns %d sessions", m, members, limit, s.Idle(), owned[m])
			}
		}
		if slots != limit {
			t.Errorf("%d slots of %d", slots, limit)
		}
		sum := 0
		for _, n := range owned {
			sum += n
		}
		if sum != sessions {
			t.Errorf("%d sessions have an owner, of %d", sum, sessions)
		}
	})
}
