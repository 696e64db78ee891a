//go:build !linux

package load

// ExactTimer waits as exactly as the system allows, which here is with a [Timer]. It is not safe for concurrent use.
type ExactTimer struct{ Timer }

// NewExactTimer returns a waiter.
func NewExactTimer() *ExactTimer { return &ExactTimer{} }

// Close does nothing.
func (*ExactTimer) Close() error { return nil }
