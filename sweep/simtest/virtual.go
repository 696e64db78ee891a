// Lets a sweep run against the simulator's engine without HTTP: a request is a function call, and in a
// testing/synctest bubble a twenty-minute sweep takes a second and is exact. It is for experiments on llmsweep itself,
// and never measures a server.

package simtest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/sim"
)

// VirtualDoer does requests on an engine. A prompt has as many tokens as the workload wanted: no text is looked at, so
// no prompt repeats another. Refusals and dropped connections fail with the class that they have over HTTP.
type VirtualDoer struct {
	Unencoded
	Live *sim.Engine
}

// Do runs the request on the engine. Its instants are the engine's own.
func (d VirtualDoer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	d.do(ctx, call.Request, nil, res)
}

// do runs a request whose prompt begins with blocks of these hashes.
func (d VirtualDoer) do(ctx context.Context, r *api.Request, prefix []uint64, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	seq := sim.Request{PromptTokens: max(1, r.PromptTokens), OutputTokens: r.OutputTokens, Prefix: prefix}
	got := 0
	usage, err := d.Live.Generate(ctx, seq, func(n int, at time.Time) {
		res.Burst(at.Sub(res.Epoch), n-got)
		got = n
	})
	if usage.Finish != "" && !errors.Is(err, sim.ErrDropped) { // the client heard of it
		res.PromptTokens, res.OutputTokens, res.CachedTokens = usage.PromptTokens, usage.OutputTokens, usage.CachedTokens
		res.TokenSource, res.Finish = client.SourceServer, usage.Finish
	}
	var refused *sim.Refusal
	switch {
	case err == nil:
		res.Status, res.Headers, res.End = client.StatusOK, res.FirstToken, res.LastToken
	case ctx.Err() != nil:
		res.Status = client.StatusIncomplete
	case errors.As(err, &refused):
		res.Headers, res.HTTP = time.Since(res.Epoch), refused.Status
		res.Fail(res.Headers, classOf(refused), err.Error())
	case errors.Is(err, sim.ErrDropped):
		res.Fail(time.Since(res.Epoch), client.ClassReset, err.Error())
	default:
		res.Fail(time.Since(res.Epoch), client.ClassHTTP4xx, err.Error())
	}
}

func classOf(r *sim.Refusal) client.Class {
	switch {
	case r.Status == http.StatusTooManyRequests && r.RetryAfter > 0:
		return client.ClassRateLimited
	case r.Status == http.StatusTooManyRequests:
		return client.ClassHTTP429
	}
	return client.ClassHTTP5xx
}
