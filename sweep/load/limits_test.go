package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
)

func newAdmission(limit int) *admission {
	began := time.Now()
	server := &inServer{}
	server.begin(func() time.Duration { return time.Since(began) }, time.Second, nil)
	return &admission{limit: limit, server: server}
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
		if admitted != 1 || a.server.inFlight() != 0 || a.admitted != 0 {
			t.Errorf("%d admitted, %d in flight", admitted, a.server.inFlight())
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

// A day's readings are all handed on in order, and a bounded number stays in memory. A reading that cannot be kept ends
// the stage.
func TestReadingsOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handed []time.Duration
		most := 0
		r := &runner{Stage: &Stage{}, epoch: time.Now(), stop: make(chan struct{}), Environment: Environment{
			Scrape: func(context.Context) (client.Gauges, error) { return client.Gauges{Running: 1}, nil },
			KeepReadings: func(some []Reading) error {
				most = max(most, len(some))
				for _, s := range some {
					handed = append(handed, s.At)
				}
				return nil
			},
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour-time.Millisecond)
		defer cancel()
		kept := r.Gather(ctx, r.epoch, r.stop, r.fail)
		if len(handed) != 24*3600 || !slices.IsSorted(handed) || most != keepBatchSize {
			t.Errorf("%d readings handed on, at most %d at a time", len(handed), most)
		}
		if len(kept) > maxReadings || len(kept) < maxReadings/2 {
			t.Errorf("%d readings in memory", len(kept))
		}
		for i, at := range kept { // evenly spread
			if at.At != time.Duration(i)*kept[1].At {
				t.Fatalf("the %dth reading in memory is of %v", i, at.At)
			}
		}
		broken := errors.New("disk full")
		r.KeepReadings = func([]Reading) error { return broken }
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r.Gather(ctx, r.epoch, r.stop, r.fail); !errors.Is(r.failure(), broken) {
			t.Errorf("a reading that was not kept: %v", r.failure())
		}
	})
}

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
