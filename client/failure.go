package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/wire"
)

// Cause is a reason for a failed connection that has a known remedy.
type Cause int

// The causes.
const (
	CauseOther      Cause = iota
	CauseRefused          // nothing listens on that port
	CauseNoHost           // the host name is unknown
	CauseUntrusted        // the server's certificate is signed by an unknown authority, or by itself
	CauseExpired          // its certificate is not valid now
	CauseWrongHost        // its certificate is for another name
	CauseNeedsCert        // the server wants a certificate of the client, or another than it has
	CauseOldTLS           // the server speaks only versions of TLS that are not safe
	CauseNotTLS           // https:// to a port that speaks plain HTTP
	CauseNeedsTLS         // http:// to a port that speaks TLS
	CauseNeedsHTTP2       // HTTP/1.1 to a server that speaks only HTTP/2
	CauseNotHTTP2         // HTTP/2 to a server that does not speak it
	CauseProxyAuth        // the proxy wants a user name and a password
)

func (c *Client) classify(err error, connected bool) (Class, Cause, string) {
	class := ClassReset
	cause, message := reason(err)
	switch {
	case cause == CauseNeedsHTTP2 && c.http2: // the server refused ALPN, which offered HTTP/2
		return ClassConnect, CauseNotHTTP2, noHTTP2
	case !connected, cause == CauseNeedsCert, cause == CauseNotHTTP2: // TLS 1.3 refuses a client after its handshake
		class = ClassConnect
	case cause == CauseNeedsTLS, cause == CauseNeedsHTTP2, isProtocolError(err):
		class = ClassMalformed
	case errors.Is(err, io.ErrUnexpectedEOF):
		class, message = ClassTruncated, "the connection was closed in the middle of the answer"
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "proxyconnect" && cause != CauseProxyAuth {
		message += " (on the way to the proxy)"
	}
	return class, cause, message
}

// Messages that several errors have.
const (
	onlyHTTP2 = "the server speaks only HTTP/2"
	noHTTP2   = "the server does not speak HTTP/2"
	oldTLS    = "the server speaks no version of TLS that is safe (1.2 or newer)"
	noAnswer  = "connection closed by the server before it answered"
)

// proxyRefusal is the error of a proxy that does not connect to the server.
type proxyRefusal struct{ status int }

func (p *proxyRefusal) Error() string {
	return "the proxy refuses to connect: " + strings.TrimSpace(fmt.Sprint(p.status, " ", http.StatusText(p.status)))
}

func (p *proxyRefusal) reason() (Cause, string) {
	if p.status == http.StatusProxyAuthRequired {
		return CauseProxyAuth, "the proxy asks for a user name and a password, or does not accept those that it was given"
	}
	return CauseOther, p.Error()
}

// checkProxy is an http.Transport's OnProxyConnectResponse.
func checkProxy(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyRefusal{answer.StatusCode}
}

// reason returns a network error's cause and a short message, without addresses and names of system calls. net/http and
// its HTTP/2 have no types for many of these errors, hence their texts.
func reason(err error) (Cause, string) {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var refused *proxyRefusal
	switch text := err.Error(); {
	case errors.As(err, &dns) && dns.IsNotFound:
		return CauseNoHost, "no such host: " + dns.Name
	case errors.Is(err, syscall.ECONNREFUSED):
		return CauseRefused, "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return CauseOther, "connection reset by the server"
	case errors.Is(err, syscall.EMFILE):
		return CauseOther, "too many open files: raise the limit (ulimit -n) or lower the concurrency"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return CauseOther, "no local port is free for another connection: widen net.ipv4.ip_local_port_range, or " +
			"lower the rate"
	case errors.As(err, &certificate):
		return certificateReason(certificate)
	case strings.Contains(text, alertPrefix):
		return alertReason(text)
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return CauseNotTLS, "the server does not speak TLS on this port"
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return CauseNeedsTLS, "the server speaks TLS on this port"
	case strings.Contains(text, `malformed HTTP response "\x00\x00`): // a SETTINGS frame
		return CauseNeedsHTTP2, onlyHTTP2
	case strings.Contains(text, "http2: frame too large"),
		strings.Contains(text, "http2: failed reading the frame payload"),
		strings.Contains(text, "http2: unexpected ALPN protocol"),
		strings.Contains(text, "http2: client conn could not be established"):
		return CauseNotHTTP2, noHTTP2
	case strings.Contains(text, "server selected unsupported protocol version"):
		return CauseOldTLS, oldTLS
	case errors.As(err, &refused):
		return refused.reason()
	case errors.Is(err, io.EOF), strings.Contains(text, "server closed idle connection"):
		return CauseOther, noAnswer
	}
	return CauseOther, err.Error()
}

func certificateReason(e *tls.CertificateVerificationError) (Cause, string) {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(e.Err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		what, at := "expired on", invalid.Cert.NotAfter
		if notBefore := invalid.Cert.NotBefore; time.Now().Before(notBefore) {
			what, at = "is not valid before", notBefore
		}
		return CauseExpired, fmt.Sprintf("its certificate %s %s", what, at.UTC().Format("2 January 2006 15:04 MST"))
	case errors.As(e.Err, &host):
		return CauseWrongHost, "its certificate is for " + certificateNames(host.Certificate) + ", not for " + host.Host
	case errors.As(e.Err, &unknown) && len(e.UnverifiedCertificates) > 0:
		if c := e.UnverifiedCertificates[0]; bytes.Equal(c.RawIssuer, c.RawSubject) {
			return CauseUntrusted, "its certificate is not trusted: it is signed by itself"
		}
		return CauseUntrusted, "its certificate is not trusted: signed by an unknown authority"
	}
	return CauseUntrusted, "its certificate is not trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
}

func certificateNames(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	switch {
	case len(names) == 0:
		return "no name at all"
	case len(names) > 4:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:4], ", "), len(names)-4)
	}
	return strings.Join(names, ", ")
}

