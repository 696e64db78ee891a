package load

import (
	"testing"
	"testing/synctest"
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

// TestWait waits for various times with the same waiter: never too short.
func TestWait(t *testing.T) {
	for name, w := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			quit := make(chan struct{})
			for _, d := range []time.Duration{-time.Second, 0, time.Nanosecond, 30 * time.Microsecond, 400 * time.Microsecond,
				2 * time.Millisecond, 15 * time.Millisecond} {
				until := time.Now().Add(d)
				if !w.Wait(until, quit) || time.Now().Before(until) {
					t.Errorf("%v: back %v before", d, time.Until(until))
				}
			}
		})
	}
}

// TestQuit ends long waits, and then waits again.
func TestQuit(t *testing.T) {
	for name, w := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			for _, d := range []time.Duration{time.Hour, time.Millisecond, 0, -time.Hour} {
				quit := make(chan struct{})
				go func() {
					time.Sleep(time.Millisecond / 2)
					close(quit)
				}()
				until := time.Now().Add(time.Hour)
				if w.Wait(until, quit) {
					t.Error("an hour passed")
				}
				if w.Wait(time.Now().Add(d), quit) { // closed already
					t.Errorf("%v: waited on", d)
				}
				if !w.Wait(time.Now().Add(time.Millisecond), make(chan struct{})) {
					t.Error("the next wait fell short")
				}
			}
		})
	}
}

// TestTimerInVirtualTime checks that a Timer is exact there.
func TestTimerInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Timer
		begin, quit := time.Now(), make(chan struct{})
		for i := range 1000 {
			until := begin.Add(time.Duration(i) * 1234567)
			if !w.Wait(until, quit) || !time.Now().Equal(until) {
				t.Fatalf("%d: %v late", i, time.Since(until))
			}
		}
		time.AfterFunc(time.Minute, func() { close(quit) })
		if w.Wait(begin.Add(time.Hour), quit) {
			t.Error("not woken")
		}
	})
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
