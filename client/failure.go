package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"llmsweep/client/api"
)

// Cause is a reason for a failed connection that has a known remedy.
type Cause int

// The causes.
const (
	CauseOther     Cause = iota
	CauseRefused         // nothing listens on that port
	CauseNoHost          // the host name is unknown
	CauseUntrusted       // the server's certificate was not accepted
	CauseNotTLS          // https:// to a port that speaks plain HTTP
	CauseNeedsTLS        // http:// to a port that speaks TLS
)

// classify returns the class, cause and message of a connection error; connected tells whether there was a connection.
func classify(err error, connected bool) (Class, Cause, string) {
	cause, message := reason(err)
	switch {
	case !connected:
		return ClassConnect, cause, message
	case cause == CauseNeedsTLS, protocolError(err):
		return ClassMalformed, cause, message
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ClassTruncated, cause, cutShort
	}
	return ClassReset, cause, message
}

// reason returns a network error's cause and a short message, without addresses and names of system calls.
func reason(err error) (Cause, string) {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch text := err.Error(); {
	case errors.As(err, &dns) && dns.IsNotFound:
		return CauseNoHost, "no such host: " + dns.Name
	case errors.Is(err, syscall.ECONNREFUSED):
		return CauseRefused, "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return CauseOther, "connection reset by the server"
	case errors.Is(err, syscall.EMFILE):
		return CauseOther, "too many open files: raise the limit (ulimit -n) or lower the concurrency"
	case errors.As(err, &certificate):
		return CauseUntrusted, "its certificate is not trusted: " + distrust(certificate.Err)
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return CauseNotTLS, "the server does not speak TLS on this port"
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return CauseNeedsTLS, "the server speaks TLS on this port"
	case hungUp(err):
		return CauseOther, noAnswer
	}
	return CauseOther, err.Error()
}

// Messages of requests whose connection was closed before the answer, or within it.
const (
	noAnswer = "connection closed by the server before it answered"
	cutShort = "the connection was closed in the middle of the answer"
)

// hungUp reports whether the server closed the connection without an answer.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection")
}

// distrust returns why a certificate is not trusted.
func distrust(err error) string {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return "signed by an unknown authority"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

// protocolError reports whether an answer violates HTTP. net/http has no types for these errors.
func protocolError(err error) bool {
	text := err.Error()
	for _, sign := range []string{"malformed", "chunk length", "line too long", "headers exceeded",
		"unsupported transfer encoding", "bad Content-Length", "too many 1xx"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// StatusOverloaded is the status of Anthropic's API for a service that is overloaded.
const StatusOverloaded = 529

// refusalClass returns the class of an answer with a status other than 2xx. A redirect is malformed: no API has one, and
// following it would time two servers.
func refusalClass(code int, h http.Header, body []byte) Class {
	switch {
	case code == http.StatusTooManyRequests && rateLimited(h, body):
		return ClassRateLimited
	case code == http.StatusTooManyRequests:
		return ClassHTTP429
	case code >= 500:
		return ClassHTTP5xx
	case code >= 400:
		return ClassHTTP4xx
	}
	return ClassMalformed
}

// rateLimited reports whether a 429 comes from a limit on the client's rate, and not from a server that is busy: it says when to
// come back (RFC 6585, section 4; Retry-After-Ms is Azure's), that nothing remains of the limit (x-ratelimit-remaining-requests,
// anthropic-ratelimit-tokens-remaining, and others alike), or names the limit in its error object (OpenAI, Anthropic).
func rateLimited(h http.Header, body []byte) bool {
	for name, values := range h {
		name = strings.ToLower(name)
		remains := strings.Contains(name, "ratelimit") && strings.Contains(name, "remaining")
		if len(values) > 0 && (strings.HasPrefix(name, "retry-after") || remains && values[0] == "0") {
			return true
		}
	}
	return api.NamesRateLimit(body)
}

// statusText returns a refusal in one line: the status, then the server's message.
func statusText(code int, h http.Header, body []byte) string {
	text := fmt.Sprint(code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	} else if code == StatusOverloaded {
		text += " Overloaded"
	}
	if to := h.Get("Location"); to != "" && code < 400 {
		return text + ": redirects to " + to + "; give that URL instead"
	}
	if said := api.ErrorText(body); said != "" {
		text += ": " + said
	}
	if after := h.Get("Retry-After"); after != "" {
		text += " (retry after " + after + ")"
	}
	return text
}

// NotStreamed is the message of a request that the server answered without streaming.
const NotStreamed = "one JSON answer instead of an event stream: the server does not stream"

// whole classifies an answer that is not a stream. The body may be cut short.
func whole(body []byte) (Class, string) {
	if body[0] == '<' {
		return ClassMalformed, "HTML instead of an event stream" + api.Title(body)
	}
	if api.IsError(body) {
		return ClassStreamError, api.ErrorText(body)
	}
	return ClassMalformed, NotStreamed
}
