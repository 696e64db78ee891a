package selftest

import (
	"context"
	"errors"
	"runtime"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// Decode is the cost of a token to this client, from the socket to the result, when many tokens wait to be read.
type Decode struct {
	Events         int           `json:"events"`
	PerEvent       rundir.Number `json:"cpu_per_event_s,omitzero"`        // processor time of this process, the system's part included
	PerCoreSecond  rundir.Number `json:"events_per_core_second,omitzero"` // its inverse
	AllocsPerEvent rundir.Number `json:"allocations_per_event,omitzero"`  // those of a request shared among its events
}

// burst is the number of events in one answer: many enough that the cost of the request itself does not count.
const burst = 10_000

// decode reads long answers, one after another.
func (b *bench) decode(ctx context.Context) (*Decode, error) {
	c, err := b.client(1)
	if err != nil {
		return nil, err
	}
	defer c.CloseIdle()
	call, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: PacedOrder{}.String()}}, OutputTokens: burst})
	if err != nil {
		return nil, err
	}
	var res client.Result
	ask := func() error {
		res.Reset(time.Now())
		c.Do(ctx, call, &res)
		if res.Status != client.StatusOK || res.Chunks() != burst {
			return gone(ctx, errors.New(res.Message))
		}
		return nil
	}
	if err := ask(); err != nil { // connects, and grows buffers that are used again
		return nil, err
	}
	var first, last runtime.MemStats
	runtime.ReadMemStats(&first)
	from, known := ProcessorTime()
	d := &Decode{}
	for began := time.Now(); time.Since(began) < b.Decode || d.Events == 0; d.Events += burst {
		if err := ask(); err != nil {
			return nil, err
		}
	}
	to, _ := ProcessorTime()
	runtime.ReadMemStats(&last)
	d.AllocsPerEvent = rundir.Exactly(float64(last.Mallocs-first.Mallocs) / float64(d.Events))
	if used := (to - from).Seconds(); known && used > 0 {
		d.PerEvent, d.PerCoreSecond = rundir.Exactly(used/float64(d.Events)), rundir.Exactly(float64(d.Events)/used)
	}
	return d, nil
}

// client returns a client of the server, with the options of every measurement.
func (b *bench) client(conns int) (*client.Client, error) {
	return client.New(client.Options{
		URL: b.url, MaxConns: conns, Timeout: time.Minute, Params: api.Params{Model: model, Fields: api.AllFields},
	})
}
