package probe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"llmsweep/client"
)

type kind string

const (
	kindConnect  kind = "connect"   // no connection
	kindTLS      kind = "tls"       // certificate not trusted, or TLS on one side only
	kindAuth     kind = "auth"      // 401 or 403
	kindNotFound kind = "not_found" // nothing at that path: most often a wrong base URL
	kindNotAPI   kind = "not_api"   // an answer that is not of such an API
	kindModel    kind = "model"     // the model does not exist
	kindNoStream kind = "no_stream" // an answer without streaming
	kindTimeout  kind = "timeout"
	kindBusy     kind = "busy"    // 429
	kindServer   kind = "server"  // 5xx, or an error inside the stream
	kindRefused  kind = "refused" // any other refusal
	kindSpent    kind = "spent"   // the limit on cost does not allow it

	kindUncounted kind = "uncounted" // it does not tell how many tokens a prompt has
)

// Error is an error in one line: which URL, what happened, and what to do.
type Error struct {
	Kind kind
	URL  string
	HTTP int    // status code; 0 where there was none
	What string // what happened
	Do   string // what to do, a sentence or two
	err  error

	retryAfter time.Duration // how long a refusal asks to wait; 0 where it does not say
}

func (e *Error) Error() string {
	return e.URL + ": " + strings.TrimRight(e.What, ".") + ". " + e.Do
}

// Unwrap returns the error below, if any.
func (e *Error) Unwrap() error { return e.err }

// remedy returns a failed request as an [*Error]; a cancelled one keeps its error.
func remedy(url string, err error) error {
	var f *client.Failure
	if errors.Is(err, context.Canceled) || !errors.As(err, &f) {
		return err
	}
	e := &Error{URL: url, HTTP: f.HTTP, What: f.Message, err: f}
	e.Kind, e.Do = advice(f)
	if e.Kind == kindServer && f.HTTP == 0 && f.Class == client.ClassReset && strings.HasPrefix(url, "http:") {
		e.Do = "Does it speak TLS? Then use https:// in place of http://. Otherwise see its log, or that of a proxy " +
			"in front of it."
	}
	return e
}

func advice(f *client.Failure) (kind, string) {
	switch f.Cause {
	case client.CauseRefused:
		return kindConnect, "Is the server up? (llmsweep sweep sim: needs none)"
	case client.CauseNoHost:
		return kindConnect, "Is the name spelled right, and can this machine resolve it?"
	case client.CauseUntrusted:
		return kindTLS, "Trust its authority with --ca FILE, or accept any certificate with --insecure."
	case client.CauseExpired:
		return kindTLS, "Renew it, or see whether this machine's clock is right; --insecure accepts any certificate."
	case client.CauseWrongHost:
		return kindTLS, "Use that name in the URL; --insecure accepts any certificate."
	case client.CauseNeedsCert:
		return kindTLS, "Give one that its authority has signed: --cert FILE --key FILE."
	case client.CauseOldTLS:
		return kindTLS, "Turn on TLS 1.2 or 1.3 in the server, or in the proxy in front of it."
	case client.CauseNeedsHTTP2:
		return kindNotAPI, "Use --http 2, or --http auto, the default."
	case client.CauseNotHTTP2:
		return kindNotAPI, "Leave out --http 2."
	case client.CauseProxyAuth:
		return kindConnect, "Write them into the variable: HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT. They are " +
			"recorded nowhere."
	case client.CauseNotTLS:
		return kindTLS, "Use http:// in place of https://."
	case client.CauseNeedsTLS:
		return kindTLS, "Use https:// in place of http://."
	}
	switch f.Class {
	case client.ClassConnect:
		return kindConnect, "Is the address right, and reachable from this machine?"
	case client.ClassTimeout:
		return kindTimeout, "Does the server hang (see its log)? If it is still loading its model, start again when " +
			"it is ready."
	case client.ClassRateLimited: // of an account or gateway
		return kindBusy, "A rate limit is reached (the preflight waits for up to " + busyTime.String() +
			" in all): keep below it with --max-rps and --max-tpm."
	case client.ClassHTTP429:
		return kindBusy, "Wait until the server, or the gateway in front of it, accepts requests again (the preflight " +
			"waits for up to " + busyTime.String() + " in all)."
	case client.ClassHTTP5xx, client.ClassStreamError:
		if f.HTTP == http.StatusServiceUnavailable {
			return kindServer, "The preflight waits for up to " + busyTime.String() +
				" in all. If it is still loading its model, start again when it is ready."
		}
		return kindServer, "The error is the server's: see its log. If it is still loading, wait."
	case client.ClassHTTP4xx:
		return adviceStatus(f)
	case client.ClassMalformed:
		return kindNotAPI, "Is that the URL of the API, and not of a web page or another service?"
	}
	return kindServer, "The connection broke: see the log of the server, or of a proxy in front of it."
}

func adviceStatus(f *client.Failure) (kind, string) {
	switch f.HTTP {
	case http.StatusUnauthorized, http.StatusForbidden:
		return kindAuth, "Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."
	case http.StatusProxyAuthRequired:
		return kindConnect, "Write user name and password into the variable: " +
			"HTTP_PROXY=http://USER:PASSWORD@HOST:PORT. They are recorded nowhere."
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return kindNotFound, "Is the base URL right? It is what comes before /v1, such as http://localhost:8000."
	case http.StatusBadRequest:
		if strings.Contains(f.Message, "HTTPS") {
			return kindTLS, "Use https:// in place of http://."
		}
	}
	return kindRefused, "The server rejects the request; --body changes its fields."
}
