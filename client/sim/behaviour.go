package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

const endless time.Duration = math.MaxInt64 // duration of a step that does not end

// Streams of the seed's random numbers.
const (
	jitterStream = iota
	pauseStream
	cacheStream
)

// behaviour is the state of a server's habits. Like the scheduler it has no clock: callers pass instants, as times
// since the server's start, and never go back.
type behaviour struct {
	Habits
	slots, budget int // of the configuration

	collapsed   float64 // the slowdown that a metastable collapse left behind; 0: none
	lastStepEnd time.Duration
	nextPauseAt time.Duration // beginning of the next pause, or of the one under way
	pauseRNG    *rand.Rand
	cacheRNG    *rand.Rand
	accepted    int           // requests that were neither refused nor answered from the cache
	bucket      float64       // content of the token bucket
	bucketAt    time.Duration // the instant of bucket
}

// newBehaviour wants a valid configuration that has its defaults.
func newBehaviour(c MachineConfig) *behaviour {
	b := &behaviour{
		Habits: c.Habits, slots: c.MaxNumSeqs, budget: c.MaxBatchedTokens, bucket: c.Habits.Limits.Burst,
		pauseRNG: rand.New(rand.NewPCG(c.Seed, pauseStream)),
		cacheRNG: rand.New(rand.NewPCG(c.Seed, cacheStream)),
	}
	b.drawPause(0)
	return b
}

// plan is the scheduler's Plan under the server's habits, for a step that begins now. The duration is endless for a
// server that freezes before the step's end.
func (b *behaviour) plan(sc *Scheduler, now time.Duration) (time.Duration, bool) {
	if b.Scales.Factor > 0 {
		slots := b.Scales.Slots(b.slots, now)
		sc.Resize(slots, max(slots, b.Scales.Slots(b.budget, now)))
	}
	d, ok := sc.Plan()
	if !ok {
		return 0, false
	}
	if slowdown := b.collapse(sc.Waiting(), sc.Slots(), now) * (1 + b.Drifts*now.Minutes()); slowdown != 1 {
		d = time.Duration(math.Round(float64(d) * slowdown))
	}
	d = b.stall(now, d)
	if b.frozen(now + d) {
		return endless, true
	}
	b.lastStepEnd = now + d
	return d, true
}

// collapse returns the slowdown of a step that begins while requests wait.
func (b *behaviour) collapse(waiting, slots int, now time.Duration) float64 {
	f := b.Collapses.slowdown(waiting, slots)
	if b.Collapses.Recovery == 0 {
		return f
	}
	if now-b.lastStepEnd >= b.Collapses.Recovery {
		b.collapsed = 0
	}
	if waiting >= slots || b.collapsed > 0 {
		b.collapsed = max(b.collapsed, f)
	}
	return max(f, b.collapsed)
}

func (b *behaviour) stall(now, d time.Duration) time.Duration {
	end := now + d
	for b.Pauses.Length > 0 && b.nextPauseAt < end {
		over := b.nextPauseAt + b.Pauses.Length
		if over > now {
			end += over - max(now, b.nextPauseAt)
		}
		b.drawPause(over)
	}
	return end - now
}

func (b *behaviour) drawPause(after time.Duration) {
	mean := b.Pauses.Every - b.Pauses.Length
	b.nextPauseAt = after + time.Duration(b.pauseRNG.ExpFloat64()*float64(mean))
}

func (b *behaviour) frozen(at time.Duration) bool { return b.Freezes > 0 && at > b.Freezes }

// buffer is the part of one answer that a buffering proxy has not sent on.
type buffer struct {
	sent    int           // tokens
	firstAt time.Duration // when the first token was made that is not sent
}

// flushes reports whether the answer's tokens up to the n-th are sent now.
func (u *buffer) flushes(b Burst, n int, last bool, now time.Duration) bool {
	if b == (Burst{}) {
		return true
	}
	if n == u.sent+1 {
		u.firstAt = now
	}
	full := b.Tokens > 0 && n-u.sent >= b.Tokens || b.Time > 0 && now-u.firstAt >= b.Time
	if full || last {
		u.sent = n
		return true
	}
	return false
}

