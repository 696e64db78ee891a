package rundir

import (
	"net/http"

	"llmsweep/client"
)

// OK reports whether the request ended well.
func (r *Record) OK() bool { return r.Status == string(client.StatusOK) }

// Failed reports whether the request ended with an error. A request that was cancelled has not failed.
func (r *Record) Failed() bool { return r.Status == string(client.StatusError) }

// Incomplete reports whether the request was cancelled before its end.
func (r *Record) Incomplete() bool { return r.Status == string(client.StatusIncomplete) }

// Censored reports whether the request was cancelled or timed out while it ran. Its metrics are then larger than what
// was seen of them.
func (r *Record) Censored() bool { return r.Incomplete() || r.Error == string(client.ClassTimeout) }

// Short reports whether the answer ended well, but is short enough to count as failed.
func (r *Record) Short() bool { return r.Error == string(client.ClassShort) }

// Shed reports whether the server did not do the work, which may be since it had too much to do: it refused, or sent a
// far shorter answer.
func (r *Record) Shed() bool { return r.Refused() || r.Short() }

// Refused reports whether the server turned the request away, because it had too much to do or the client had asked for
// too much.
func (r *Record) Refused() bool {
	switch r.HTTP {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, client.StatusOverloaded:
		return true
	}
	return r.Error == string(client.ClassRateLimited) || r.Error == string(client.ClassHTTP429)
}
