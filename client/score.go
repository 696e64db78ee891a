package client

import (
	"context"
	"errors"
	"net/http"
	"time"

	"llmsweep/client/api"
)

// score sends a request that asks how likely the server finds a text, and keeps the whole answer. No token of it has an instant.
func (c *Client) score(ctx context.Context, p *Prepared, res *Result) {
	res.Sent = time.Since(res.Epoch)
	a, err := c.Fetch(ctx, c.timeout, http.MethodPost, p.Request.Score.Path(), p.Body)
	res.End = time.Since(res.Epoch)
	var failed *Failure
	switch {
	case ctx.Err() != nil:
		res.Status = StatusIncomplete
	case errors.As(err, &failed):
		res.HTTP, res.RetryAfter = failed.HTTP, failed.RetryAfter
		res.Fail(res.End, failed.Class, failed.Message)
	default:
		res.Status, res.HTTP, res.Headers = StatusOK, http.StatusOK, res.End
		res.LogProbs = append(res.LogProbs[:0], a.Body...)
		u := p.Request.Score.Usage(a.Body)
		res.PromptTokens, res.OutputTokens, res.CachedTokens = u.Prompt, u.Output, u.Cached
		if u.Output != api.Unknown {
			res.TokenSource = SourceServer
		}
	}
}
