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
		to.Refuse(w, asAPIError(err))
		return
	}
	if refused.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refused.RetryAfter.Seconds()))))
	}
	e := &apiError{Status: refused.Status, Kind: "rate_limit_error", Code: "rate_limit_exceeded", Message: refused.Reason}
	if refused.Busy {
		e.Kind, e.Code = "overloaded_error", ""
	}
	to.Refuse(w, e)
}
