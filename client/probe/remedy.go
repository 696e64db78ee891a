package probe

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"llmsweep/client"
)

// Kind is what kind of thing went wrong, for callers who choose exit codes or hints by it.
type Kind string

// The kinds of failure.
const (
	KindConnect  Kind = "connect"   // nobody there
	KindTLS      Kind = "tls"       // certificate not trusted, or TLS on one side only
	KindAuth     Kind = "auth"      // 401 or 403
	KindNotFound Kind = "not_found" // nothing at that path: most often a wrong base URL
	KindNotAPI   Kind = "not_api"   // an answer that no such API gives
	KindModel    Kind = "model"     // the model is not there
	KindNoStream Kind = "no_stream" // an answer in one piece
	KindTimeout  Kind = "timeout"
	KindBusy     Kind = "busy"    // 429
	KindServer   Kind = "server"  // 5xx, or an error inside the stream
	KindRefused  Kind = "refused" // any other refusal
)

// Error is one line that says what happened, to which URL, and what to do.
type Error struct {
	Kind Kind
	URL  string
	HTTP int    // status code; 0 where there was none
	What string // what happened
	Do   string // what to do, a sentence or two
	err  error
}

func (e *Error) Error() string {
	return e.URL + ": " + strings.TrimRight(e.What, ".") + ". " + e.Do
}

// Unwrap is what happened below, where that was an error.
func (e *Error) Unwrap() error { return e.err }

// remedy turns a failed request into an Error. A cancelled one stays what it is.
func remedy(url string, err error) error {
	var f *client.Failure
	if errors.Is(err, context.Canceled) || !errors.As(err, &f) {
		return err
	}
	e := &Error{URL: url, HTTP: f.HTTP, What: f.Message, err: f}
	e.Kind, e.Do = advice(f)
	return e
}

// advice is what to do about a failure.
func advice(f *client.Failure) (Kind, string) {
	switch f.Cause {
	case client.CauseRefused:
		return KindConnect, "Is the server up? (llmsweep sweep sim: needs none)"
	case client.CauseNoHost:
		return KindConnect, "Is the name spelled right, and known to this machine?"
	case client.CauseUntrusted:
		return KindTLS, "Trust its authority with --ca FILE, or accept any certificate with --insecure."
	case client.CauseNotTLS:
		return KindTLS, "Use http:// in place of https://."
	case client.CauseNeedsTLS:
		return KindTLS, "Use https:// in place of http://."
	}
	switch f.Class {
	case client.ClassConnect:
		return KindConnect, "Is the address right, and reachable from this machine?"
	case client.ClassTimeout:
		return KindTimeout, "Is the server still loading, or hung? Its log may tell."
	case client.ClassHTTP429:
		return KindBusy, "Wait until the server, or the gateway before it, lets requests through again."
	case client.ClassHTTP5xx, client.ClassStreamError:
		return KindServer, "The fault is the server's: its log may tell. If it is still loading, wait."
	case client.ClassHTTP4xx:
		return adviceStatus(f)
	case client.ClassMalformed:
		return KindNotAPI, "Is that the API's URL, and not a web page's or another service's?"
	}
	return KindServer, "The connection broke: the server's log, or a proxy's, may tell why."
}

// adviceStatus is what to do about a 4xx.
func adviceStatus(f *client.Failure) (Kind, string) {
	switch f.HTTP {
	case http.StatusUnauthorized, http.StatusForbidden:
		return KindAuth, "Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return KindNotFound, "Is the base URL right? It is what comes before /v1, such as http://localhost:8000."
	case http.StatusBadRequest:
		if strings.Contains(f.Message, "HTTPS") {
			return KindTLS, "Use https:// in place of http://."
		}
	}
	return KindRefused, "The server refuses what is asked; --body changes the fields of a request."
}
