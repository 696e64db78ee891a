// Finds out how far the clock of one process is off against that of another. Each exchange of four instants bounds the offset
// from both sides: no message arrives before it was sent. The bounds of many exchanges are put together, so that the quickest way there
// and the quickest way back count, and not their averages.

package cluster

import (
	"math"
	"slices"
	"sync"
	"time"
)

// maxClockDrift is how fast two clocks drift apart at most, in seconds per second: two quartz oscillators of 50 ppm each, the usual grade.
const maxClockDrift = 100e-6

// RankClock reads the time of day, and goes on from there by the monotonic clock: it is not set while it runs.
type RankClock struct {
	base  time.Time
	wrong time.Duration
}

// NewRankClock returns a clock that is wrong by a time, which is 0 but for tests.
func NewRankClock(wrong time.Duration) *RankClock { return &RankClock{time.Now(), wrong} }

// Now returns the time since 1970.
func (c *RankClock) Now() time.Duration { return c.Reading(time.Now()) }

// Reading returns what the clock reads at an instant of this process.
func (c *RankClock) Reading(at time.Time) time.Duration {
	return time.Duration(c.base.UnixNano()) + at.Sub(c.base) + c.wrong
}

// Instant returns the instant of this process at which the clock reads a time.
func (c *RankClock) Instant(reading time.Duration) time.Time {
	return c.base.Add(reading - c.wrong - time.Duration(c.base.UnixNano()))
}

// clockExchange is a question and its answer. Sent and Back are by the own clock, Received and Answered by the other's.
type clockExchange struct{ Sent, Received, Answered, Back time.Duration }

// ClockEstimate is what is known of the offset: what has to be added to the own clock to get the other's. It lies between Low and High.
type ClockEstimate struct {
	Offset, Low, High time.Duration
	Drift             ClockDrift
	RoundTrip         time.Duration // the shortest, without the time that the other took
	Exchanges         int
}

// Error returns the largest error of the offset.
func (e *ClockEstimate) Error() time.Duration { return (e.High - e.Low) / 2 }

// ClockDrift is by how much the offset grows, in seconds per second. Known is false where too little time has passed to tell.
type ClockDrift struct {
	Value, Low, High float64
	Known            bool
}

// bound is a bound of the offset, and when it held by the own clock.
type bound struct{ at, value time.Duration }

// bucket has the closest bounds of a time.
type bucket struct {
	began     time.Duration
	low, high bound
}

const (
	bucketTime  = 5 * time.Second
	mostBuckets = 1024             // an hour and a half; then older ones are thinned out
	leastDrift  = 10 * time.Second // between the bounds that a drift is from
)

// clockTracker keeps what exchanges have shown. It is safe for concurrent use.
type clockTracker struct {
	mu        sync.Mutex
	buckets   []bucket
	exchanges int
	shortest  time.Duration
}

// Add takes in an exchange. One that cannot be, since it ended before it began, is left out.
func (t *clockTracker) Add(x clockExchange) {
	trip := (x.Back - x.Sent) - (x.Answered - x.Received)
	if x.Back < x.Sent || x.Answered < x.Received || trip < 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exchanges == 0 || trip < t.shortest {
		t.shortest = trip
	}
	t.exchanges++
	low, high := bound{x.Back, x.Answered - x.Back}, bound{x.Sent, x.Received - x.Sent}
	n := len(t.buckets)
	if n == 0 || x.Sent-t.buckets[n-1].began > bucketTime {
		t.thin()
		t.buckets = append(t.buckets, bucket{x.Sent, low, high})
		return
	}
	b := &t.buckets[n-1]
	if reach(low, x.Back, -1) > reach(b.low, x.Back, -1) {
		b.low = low
	}
	if reach(high, x.Back, 1) < reach(b.high, x.Back, 1) {
		b.high = high
	}
}

// thin makes room for another bucket. The first stays, for the drift.
func (t *clockTracker) thin() {
	if len(t.buckets) < mostBuckets {
		return
	}
	kept := t.buckets[:1]
	for i := 2; i < len(t.buckets); i += 2 {
		kept = append(kept, t.buckets[i])
	}
	t.buckets = slices.Clip(kept)
}

// reach returns a bound at another instant: as far out, in the direction of sign, as the clocks may have drifted.
func reach(b bound, at time.Duration, sign float64) time.Duration {
	return b.value + time.Duration(sign*maxClockDrift*math.Abs(float64(at-b.at)))
}

// At returns what is known of the offset at an instant of the own clock; ok is false before the first exchange.
func (t *clockTracker) At(now time.Duration) (e ClockEstimate, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.buckets)
	if n == 0 {
		return e, false
	}
	e.Low, e.High = math.MinInt64, math.MaxInt64
	for i := range t.buckets {
		e.Low = max(e.Low, reach(t.buckets[i].low, now, -1))
		e.High = min(e.High, reach(t.buckets[i].high, now, 1))
	}
	if e.Low > e.High { // a clock was set, or drifts faster: only the latest bounds count
		last := t.buckets[n-1]
		e.Low, e.High = reach(last.low, now, -1), reach(last.high, now, 1)
		if e.Low > e.High {
			e.Low, e.High = e.High, e.Low
		}
	}
	e.Offset = e.Low + (e.High-e.Low)/2
	e.Drift, e.RoundTrip, e.Exchanges = t.drift(), t.shortest, t.exchanges
	return e, true
}

// drift returns the drift from the first bounds to the latest.
func (t *clockTracker) drift() (d ClockDrift) {
	first, last := t.buckets[0], t.buckets[len(t.buckets)-1]
	if last.low.at-first.high.at < leastDrift || last.high.at-first.low.at < leastDrift {
		return d
	}
	d.High = float64(last.high.value-first.low.value) / float64(last.high.at-first.low.at)
	d.Low = float64(last.low.value-first.high.value) / float64(last.low.at-first.high.at)
	d.Value, d.Known = (d.Low+d.High)/2, d.Low <= d.High
	return d
}
