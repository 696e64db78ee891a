package twin

import "testing"

// A prediction whose interval is wider than a factor of four is none.
func TestWidePredictionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		rate, low, high float64
		refused         string
	}{
		"narrow":          {3, 2, 5, ""},
		"a factor of 4":   {4, 2, 8, ""},
		"wider":           {4, 1.9, 8, RefusedWide},
		"no end":          {3.337, 4e-7, 27625896, RefusedWide},
		"cannot be held":  {0, 0, 0, RefusedHolds},
		"nothing beneath": {3, 0, 5, RefusedWide},
	} {
		if a := (Answer{}).with(c.rate, c.low, c.high); a.Refused != c.refused || (a.Rate > 0) != (c.refused == "") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
