package probe

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"llmsweep/client"
)

// Kind is the kind of an [Error].
type Kind string

// The kinds of failure.
const (
	KindConnect  Kind = "connect"   // no connection
	KindTLS      Kind = "tls"       // certificate not trusted, or TLS on one side only
	KindAuth     Kind = "auth"      // 401 or 403
	KindNotFound Kind = "not_found" // nothing at that path: most often a wrong base URL
	KindNotAPI   Kind = "not_api"   // an answer that is not of such an API
	KindModel    Kind = "model"     // the model does not exist
	KindNoStream Kind = "no_stream" // an answer without streaming
	KindTimeout  Kind = "timeout"
	KindBusy     Kind = "busy"    // 429
	KindServer   Kind = "server"  // 5xx, or an error inside the stream
	KindRefused  Kind = "refused" // any other refusal
	KindSpent    Kind = "spent"   // the limit on tokens or cost does not allow it
)

// Error is an error in one line: which URL, what happened, and what to do.
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

// Unwrap returns the error below, if any.
func (e *Error) Unwrap() error { return e.err }

// remedy returns a failed request as an [*Error]. A cancelled one keeps its error.
func remedy(url string, err error) error {
	var f *client.Failure
	if errors.Is(err, context.Canceled) || !errors.As(err, &f) {
		return err
	}
	e := &Error{URL: url, HTTP: f.HTTP, What: f.Message, err: f}
	e.Kind, e.Do = advice(f)
	if e.Kind == KindServer && f.HTTP == 0 && f.Class == client.ClassReset && strings.HasPrefix(url, "http:") {
		e.Do = "Does it speak TLS? Then use https:// in place of http://. Otherwise see its log, or that of a proxy in front of it."
	}
	return e
}

// advice returns a failure's kind and what to do about it.
func advice(f *client.Failure) (Kind, string) {
	switch f.Cause {
	case client.CauseRefused:
		return KindConnect, "Is the server up? (llmsweep sweep sim: needs none)"
	case client.CauseNoHost:
		return KindConnect, "Is the name spelled right, and can this machine resolve it?"
	case client.CauseUntrusted:
		return KindTLS, "Trust its authority with --ca FILE, or accept any certificate with --insecure."
	case client.CauseExpired:
		return KindTLS, "Renew it, or see whether this machine's clock is right; --insecure accepts any certificate."
	case client.CauseWrongHost:
		return KindTLS, "Use that name in the URL; --insecure accepts any certificate."
	case client.CauseNeedsCert:
		return KindTLS, "Give one that its authority has signed: --cert FILE --key FILE."
	case client.CauseOldTLS:
		return KindTLS, "Turn on TLS 1.2 or 1.3 in the server, or in the proxy in front of it."
	case client.CauseNeedsHTTP2:
		return KindNotAPI, "Use --http 2, or --http auto, the default."
	case client.CauseNotHTTP2:
		return KindNotAPI, "Leave out --http 2."
	case client.CauseProxyAuth:
		return KindConnect, "Write them into the variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT. They are recorded nowhere."
	case client.CauseNotTLS:
		return KindTLS, "Use http:// in place of https://."
	case client.CauseNeedsTLS:
		return KindTLS, "Use https:// in place of http://."
	}
	switch f.Class {
	case client.ClassConnect:
		return KindConnect, "Is the address right, and reachable from this machine?"
	case client.ClassTimeout:
		return KindTimeout, "Does the server hang (see its log)? If it is still loading its model, start again when it is ready."
	case client.ClassRateLimited: // of an account or gateway
		return KindBusy, "A rate limit is reached (the preflight waits for up to " + BusyTime.String() + " in all): keep below it with --max-rps and --max-tpm."
	case client.ClassHTTP429:
		return KindBusy, "Wait until the server, or the gateway in front of it, accepts requests again (the preflight waits for up to " + BusyTime.String() + " in all)."
	case client.ClassHTTP5xx, client.ClassStreamError:
		return KindServer, "The error is the server's: see its log. If it is still loading, wait."
	case client.ClassHTTP4xx:
		return adviceStatus(f)
	case client.ClassMalformed:
		return KindNotAPI, "Is that the URL of the API, and not of a web page or another service?"
	}
	return KindServer, "The connection broke: see the log of the server, or of a proxy in front of it."
}

// adviceStatus is advice for a 4xx.
func adviceStatus(f *client.Failure) (Kind, string) {
	switch f.HTTP {
	case http.StatusUnauthorized, http.StatusForbidden:
		return KindAuth, "Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."
	case http.StatusProxyAuthRequired:
		return KindConnect, "Write user name and password into the variable: HTTP_PROXY=http://USER:PASSWORD@HOST:PORT. They are recorded nowhere."
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return KindNotFound, "Is the base URL right? It is what comes before /v1, such as http://localhost:8000."
	case http.StatusBadRequest:
		if strings.Contains(f.Message, "HTTPS") {
			return KindTLS, "Use https:// in place of http://."
		}
	}
	return KindRefused, "The server rejects the request; --body changes its fields."
}
