package load

import (
	"cmp"
	"context"
	"time"

	"llmsweep/client"
)

// Reading is the server's gauges at one instant of a stage.
type Reading struct {
	At time.Duration // since the stage's start
	client.Gauges
}

// readEvery is how often the gauges are read: often enough for a window of ten seconds, and no load of its own.
const readEvery = time.Second

// Limits of what a stage keeps in memory of its readings: less than 200 bytes each.
const (
	maxReadings   = 3600 // an hour of them
	keepBatchSize = 600  // handed to [Environment].KeepReadings at a time: ten minutes of them
)

// Gather reads the gauges until stop is closed or ctx ends. It hands all readings to KeepReadings, and returns them,
// thinned out. Their instants count from epoch. failed is called where KeepReadings cannot take them.
func (e *Environment) Gather(ctx context.Context, epoch time.Time, stop <-chan struct{}, failed func(error)) []Reading {
	ticker := time.NewTicker(cmp.Or(e.ScrapeEvery, readEvery))
	defer ticker.Stop()
	all := thinnedReadings{limit: maxReadings, step: 1}
	var batch []Reading
	defer func() { e.keepBatch(batch, failed) }()
	for {
		at := time.Since(epoch)
		limited, cancel := context.WithTimeout(ctx, readEvery)
		if g, err := e.Scrape(limited); err == nil {
			all.add(Reading{at, g})
			batch = append(batch, Reading{at, g})
		}
		cancel()
		if len(batch) == keepBatchSize {
			e.keepBatch(batch, failed)
			batch = batch[:0]
		}
		select {
		case <-ticker.C:
		case <-stop:
			return all.readings
		case <-ctx.Done():
			return all.readings
		}
	}
}

func (e *Environment) keepBatch(batch []Reading, failed func(error)) {
	if e.KeepReadings == nil || len(batch) == 0 {
		return
	}
	if err := e.KeepReadings(batch); err != nil {
		failed(err)
	}
}

// thinnedReadings keeps at most a number of readings of a series of unknown length, evenly spread over it: all of a
// short one, and of a longer one every second, every fourth and so on.
type thinnedReadings struct {
	readings []Reading
	limit    int
	step     int // every how many of those that come are kept
	seen     int
}

func (t *thinnedReadings) add(r Reading) {
	t.seen++
	if (t.seen-1)%t.step != 0 {
		return
	}
	if len(t.readings) == t.limit {
		half := t.readings[:0]
		for i := 0; i < t.limit; i += 2 {
			half = append(half, t.readings[i])
		}
		t.readings, t.step = half, 2*t.step
		if (t.seen-1)%t.step != 0 {
			return
		}
	}
	t.readings = append(t.readings, r)
}
