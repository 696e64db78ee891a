package choose

import "testing"

// TestUnknownIsNotMissed: a configuration of which something is not known is not one that misses the demand.
func TestUnknownIsNotMissed(t *testing.T) {
	for kind, want := range map[reasonKind]bool{
		noCount: true, noPrice: true, noUsers: true, noOutput: true,
		missesSLO: false, tooMany: false,
	} {
		c := Choice{Refused: []Refusal{{why: reason{kind: kind}}}}
		if c.Undecided() != want {
			t.Errorf("%s: undecided %v, want %v", kind, !want, want)
		}
	}
}
