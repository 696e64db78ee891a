package experiment

import (
	"math"
	"testing"
	"time"

	"llmsweep/client"
)

// A pause of the server does not make a lone request slow; a server that is slow from token to token does, and so does one whose tokens
// come in bursts.
func TestUsualGap(t *testing.T) {
	const ms = time.Millisecond
	answer := func(gap, pause time.Duration, every int) *client.Result {
		r := &client.Result{}
		for i := range 20 {
			g := gap
			if i == 7 {
				g += pause
			}
			if every > 0 && i%every != 0 {
				g = 0
			}
			r.Gaps = append(r.Gaps, g)
			r.LastToken += g
		}
		return r
	}
	for name, c := range map[string]struct {
		res  *client.Result
		want float64
	}{
		"plain": {answer(10*ms, 0, 0), 0.010}, "pausing": {answer(10*ms, time.Second, 0), 0.010},
		"slow": {answer(17*ms, 0, 0), 0.017}, "in bursts": {answer(40*ms, 0, 4), 0.010},
	} {
		if got := usualGap(c.res, 21); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
}
