package client

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

// Cause is why a connection could not be had or used, where that says what to do about it.
type Cause int

// The causes with remedies.
const (
	CauseOther     Cause = iota
	CauseRefused         // nobody listens at that port
	CauseNoHost          // the name is not known
	CauseUntrusted       // the server's certificate was not accepted
	CauseNotTLS          // https:// to a port that speaks plain HTTP
	CauseNeedsTLS        // http:// to a port that speaks TLS
)

// classify names an error of the connection and says it in words; connected tells whether there was one.
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

// reason is an error of the network in a few words, without the addresses and system calls around it.
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

// What requests say whose connection was closed, before any answer and within one.
const (
	noAnswer = "connection closed by the server before it answered"
	cutShort = "the connection was closed in the middle of the answer"
)

// hungUp reports whether the other side closed the connection and sent nothing.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed idle connection")
}

// distrust is what is wrong with a certificate.
func distrust(err error) string {
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return "signed by an unknown authority"
	}
	return strings.TrimPrefix(err.Error(), "x509: ")
}

// protocolError tells an answer that is not HTTP, or not what HTTP promises. net/http has no types for these.
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

// statusClass is the class of an HTTP status other than 2xx. A redirect is malformed: no API promises one, and a
// measurement that followed it would time two servers.
func statusClass(code int) Class {
	switch {
	case code == http.StatusTooManyRequests:
		return ClassHTTP429
	case code >= 500:
		return ClassHTTP5xx
	case code >= 400:
		return ClassHTTP4xx
	}
	return ClassMalformed
}

// statusText says a refusal in one line: the status, then the server's own words.
func statusText(code int, h http.Header, body []byte) string {
	text := fmt.Sprint(code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	}
	if to := h.Get("Location"); to != "" && code < 400 {
		return text + ": redirects to " + to + "; give that URL instead"
	}
	if said := errorText(body); said != "" {
		text += ": " + said
	}
	if after := h.Get("Retry-After"); after != "" {
		text += " (retry after " + after + ")"
	}
	return text
}

// NotStreamed is the message of a request that a server answered in one piece.
const NotStreamed = "one JSON answer instead of an event stream: the server does not stream"

// whole judges an answer that came in one piece where a stream was promised. It may be cut short.
func whole(body []byte) (Class, string) {
	if body[0] == '<' {
		return ClassMalformed, "HTML instead of an event stream" + title(body)
	}
	v := gjson.ParseBytes(body)
	if isError(last(v, "error"), last(v, "object")) {
		return ClassStreamError, errorText(body)
	}
	return ClassMalformed, NotStreamed
}

// title is a web page's title, for people to see where they ended up.
func title(page []byte) string {
	_, rest, ok := bytes.Cut(page, []byte("<title>"))
	if !ok {
		return ""
	}
	t, _, _ := bytes.Cut(rest, []byte("</"))
	return fmt.Sprintf(" (%s)", bytes.TrimSpace(t))
}

// errorText finds a server's own words in the body of a refusal or in an error object: {"error": {"message"}},
// {"error": ".."}, {"message"}, {"detail": ".."}, FastAPI's {"detail": [{"loc", "msg"}]}, or plain text.
func errorText(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) > maxWhole {
		body = body[:maxWhole]
	}
	if len(body) > 0 && body[0] == '<' {
		return "a web page" + title(body)
	}
	v := gjson.ParseBytes(body)
	if !v.IsObject() {
		return string(body)
	}
	for _, at := range []gjson.Result{v.Get("error"), v} {
		if text := words(at); text != "" {
			return text
		}
	}
	return string(body)
}

// words are an error value's words: a string, an object's message, or a list of complaints about fields.
func words(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return v.Str
	case v.IsArray():
		var all []string
		v.ForEach(func(_, e gjson.Result) bool {
			all = append(all, complaint(e))
			return len(all) < 5
		})
		return strings.Join(all, "; ")
	case !v.IsObject():
		return ""
	}
	text := v.Get("message").Str
	if d := v.Get("message.detail"); text == "" && d.Exists() {
		text = words(d) // Mistral puts FastAPI's list there
	}
	if text == "" {
		text = words(v.Get("detail"))
	}
	if p := v.Get("param").Str; p != "" && !strings.Contains(text, p) {
		text += " (" + p + ")"
	}
	return text
}

// complaint is one entry of FastAPI's list: where in the body, and what about it.
func complaint(e gjson.Result) string {
	var loc []string
	e.Get("loc").ForEach(func(_, part gjson.Result) bool {
		loc = append(loc, part.String())
		return len(loc) < 8
	})
	text := e.Get("msg").String()
	if len(loc) > 0 {
		text = strings.Join(loc, ".") + ": " + text
	}
	return text
}
