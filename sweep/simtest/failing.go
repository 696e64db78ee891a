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

// TenTokens is a server that answers each request with a token a second, ten in all.
type TenTokens struct{ Unencoded }

// Do implements [load.Doer].
func (TenTokens) Do(ctx context.Context, _ *client.Prepared, res *client.Result) {
	res.Sent, res.Status = time.Since(res.Epoch), client.StatusIncomplete
	for range 10 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
			res.Token(time.Since(res.Epoch), 1, false)
		}
	}
	res.Status, res.Headers, res.End, res.OutputTokens = client.StatusOK, res.FirstToken, res.LastToken, 10
	res.TokenSource = client.SourceServer
}
