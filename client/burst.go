package client

import "time"

// Burst notes token-bearing chunks of one token each that arrived together, in one receive.
func (r *Result) Burst(at time.Duration, chunks int) {
	for i := range chunks {
		r.Token(at, 1, false)
		if i < chunks-1 {
			r.share()
		}
	}
}
