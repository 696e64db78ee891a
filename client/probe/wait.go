package probe

import (
	"context"
	"errors"
	"net/http"
	"time"

	"llmsweep/client"
)

const (
	// trialTime limits the requests of the preflight. It is enough to load a model of 100 GB from a fast disk; a server
	// that is silent for longer is not ready to be measured.
	trialTime = 3 * time.Minute
	// busyTime limits the waits for a server that answers 429 or 503: it is busy, or loads its model.
	busyTime = time.Minute
	// firstWait is the first wait where the server names none; each further one is twice as long.
	firstWait = time.Second
)

// wait waits as a refusal asks, and reports whether to try again: not for other failures, and not beyond busyTime.
func (p *Prober) wait(ctx context.Context, status int, after time.Duration) bool {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return false
	}
	if after == 0 {
		after = max(p.nextWait, firstWait)
		p.nextWait = 2 * after
	}
	if p.waited+after > busyTime {
		return false
	}
	select {
	case <-time.After(after):
		p.waited += after
		return true
	case <-ctx.Done():
		return false
	}
}

// getWhenReady is get, and waits for a server that is busy.
func (p *Prober) getWhenReady(ctx context.Context, path string) (client.Answer, error) {
	for {
		a, err := p.get(ctx, path)
		var f *client.Failure
		if !errors.As(err, &f) || !p.wait(ctx, f.HTTP, f.RetryAfter) {
			return a, err
		}
	}
}
