package load

import (
	"testing"
	"time"
)

// waiter is what both kinds of waiter do.
type waiter interface {
	Wait(time.Time, <-chan struct{}) bool
}

func kinds(t *testing.T) map[string]waiter {
	e := NewExactTimer()
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return map[string]waiter{"timer": &Timer{}, "exact": e, "exact, unavailable": &ExactTimer{}}
}

// No wait is too short, whatever was waited for before, and a long one ends when it shall.
func TestWait(t *testing.T) {
	for name, w := range kinds(t) {
		open, closed := make(chan struct{}), make(chan struct{})
		close(closed)
		for _, d := range []time.Duration{-time.Second, 0, time.Nanosecond, 30 * time.Microsecond, 400 * time.Microsecond,
			2 * time.Millisecond, 15 * time.Millisecond} {
			until := time.Now().Add(d)
			if !w.Wait(until, open) || time.Now().Before(until) {
				t.Errorf("%s, %v: back %v before", name, d, time.Until(until))
			}
			quit := make(chan struct{})
			time.AfterFunc(time.Millisecond/2, func() { close(quit) })
			if w.Wait(time.Now().Add(time.Hour), quit) || w.Wait(time.Now().Add(time.Hour), closed) || w.Wait(until, closed) {
				t.Errorf("%s: an hour passed, or it waited on", name)
			}
		}
	}
}

func TestWaitAllocatesNothing(t *testing.T) {
	for name, w := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			quit := make(chan struct{})
			if n := testing.AllocsPerRun(20, func() { w.Wait(time.Now().Add(4*time.Millisecond), quit) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
