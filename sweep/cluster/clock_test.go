package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The other clock is known to half of the shortest round trip, whichever way a message takes longer.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ahead := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "ahead"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var c clock
		sent := time.Minute
		for range rapid.IntRange(1, 20).Draw(t, "pings") {
			there, back := time.Duration(rng.Int64N(1e7)), time.Duration(rng.Int64N(1e7))
			c.add(sent, sent+there+ahead, sent+there+back)
			sent += time.Second
		}
		best := c.best()
		if off := (best.ahead - ahead).Abs(); off > best.roundTrip/2+1 {
			t.Errorf("off by %v with a round trip of %v", off, best.roundTrip)
		}
	})
}

// A clock that runs faster is followed.
func TestClockThatDrifts(t *testing.T) {
	const drift, roundTrip = 1e-4, 200 * time.Microsecond
	var c clock
	for sent := time.Duration(0); sent < time.Hour; sent += time.Second {
		there := sent + roundTrip/2
		c.add(sent, there+time.Duration(drift*float64(there)), sent+roundTrip)
		if off := c.best().ahead - time.Duration(drift*float64(sent)); off.Abs() > time.Millisecond {
			t.Fatalf("off by %v after %v", off, sent)
		}
	}
}
