package sweep

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// Caps are limits that a hosted API sets, kept by us so that it need not: what they hold back counts as queued.
type Caps struct {
	requests *rate.Limiter
	tokens   *rate.Limiter
	rps      float64
}

// NewCaps caps requests per second and tokens per minute, prompts and answers together; 0 is no cap.
func NewCaps(rps, tokensPerMinute float64) *Caps {
	c := &Caps{rps: rps}
	if rps > 0 {
		c.requests = rate.NewLimiter(rate.Limit(rps), 1)
	}
	if tokensPerMinute > 0 {
		const burst = 10.0 / 60 // ten seconds' worth: less would hold back what the API takes
		c.tokens = rate.NewLimiter(rate.Limit(tokensPerMinute/60), max(1, int(tokensPerMinute*burst)))
	}
	return c
}

// wait waits until a request of so many tokens may go, or ctx ends, and returns how long that took.
func (c *Caps) wait(ctx context.Context, tokens int) time.Duration {
	began := time.Now()
	if c.requests != nil {
		c.requests.Wait(ctx) // an error is ctx's, which the caller sees
	}
	if c.tokens != nil {
		c.tokens.WaitN(ctx, min(tokens, c.tokens.Burst()))
	}
	return time.Since(began)
}

// allows reports whether a rate of arrivals does not run into the cap on requests.
func (c *Caps) allows(perSecond float64) bool {
	return c == nil || c.requests == nil || perSecond <= c.rps
}
