package load

import (
	"math"
	"testing"
	"testing/synctest"
	"time"
)

// A request with more tokens than may be sent at once waits for all of them, and what is sent in a time is at most what
// Most says.
func TestCapsOnTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCaps(0, 600) // 100 at once
		began, sent := time.Now(), 0.0
		for _, tokens := range []int{50, 1000, 250, 1, 0, 700} {
			c.Wait(t.Context(), tokens)
			sent += float64(tokens)
			if _, most := c.Most(time.Since(began)); sent > most {
				t.Errorf("%v tokens in %v, at most %v", sent, time.Since(began), most)
			}
		}
		if got, want := time.Since(began).Seconds(), (sent-100)/10; math.Abs(got-want) > 0.5 {
			t.Errorf("%v tokens took %.1f s, want %.1f", sent, got, want)
		}
	})
}
