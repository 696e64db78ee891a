package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Few readings are all kept. Of many, at most so many are kept, evenly spread from the first on.
func TestThinned(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 16, 17, 1000} {
		of := thinnedReadings{limit: 8}
		for i := range n {
			of.add(Reading{At: time.Duration(i)})
		}
		if n <= 8 && len(of.readings) != n || len(of.readings) > 8 || n > 8 && len(of.readings) < 5 {
			t.Errorf("%d readings: %d kept", n, len(of.readings))
		}
		for i, r := range of.readings {
			if r.At != time.Duration(i*max(of.step, 1)) {
				t.Errorf("%d readings: the %dth kept is %d with every %dth kept", n, i, r.At, of.step)
			}
		}
	}
}

// A day's readings are all handed on in order, and a bounded number stays in memory. A reading that cannot be kept ends
// the stage.
func TestReadingsOfADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handed []time.Duration
		most := 0
		r := &runner{Stage: &Stage{}, epoch: time.Now(), stop: make(chan struct{}), Environment: Environment{
			Scrape: func(context.Context) (Gauges, error) { return Gauges{Running: 1}, nil },
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
		broken := errors.New("disk full")
		r.KeepReadings = func([]Reading) error { return broken }
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r.Gather(ctx, r.epoch, r.stop, r.fail); !errors.Is(r.failure(), broken) {
			t.Errorf("a reading that was not kept: %v", r.failure())
		}
	})
}
