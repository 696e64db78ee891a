package sim

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
)

// hang holds a connection without an answer until the client closes it: habit freezes.
func hang(r *http.Request) {
	io.Copy(io.Discard, r.Body) // or the server would not notice that the client left
	<-r.Context().Done()
}

// turnAway answers a request that was not queued, after the time that a refusal takes.
func turnAway(ctx context.Context, w http.ResponseWriter, to *api, err error) {
	err = awaitRefusal(ctx, err)
	var refused *Refusal
	if !errors.As(err, &refused) {
		to.refuse(w, asAPIError(err))
		return
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refused.RetryAfter.Seconds()))))
	}
	e := &apiError{Status: refused.Status, Kind: "rate_limit_error", Code: "rate_limit_exceeded", Message: refused.Reason}
	if e.Status == http.StatusServiceUnavailable {
		e.Kind, e.Code = "overloaded_error", ""
	}
	to.refuse(w, e)
}

// dropped plays the habit drops, and reports whether it struck: the request is worked on for a while, and then its
// connection is closed before the first byte of an answer.
func (a *answer) dropped(ctx context.Context) bool {
	if !a.call.doomed {
		return false
	}
	select {
	case <-a.call.done:
	case <-ctx.Done():
	}
	conn, _, err := a.out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not HTTP/1: the server can drop the stream
	}
	conn.Close()
	return true
}

// sendTokens sends a chunk. The chunks of one burst of the habit batches leave in one write, as far as the server's buffer
// holds them.
func (a *answer) sendTokens(from, to int) bool {
	chunk := a.voice.tokens(from, to)
	if a.server.live.habits.batches == nil || int(a.ready.Load()) == to {
		return a.send(chunk)
	}
	_, err := a.w.Write(chunk)
	return err == nil
}
