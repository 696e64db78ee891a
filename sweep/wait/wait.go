// Package wait waits for instants: by a timer, which is late by up to a millisecond, or as exactly as the system allows.
// It never decides what happens at an instant.
package wait

import "time"

// Timer waits by one of Go's timers, here and in virtual time. The zero Timer is ready. It is not safe for concurrent
// use.
type Timer struct{ timer *time.Timer }

// Wait returns at an instant, at once where it has passed: true, or false as soon as quit is closed.
func (t *Timer) Wait(until time.Time, quit <-chan struct{}) bool {
	left := time.Until(until)
	if left <= 0 {
		select {
		case <-quit:
			return false
		default:
			return true
		}
	}
	if t.timer == nil {
		t.timer = time.NewTimer(left)
	} else {
		t.timer.Reset(left)
	}
	select {
	case <-t.timer.C:
		return true
	case <-quit:
		t.timer.Stop()
		return false
	}
}
