package pair

import (
	"testing"
	"time"
)

// A comparison is shortened to fit its budget, and refused with the least budget where its stages would show nothing.
func TestFitStages(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		stage, budget time.Duration
		loads         int
		want, least   time.Duration
		ok            bool
	}{
		{10 * s, time.Hour, 0, 10 * s, 0, true},
		{10 * s, 0, 3, 10 * s, 0, true},
		{10 * s, 60 * s, 0, 10 * s, 159 * s, false},           // 38 stages
		{10 * s, 159 * s, 0, 3347368421, 0, true},             // the least budget fits
		{10 * s, 60 * s, 1, 4800 * time.Millisecond, 0, true}, // 10 stages
	} {
		got, least, ok := FitStages(c.stage, c.budget, c.loads)
		if got != c.want || least != c.least || ok != c.ok {
			t.Errorf("%v in %v, %d loads: %v, at least %v, %v; want %v, %v, %v", c.stage, c.budget, c.loads, got, least, ok, c.want, c.least, c.ok)
		}
	}
}