// Refusal is the error of a request that the server refused.
type Refusal struct {
	Status     int           // 429 or 503
	RetryAfter time.Duration // 0: none
	Reason     string
	Busy       bool // too many wait; else a limit on the rate was reached
}

// Error returns the refusal's message.
func (r *Refusal) Error() string { return r.Reason }

// limit returns nil for a request that the token bucket lets through.
func (b *behaviour) limit(tokens int, now time.Duration) *Refusal {
	l := b.Limits
	if l.PerMinute == 0 {
		return nil
	}
	b.bucket = min(l.Burst, b.bucket+l.PerMinute*(now-b.bucketAt).Minutes())
	b.bucketAt = now
	enough, cost := 1.0, 1.0
	if l.Tokens {
		enough, cost = 1e-6, float64(tokens)
	}
	const rounding = 1e-9
	if missing := enough - b.bucket; missing > rounding {
		wait := time.Duration(missing / l.PerMinute * float64(time.Minute))
		return &Refusal{Status: 429, RetryAfter: wait,
			Reason: fmt.Sprintf("Rate limit reached. Please try again in %.3fs.", wait.Seconds())}
	}
	b.bucket -= cost
	return nil
}

// shed returns nil for a request with which no more than the limit would wait.
func (b *behaviour) shed(waiting int) *Refusal {
	if b.Sheds.Waiting == 0 || waiting <= b.Sheds.Waiting {
		return nil
	}
	return &Refusal{Status: b.Sheds.Status, Reason: "The server is overloaded.", Busy: true}
}

// ErrDropped is what requests get whose connection the server closed without an answer.
var ErrDropped = errors.New("the simulated server dropped the connection")

// AwaitRefusal waits as long as a refusal takes, if err is one. It returns err, or the context's error.
func AwaitRefusal(ctx context.Context, err error) error {
	var r *Refusal
	if !errors.As(err, &r) {
		return err
	}
	timer := time.NewTimer(RefusalTime)
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// receive refuses a request that arrives, answers it from the cache, or has it queued, and then perhaps dropped. It is
// called under the lock.
func (e *Engine) receive(g *Generation) (queued bool, err error) {
	b := e.habits
	if b.frozen(g.arrivedAt) {
		return true, nil
	}
	if r := b.limit(g.sequence.Prompt+g.sequence.Output, g.arrivedAt); r != nil {
		return false, r
	}
	if b.Caches > 0 && b.cacheRNG.Float64() < b.Caches {
		e.afterArrival(g, CacheTime, func() {
			g.sequence.Generated = g.sequence.Output
			g.emit(g.sequence.Output, e.epoch.Add(g.arrivedAt+CacheTime))
			g.end("length", nil)
		})
		return false, nil
	}
	// Arrivals that the engine has not seen yet wait only as far as there are no free slots for them.
	sc := e.scheduler
	free := max(0, sc.Slots()-sc.Running()-sc.Waiting())
	if r := b.shed(sc.Waiting() + max(0, len(e.inbox)+1-free)); r != nil {
		return false, r
	}
	b.accepted++
	if b.Drops.Every > 0 && b.accepted%b.Drops.Every == 0 {
		g.willDrop = true
		e.afterArrival(g, b.Drops.After, func() { g.cancel(ErrDropped) })
	}
	return true, nil
}

// afterArrival calls do under the lock, some time after a request's arrival, unless the request has ended or the server
// has frozen by then.
func (e *Engine) afterArrival(g *Generation, d time.Duration, do func()) {
	if e.habits.frozen(g.arrivedAt + d) {
		return
	}
	time.AfterFunc(time.Until(e.epoch.Add(g.arrivedAt+d)), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !g.ended {
			do()
		}
	})
}

// Frozen reports whether the server has frozen for good.
func (e *Engine) Frozen() bool { return e.habits.frozen(time.Since(e.epoch)) }

// Dropped reports whether the request's connection is to be closed without an answer, when Done is closed.
func (g *Generation) Dropped() bool { return g.willDrop }
