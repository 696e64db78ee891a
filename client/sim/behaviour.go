package sim

import (
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim/habit"
)

// endless is the duration of a step that does not end.
const endless time.Duration = math.MaxInt64

// Streams of random numbers, beside the jitter's stream 0.
const (
	pauseStream = 1 + iota
	cacheStream
)

// behaviour is the state of a server's habits. Like the scheduler it has no clock: callers pass instants, as times since the
// server's start, and never go back.
type behaviour struct {
	slots, budget int // of the configuration

	collapses *habit.Collapses
	sheds     *habit.Sheds
	limited   *habit.RateLimited
	drifts    *habit.Drifts
	scales    *habit.Scales
	pauses    *habit.Pauses
	batches   *habit.Batches
	caches    *habit.Caches
	drops     *habit.Drops
	freezes   *habit.Freezes

	stuck    float64       // the slowdown that a metastable collapse left behind; 0: none
	worked   time.Duration // end of the last step
	pause    time.Duration // beginning of the next pause, or of the one under way
	pauseRNG *rand.Rand
	cacheRNG *rand.Rand
	answered map[behaviourQuestion]struct{} // by a cache of repeats
	accepted int                            // requests that were not refused, nor answered from the cache
	requests bucket
	tokens   bucket
}

// newState returns the habits of a server at its start, from a valid Config that has its defaults.
func newState(c MachineConfig) *behaviour {
	b := &behaviour{
		slots: c.MaxNumSeqs, budget: c.MaxBatchedTokens,
		collapses: find[habit.Collapses](c), sheds: find[habit.Sheds](c), limited: find[habit.RateLimited](c),
		drifts: find[habit.Drifts](c), scales: find[habit.Scales](c), pauses: find[habit.Pauses](c), batches: find[habit.Batches](c),
		caches: find[habit.Caches](c), drops: find[habit.Drops](c), freezes: find[habit.Freezes](c),
		pauseRNG: rand.New(rand.NewPCG(c.Seed, pauseStream)),
		cacheRNG: rand.New(rand.NewPCG(c.Seed, cacheStream)),
		answered: make(map[behaviourQuestion]struct{}),
	}
	if b.pauses != nil {
		b.nextPause(0)
	}
	if b.limited != nil {
		l := b.limited.WithDefaults()
		b.requests, b.tokens = newBucket(l.RPM, l.Burst), newBucket(l.TPM, l.TokenBurst)
	}
	return b
}

func find[H habit.Habit](c MachineConfig) *H {
	if h, ok := habit.Find[H](c.Habits); ok {
		return &h
	}
	return nil
}

// Plan is the scheduler's Plan under the server's habits, for a step that begins at an instant. The duration is Endless
// for a server that freezes before the step's end.
func (b *behaviour) Plan(sc *Scheduler, now time.Duration) (time.Duration, bool) {
	if b.scales != nil {
		slots := b.scales.Slots(b.slots, now)
		sc.Resize(slots, max(slots, b.scales.Slots(b.budget, now)))
	}
	d, ok := sc.Plan()
	if !ok {
		return 0, false
	}
	slowdown := b.collapse(sc.Waiting(), sc.Slots(), now)
	if b.drifts != nil {
		slowdown *= b.drifts.Slowdown(now)
	}
	if slowdown != 1 {
		d = time.Duration(math.Round(float64(d) * slowdown))
	}
	if b.pauses != nil {
		d = b.stall(now, d)
	}
	if b.Frozen(now + d) {
		return endless, true
	}
	b.worked = now + d
	return d, true
}

// collapse returns the slowdown of a step that begins while requests wait.
func (b *behaviour) collapse(waiting, slots int, now time.Duration) float64 {
	c := b.collapses
	if c == nil {
		return 1
	}
	f := c.Slowdown(float64(waiting), slots)
	if c.Recovery == 0 {
		return f
	}
	if now-b.worked >= c.Recovery {
		b.stuck = 0
	}
	if float64(waiting) >= (c.From+1)*float64(slots) || b.stuck > 0 {
		b.stuck = max(b.stuck, f)
	}
	return max(f, b.stuck)
}

// stall adds the pauses to a step that would take d.
func (b *behaviour) stall(now, d time.Duration) time.Duration {
	end := now + d
	for b.pause < end {
		over := b.pause + b.pauses.Length
		if over > now {
			end += over - max(now, b.pause)
		}
		b.nextPause(over)
	}
	return end - now
}

// nextPause draws the beginning of the pause after an instant.
func (b *behaviour) nextPause(after time.Duration) {
	mean := b.pauses.Every - b.pauses.Length
	b.pause = after + time.Duration(b.pauseRNG.ExpFloat64()*float64(mean))
}

// Frozen reports whether the server has frozen for good: habit freezes.
func (b *behaviour) Frozen(at time.Duration) bool { return b.freezes != nil && at > b.freezes.At }

// behaviourQuestion identifies a request in a cache of answers.
type behaviourQuestion struct {
	Prompt uint64 // hash; 0: like no other
	Output int    // tokens
}

// Remember notes that a question was answered.
func (b *behaviour) Remember(q behaviourQuestion) {
	if b.caches != nil && b.caches.Repeats && q.Prompt != 0 {
		b.answered[q] = struct{}{}
	}
}

// Known reports whether a request is answered from the cache: habit caches.
func (b *behaviour) Known(q behaviourQuestion) bool {
	switch {
	case b.caches == nil:
		return false
	case b.caches.Repeats:
		_, ok := b.answered[q]
		return ok
	default:
		return b.cacheRNG.Float64() < b.caches.Share
	}
}

// CacheDelay returns how long an answer from the cache takes.
func (b *behaviour) CacheDelay() time.Duration { return b.caches.After }

// Accept counts a request that is worked on, and reports whether its connection is closed without an answer, and how long
// after its arrival: habit drops.
func (b *behaviour) Accept() (after time.Duration, dropped bool) {
	b.accepted++
	if b.drops == nil || b.accepted%b.drops.Every != 0 {
		return 0, false
	}
	return b.drops.After, true
}

// buffer holds the part of one answer that a buffering proxy has not sent on.
type buffer struct {
	from   int           // tokens that have left
	opened time.Duration // when the first of those that have not was made
}

// Releases reports whether the answer's tokens up to the n-th leave now: habit batches.
func (u *buffer) Releases(b *behaviour, n int, last bool, now time.Duration) bool {
	if b.batches == nil {
		return true
	}
	if n == u.from+1 {
		u.opened = now
	}
	full := b.batches.Tokens > 0 && n-u.from >= b.batches.Tokens || b.batches.Time > 0 && now-u.opened >= b.batches.Time
	if full || last {
		u.from = n
		return true
	}
	return false
}

// Speed returns the speed of steps at an instant, pauses included, as a share of a server's without habits.
func (b *behaviour) Speed(at time.Duration) float64 {
	speed := 1.0
	if b.drifts != nil {
		speed /= b.drifts.Slowdown(at)
	}
	if b.pauses != nil {
		speed *= 1 - b.pauses.Lost()
	}
	return speed
}
