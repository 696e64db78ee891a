package load

import "time"

// Timer waits with one of Go's timers, which are late by up to a millisecond. It also works in the virtual time of
// testing/synctest. The zero Timer is ready for use. It is not safe for concurrent use.
type Timer struct{ timer *time.Timer }

// Wait waits for an instant and returns true, at once where it has passed. It returns false as soon as quit is closed.
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