// alertPrefix begins crypto/tls's message of an alert that the server sent; it has no exported type for alerts.
const alertPrefix = "remote error: tls: "

// alertReason reads an alert (RFC 8446, section 6.2) in an error's text.
func alertReason(text string) (Cause, string) {
	_, alert, _ := strings.Cut(text, alertPrefix)
	switch alert {
	case "certificate required":
		return CauseNeedsCert, "the server asks for a certificate of the client"
	case "bad certificate", "unsupported certificate", "unknown certificate", "unknown certificate authority",
		"expired certificate":
		return CauseNeedsCert, "the server does not accept the client's certificate, or misses one (" + alert + ")"
	case "protocol version not supported":
		return CauseOldTLS, oldTLS
	case "no application protocol":
		return CauseNeedsHTTP2, onlyHTTP2
	}
	return CauseOther, "the server refused TLS: " + alert
}

// isProtocolError reports whether an answer violates HTTP. net/http has no types for these errors.
func isProtocolError(err error) bool {
	if violation := (*wire.ProtocolError)(nil); errors.As(err, &violation) {
		return true
	}
	text := err.Error()
	return slices.ContainsFunc([]string{"malformed", "chunk length", "line too long", "headers exceeded",
		"unsupported transfer encoding", "bad Content-Length", "too many 1xx"},
		func(sign string) bool { return strings.Contains(text, sign) })
}

// StatusOverloaded is Anthropic's status for an overloaded service.
const StatusOverloaded = 529

// refusalClass classifies a status other than 2xx. A redirect is malformed: no API has one, and following it would time
// two servers.
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

// rateLimited reports whether a 429 comes from a limit on the client's rate, and not from a server that is busy: it
// says when to come back (RFC 6585, section 4; Retry-After-Ms is Azure's), that nothing remains of the limit
// (x-ratelimit-remaining-requests, anthropic-ratelimit-tokens-remaining, and others alike), or names the limit in its
// error object (OpenAI, Anthropic).
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

func refusalText(code int, h http.Header, body []byte) string {
	text := fmt.Sprint(code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	} else if code == StatusOverloaded {
		text += " Overloaded"
	}
	if to := h.Get("Location"); to != "" && code < 400 {
		return text + ": redirects to " + to + "; give that URL instead"
	}
	if message := api.ErrorText(body); message != "" {
		text += ": " + message
	}
	if after := h.Get("Retry-After"); after != "" {
		text += " (retry after " + after + ")"
	}
	return text
}

// retryAfter reads a number of seconds, or a date (RFC 9110, section 10.2.3). It returns 0 for none, and for one in the
// past.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	// some servers send fractions
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

// NotStreamed is the message of a request that the server answered without streaming.
const NotStreamed = "one JSON answer instead of an event stream: the server does not stream"

// classifyUnstreamed classifies an answer that is not a stream. body has its beginning.
func classifyUnstreamed(body []byte) (Class, string) {
	if body[0] == '<' {
		return ClassMalformed, "HTML instead of an event stream" + api.Title(body)
	}
	if api.IsError(body) {
		return ClassStreamError, api.ErrorText(body)
	}
	return ClassMalformed, NotStreamed
}
