package load

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"llmsweep/sweep/sample"
)

func newAdmission(limit int) *admission {
	began := time.Now()
	return &admission{limit: limit, clock: func() time.Duration { return time.Since(began) },
		level: sample.NewLevel(time.Second)}
}

// Requests are admitted in the order in which they came, and no more than the limit are in flight.
func TestAdmissionIsInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(rt, "limit")
		times := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 30).Draw(rt, "times")
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(limit)
			var order []int
			var mu sync.Mutex
			for i, d := range times {
				go func() {
					waited := a.enter(t.Context())
					mu.Lock()
					order = append(order, i)
					mu.Unlock()
					if n := a.inFlight(); n > limit || i < limit && waited {
						t.Errorf("%d in flight, limit %d; request %d waited: %v", n, limit, i, waited)
					}
					time.Sleep(time.Duration(d) * time.Second)
					a.leave()
				}()
				time.Sleep(time.Nanosecond)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if len(order) != len(times) || !slices.IsSorted(order) || a.inFlight() != 0 {
				t.Errorf("of %d admitted in the order %v, %d in flight", len(times), order, a.inFlight())
			}
		})
	})
}

// What is cancelled leaves the queue, and passes on a place that it was given in the same instant.
func TestCancelledRequestsLeaveTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1)
		ctx, cancel := context.WithCancel(t.Context())
		a.enter(ctx)
		admitted := 0
		for range 50 {
			go func() {
				a.enter(ctx)
				a.leave()
			}()
		}
		go func() {
			time.Sleep(time.Millisecond)
			a.enter(t.Context())
			admitted++
			a.leave()
		}()
		time.Sleep(time.Second)
		cancel()
		time.Sleep(time.Second)
		synctest.Wait()
		if admitted != 0 || a.queue.Len() != 1 {
			t.Errorf("%d admitted beyond the limit, %d wait", admitted, a.queue.Len())
		}
		a.leave()
		synctest.Wait()
		if admitted != 1 || a.inFlight() != 0 || a.admitted != 0 {
			t.Errorf("%d admitted, %d in flight", admitted, a.inFlight())
		}
	})
}

// A request with more tokens than may be sent at once waits for all of them, and what is sent in a time is at most what
// Most says.
func TestCapsOnTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCaps(0, 600) // 100 at once
		began, sent := time.Now(), 0.0
		for _, tokens := range []int{50, 1000, 250, 1, 0, 700} {
			c.Wait(t.Context(), tokens)
			sent += float64(tokens)
			if _, most := c.Most(time.Since(began)); sent > most {
				t.Errorf("%v tokens in %v, at most %v", sent, time.Since(began), most)
			}
		}
		if got, want := time.Since(began).Seconds(), (sent-100)/10; math.Abs(got-want) > 0.5 {
			t.Errorf("%v tokens took %.1f s, want %.1f", sent, got, want)
		}
	})
}
