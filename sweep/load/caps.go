package load

import (
	"context"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Caps are the rate limits of a hosted API. The client keeps to them itself, so that the API rejects nothing. The time
// that they hold a request back counts as queued.
type Caps struct {
	requests *rate.Limiter // nil for no cap
	tokens   *rate.Limiter
}

// NewCaps returns caps on requests per second and tokens per minute, prompts and answers together; 0 is no cap.
func NewCaps(requestsPerSecond, tokensPerMinute float64) *Caps {
	c := &Caps{}
	if requestsPerSecond > 0 {
		c.requests = rate.NewLimiter(rate.Limit(requestsPerSecond), 1)
	}
	if tokensPerMinute > 0 {
		const burst = 10.0 / 60 // of a minute: with less, single requests would be held back that the API takes
		c.tokens = rate.NewLimiter(rate.Limit(tokensPerMinute/60), max(1, int(tokensPerMinute*burst)))
	}
	return c
}

// Wait waits until a request with that many tokens may be sent, or ctx ends.
func (c *Caps) Wait(ctx context.Context, tokens int) { c.wait(ctx, tokens) }

// wait is Wait, and returns how long that took.
func (c *Caps) wait(ctx context.Context, tokens int) time.Duration {
	if c == nil {
		return 0
	}
	began := time.Now()
	if c.requests != nil {
		c.requests.Wait(ctx) // an error is ctx's, which the caller sees
	}
	if c.tokens != nil {
		for burst := c.tokens.Burst(); tokens > 0 && ctx.Err() == nil; tokens -= burst {
			c.tokens.WaitN(ctx, min(tokens, burst)) // no more at once
		}
	}
	return time.Since(began)
}

// PerSecond returns the cap on requests per second; 0 for none.
func (c *Caps) PerSecond() float64 {
	if c == nil || c.requests == nil {
		return 0
	}
	return float64(c.requests.Limit())
}

// Most returns the most requests, and the most tokens of prompts and answers, that the caps let through in a time;
// infinite where there is no cap. A request that has begun to wait counts in full.
func (c *Caps) Most(in time.Duration) (requests, tokens float64) {
	requests, tokens = math.Inf(1), math.Inf(1)
	if c != nil && c.requests != nil {
		requests = math.Ceil(c.PerSecond()*in.Seconds()) + float64(c.requests.Burst())
	}
	if c != nil && c.tokens != nil {
		tokens = math.Ceil(float64(c.tokens.Limit())*in.Seconds()) + float64(c.tokens.Burst())
	}
	return requests, tokens
}

// Allows reports whether a rate of arrivals stays within the cap on requests.
func (c *Caps) Allows(perSecond float64) bool {
	return c.PerSecond() == 0 || perSecond <= c.PerSecond()
}
