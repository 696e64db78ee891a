//go:build !linux

package wait

// Exact waits as exactly as the system allows, which here is with a [Timer]. It is not safe for concurrent use.
type Exact struct{ Timer }

// NewExact returns a waiter.
func NewExact() *Exact { return &Exact{} }

// Close does nothing.
func (*Exact) Close() error { return nil }
