//go:build !linux

package wait

// Exact waits as exactly as the system allows, which is by a [Timer]. It is not safe for concurrent use.
type Exact struct{ Timer }

// NewExact returns a waiter; Close frees what it takes.
func NewExact() *Exact { return &Exact{} }

// Close frees nothing.
func (*Exact) Close() error { return nil }
