package server

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"llmsweep/client/sim"
)

// hang holds a connection without an answer until the client closes it: habit freezes.
func hang(r *http.Request) {
	io.Copy(io.Discard, r.Body) // or the server would not notice that the client left
	<-r.Context().Done()
}

// turnAway answers a request that was not queued, after the time that a refusal takes.
func turnAway(ctx context.Context, w http.ResponseWriter, to *endpoint, err error) {
	err = sim.AwaitRefusal(ctx, err)
	var refused *sim.Refusal
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
	if !a.running.Dropped() {
		return false
	}
	select {
	case <-a.running.Done():
	case <-ctx.Done():
	}
	conn, _, err := a.out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not HTTP/1: the server can drop the stream
	}
	conn.Close()
	return true
}

// sendTokens sends a chunk. The chunks of one burst of the habit batches are sent in one write, as far as the HTTP server's buffer
// holds them.
func (a *answer) sendTokens(from, to int) bool {
	if !a.server.batches || int(a.ready.Load()) == to {
		return a.send(a.encoder.tokens(from, to)...)
	}
	a.buf = a.buf[:0]
	for _, v := range a.encoder.tokens(from, to) {
		a.buf = a.endpoint.framing.appendFrame(a.buf, marshal(v))
	}
	_, err := a.w.Write(a.buf)
	return err == nil
}
