package sim

import (
	"fmt"
	"time"
)

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

// Limit returns the refusal of a request that the token buckets do not let through, or nil: habit rate-limited.
func (b *behaviour) Limit(prompt, output int, now time.Duration) *Refusal {
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

// Shed returns the refusal of a request with which too many would wait, or nil: habit sheds.
func (b *behaviour) Shed(waiting int) *Refusal {
	s := b.sheds
	if s == nil || waiting <= s.Waiting {
		return nil
	}
	return &Refusal{Status: s.Status, RetryAfter: s.RetryAfter, After: s.After, Reason: "The server is overloaded.", Busy: true}
}

// Narrowest returns the rate per second and the size of the narrower token bucket, in requests of some tokens, prompt and
// answer together, and how many of them may be missing in it when another passes; 0 for none.
func (b *behaviour) Narrowest(tokens int) (rate, burst, room float64) {
	if b.limited == nil {
		return 0, 0, 0
	}
	cost := float64(tokens)
	if b.requests.rate > 0 {
		rate, burst, room = b.requests.rate, b.requests.size, b.requests.size-1
	}
	if byTokens := b.tokens.rate / cost; byTokens > 0 && (rate == 0 || byTokens < rate) {
		rate, burst, room = byTokens, b.tokens.size/cost, b.tokens.size/cost
	}
	return rate, burst, room
}
