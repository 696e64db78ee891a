package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim/habit"
)

// ErrDropped is what requests get whose connection the server closed without an answer: habit drops.
var ErrDropped = errors.New("the simulated server dropped the connection")

// Refusal is the error of a request that the server refused: habits sheds and rate-limited.
type Refusal struct {
	Status     int           // 429 or 503
	RetryAfter time.Duration // 0: not told
	After      time.Duration // how long the refusal takes
	Reason     string
	Busy       bool // too many wait; else a limit on the rate was reached
}

// Error returns the refusal's message.
func (r *Refusal) Error() string { return r.Reason }

// AwaitRefusal waits as long as a refusal takes, and returns the error, or the context's if that ended before.
func AwaitRefusal(ctx context.Context, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	timer := time.NewTimer(r.After)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endless is the duration of a step that does not end.
const endless time.Duration = math.MaxInt64

// Streams of random numbers, beside the jitter's stream 0.
const (
	pauseStream = 1 + iota
	cacheStream
)

// behaviour is the state of a server's habits. Like the engine it has no clock: callers pass instants, as
// times since the server's start, and never go back.
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
	answered map[question]struct{} // by a cache of repeats
	accepted int                   // requests that were not refused, nor answered from the cache
	requests bucket
	tokens   bucket
}

// newBehaviour wants a Config that has its defaults and is valid.
func newBehaviour(c Config) *behaviour {
	b := &behaviour{
		slots: c.MaxNumSeqs, budget: c.MaxBatchedTokens,
		collapses: find[habit.Collapses](c), sheds: find[habit.Sheds](c), limited: find[habit.RateLimited](c),
		drifts: find[habit.Drifts](c), scales: find[habit.Scales](c), pauses: find[habit.Pauses](c), batches: find[habit.Batches](c),
		caches: find[habit.Caches](c), drops: find[habit.Drops](c), freezes: find[habit.Freezes](c),
		pauseRNG: rand.New(rand.NewPCG(c.Seed, pauseStream)),
		cacheRNG: rand.New(rand.NewPCG(c.Seed, cacheStream)),
		answered: make(map[question]struct{}),
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

func find[H habit.Habit](c Config) *H {
	if h, ok := habit.Find[H](c.Habits); ok {
		return &h
	}
	return nil
}

// plan is the engine's plan under the server's habits, for a step that begins at an instant. The duration is endless
// for a server that freezes before the step's end.
func (b *behaviour) plan(sc *scheduler, now time.Duration) (time.Duration, bool) {
	if b.scales != nil {
		sc.cfg.MaxNumSeqs = b.scales.Slots(b.slots, now)
		sc.cfg.MaxBatchedTokens = max(sc.cfg.MaxNumSeqs, b.scales.Slots(b.budget, now))
	}
	d, ok := sc.plan()
	if !ok {
		return 0, false
	}
	slowdown := b.collapse(sc.waiting.n, sc.cfg.MaxNumSeqs, now)
	if b.drifts != nil {
		slowdown *= b.drifts.Slowdown(now)
	}
	if slowdown != 1 {
		d = time.Duration(math.Round(float64(d) * slowdown))
	}
	if b.pauses != nil {
		d = b.stall(now, d)
	}
	if b.frozen(now + d) {
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

func (b *behaviour) frozen(at time.Duration) bool { return b.freezes != nil && at > b.freezes.At }

// question identifies a request in a cache. Prompt 0 never equals another.
type question struct {
	prompt uint64
	output int
}

// remember notes that a question was answered.
func (b *behaviour) remember(q question) {
	if b.caches != nil && b.caches.Repeats && q.prompt != 0 {
		b.answered[q] = struct{}{}
	}
}

// known reports whether a request is answered from the cache.
func (b *behaviour) known(q question) bool {
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

// bucket is a token bucket. The zero bucket lets everything through.
type bucket struct {
	rate, size float64 // per second; the most it holds
	level      float64
	filled     time.Duration // the instant of level
}

func newBucket(perMinute, size float64) bucket {
	return bucket{rate: perMinute / 60, size: size, level: size}
}

// wait fills the bucket up to an instant, and returns how long it takes until it holds enough; 0: it does.
func (b *bucket) wait(enough float64, now time.Duration) time.Duration {
	if b.rate == 0 {
		return 0
	}
	b.level = min(b.size, b.level+b.rate*(now-b.filled).Seconds())
	b.filled = now
	const rounding = 1e-9
	if missing := enough - b.level; missing > rounding {
		return time.Duration(missing / b.rate * 1e9)
	}
	return 0
}

func (b *bucket) take(cost float64) {
	if b.rate > 0 {
		b.level -= cost
	}
}

// limit returns the refusal of a request that the token buckets do not let through, or nil.
func (b *behaviour) limit(prompt, output int, now time.Duration) *Refusal {
	if b.limited == nil {
		return nil
	}
	const one, some = 1, 1e-6
	if wait := max(b.requests.wait(one, now), b.tokens.wait(some, now)); wait > 0 {
		return &Refusal{Status: 429, RetryAfter: wait, After: b.limited.After,
			Reason: fmt.Sprintf("Rate limit reached. Please try again in %.3fs.", wait.Seconds())}
	}
	b.requests.take(1)
	b.tokens.take(float64(prompt + output))
	return nil
}

// shed returns the refusal of a request with which too many would wait, or nil.
func (b *behaviour) shed(waiting int) *Refusal {
	s := b.sheds
	if s == nil || waiting <= s.Waiting {
		return nil
	}
	return &Refusal{Status: s.Status, RetryAfter: s.RetryAfter, After: s.After, Reason: "The server is overloaded.", Busy: true}
}

// buffer holds the part of one answer that a buffering proxy has not sent on.
type buffer struct {
	from   int           // tokens that have left
	opened time.Duration // when the first of those that have not was made
}

// releases reports whether the answer's tokens up to the n-th leave now.
func (u *buffer) releases(b *behaviour, n int, last bool, now time.Duration) bool {
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

// receive decides what becomes of a request that arrives: it is refused, answered from the cache, or queued, and then perhaps
// dropped. It is called under the lock.
func (e *Engine) receive(g *Generation) (queued bool, err error) {
	b := e.habits
	if b.frozen(g.arrived) {
		return true, nil
	}
	if r := b.limit(g.prompt, g.output, g.arrived); r != nil {
		return false, r
	}
	if b.known(g.asks) {
		e.after(g, b.caches.After, func() {
			g.generated = g.output
			g.emit(g.output, e.epoch.Add(g.arrived+b.caches.After))
			g.end("length", nil)
		})
		return false, nil
	}
	if r := b.shed(e.waitingWith(1)); r != nil {
		return false, r
	}
	b.accepted++
	if b.drops != nil && b.accepted%b.drops.Every == 0 {
		g.doomed = true
		e.after(g, b.drops.After, func() {
			g.left = time.Since(e.epoch)
			e.leaving = append(e.leaving, g)
			g.end("abort", ErrDropped)
		})
	}
	return true, nil
}

// after does something to a request, under the lock, some time after its arrival, unless the call ended or the server froze
// before.
func (e *Engine) after(g *Generation, d time.Duration, do func()) {
	if e.habits.frozen(g.arrived + d) {
		return
	}
	time.AfterFunc(time.Until(e.epoch.Add(g.arrived+d)), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !g.ended {
			do()
		}
	})
}

// waitingWith counts the requests that wait for a slot, were there so many more. Arrivals that the engine has not seen yet wait
// only as far as there are no free slots for them.
func (e *Engine) waitingWith(more int) int {
	sc := e.scheduler
	free := max(0, sc.cfg.MaxNumSeqs-len(sc.running)-sc.waiting.n)
	return sc.waiting.n + max(0, len(e.inbox)+more-free)
}

// Frozen reports whether the server has frozen for good: habit freezes.
func (e *Engine) Frozen() bool { return e.habits.frozen(time.Since(e.epoch)) }

// Dropped reports whether the server will close the request's connection without an answer, when Done is closed: habit
// drops.
func (g *Generation) Dropped() bool { return g.doomed }
