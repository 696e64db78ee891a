package load

import (
	"context"
	"time"
)

// Gauges are a server's metrics of its own load. A metric that it does not report is NaN.
type Gauges struct {
	Running, Waiting          float64 // requests
	KVUsage                   float64 // 0 to 1
	Preemptions               float64 // since the server started
	PrefixQueries, PrefixHits float64 // prompt tokens, since the server started
}

// Reading is the server's gauges at one instant of a stage.
type Reading struct {
	At time.Duration // since the stage's start
	Gauges
}

// readEvery is how often the gauges are read: often enough for a window of ten seconds, and no load of its own.
const readEvery = time.Second

// read reads the gauges until the stage has ended.
func (r *runner) read(ctx context.Context) (all []Reading) {
	return Gather(ctx, r.Scrape, r.epoch, r.stop)
}

// Gather reads a server's gauges from time to time until stop is closed or ctx ends. The instants of readings count from epoch.
func Gather(ctx context.Context, scrape func(context.Context) (Gauges, error), epoch time.Time, stop <-chan struct{}) (all []Reading) {
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	for {
		at := time.Since(epoch)
		limited, cancel := context.WithTimeout(ctx, readEvery)
		if g, err := scrape(limited); err == nil {
			all = append(all, Reading{at, g})
		}
		cancel()
		select {
		case <-ticker.C:
		case <-stop:
			return all
		case <-ctx.Done():
			return all
		}
	}
}
