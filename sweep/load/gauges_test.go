package load

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

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
