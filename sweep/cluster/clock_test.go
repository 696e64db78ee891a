package cluster

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The offset lies within its bounds at any time, with any delays, and so does the drift.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "offset"))
		drift := rapid.Float64Range(-0.9*maxClockDrift, 0.9*maxClockDrift).Draw(t, "drift")
		there := time.Duration(rapid.Int64Range(1e3, 5e7).Draw(t, "there"))
		back := time.Duration(rapid.Int64Range(1e3, 5e7).Draw(t, "back"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		other := func(own time.Duration) time.Duration { return own + offset + time.Duration(drift*float64(own)) }
		var tracker clockTracker
		now := time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "exchanges") {
			now += time.Duration(rng.ExpFloat64() * float64(time.Second))
			x := clockExchange{Sent: now}
			at := now + there + time.Duration(rng.ExpFloat64()*1e6)
			x.Received, x.Answered = other(at), other(at+time.Microsecond)
			x.Back = at + time.Microsecond + back + time.Duration(rng.ExpFloat64()*1e6)
			tracker.Add(x)
			now = x.Back
		}
		e, ok := tracker.At(now)
		truth := other(now) - now
		const rounding = 10 * time.Nanosecond
		if !ok || truth < e.Low-rounding || truth > e.High+rounding {
			t.Fatalf("the offset is %v, and said to lie between %v and %v", truth, e.Low, e.High)
		}
		if d := e.Drift; d.Known && (drift < d.Low-1e-9 || drift > d.High+1e-9) {
			t.Fatalf("the drift is %g, and said to lie between %g and %g", drift, d.Low, d.High)
		}
	})
}

// Where both ways take the same time, the error is far below its bound: by how much single messages were delayed.
func TestSymmetricWaysLeaveLittleError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const offset, way = 300 * time.Millisecond, 20 * time.Millisecond
	var tracker clockTracker
	now := time.Duration(0)
	for range 60 {
		jitter := func() time.Duration { return time.Duration(rng.ExpFloat64() * float64(time.Millisecond)) }
		at := now + way + jitter()
		x := clockExchange{Sent: now, Received: at + offset, Answered: at + offset, Back: at + way + jitter()}
		tracker.Add(x)
		now += time.Second
	}
	e, _ := tracker.At(now)
	if err := (e.Offset - offset).Abs(); err > 500*time.Microsecond || e.Error() < way {
		t.Errorf("off by %v, within %v", err, e.Error())
	}
}

// A clock is wrong by what it was told, and instants come back as they were.
func TestClockIsWrongByWhatItWasTold(t *testing.T) {
	now := time.Now()
	c, w := NewRankClock(0), NewRankClock(300*time.Millisecond)
	w.base = c.base
	if d := w.Reading(now) - c.Reading(now); d != 300*time.Millisecond {
		t.Errorf("wrong by %v", d)
	}
	if back := w.Instant(w.Reading(now)); !back.Equal(now) {
		t.Errorf("%v became %v", now, back)
	}
}
