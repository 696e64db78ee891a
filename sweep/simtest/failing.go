package simtest

import (
	"context"
	"sync/atomic"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
)

// Failing is a server of which every request fails after a number of them.
type Failing struct {
	load.Doer
	left  atomic.Int64
	class client.Class
}

// NewFailing returns a server that fails after a number of requests, with a class of error.
func NewFailing(d load.Doer, after int64, class client.Class) *Failing {
	f := &Failing{Doer: d, class: class}
	f.left.Store(after)
	return f
}

// Do does a request, or fails it.
func (f *Failing) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	if f.left.Add(-1) >= 0 {
		f.Doer.Do(ctx, call, res)
		return
	}
	res.Sent = time.Since(res.Epoch)
	time.Sleep(time.Millisecond)
	if f.class == client.ClassHTTP5xx {
		res.HTTP = 500
	}
	res.Fail(time.Since(res.Epoch), f.class, string(f.class))
}
