// Package virtual lets a sweep run against the simulator's engine without HTTP: a request is a function call, and in a
// testing/synctest bubble a twenty-minute sweep takes a second and is exact. It is for experiments on llmsweep itself,
// and never measures a server.
package virtual

import (
	"context"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/sim"
)

// Doer does requests on an engine. A prompt has as many tokens as the workload wanted: no text is looked at.
type Doer struct {
	Live *sim.Engine
}

// Prepare has nothing to encode.
func (Doer) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

// Do runs the request on the engine. Its instants are the engine's own.
func (d Doer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := call.Request
	res.Sent = time.Since(res.Epoch)
	seq := sim.Request{PromptTokens: max(1, r.PromptTokens), OutputTokens: r.OutputTokens}
	usage, err := d.Live.Generate(ctx, seq, func(_ int, at time.Time) {
		res.Token(at.Sub(res.Epoch), 1, false)
	})
	res.PromptTokens, res.OutputTokens, res.CachedTokens = usage.PromptTokens, usage.OutputTokens, usage.CachedTokens
	res.TokenSource, res.Finish = client.SourceServer, usage.Finish
	switch {
	case err == nil:
		res.Status, res.Headers, res.End = client.StatusOK, res.FirstToken, res.LastToken
	case ctx.Err() != nil:
		res.Status = client.StatusIncomplete
	default:
		res.Fail(time.Since(res.Epoch), client.ClassHTTP4xx, err.Error())
	}
}
