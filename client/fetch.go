package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"
)

const maxAnswer = 8 << 20 // bytes read of a plain answer

// Answer is the answer to [Client.Fetch].
type Answer struct {
	Header http.Header
	Body   []byte
}

// Failure is the error of a plain request.
type Failure struct {
	Class   Class
	Cause   Cause
	HTTP    int    // status code; 0 before headers
	Message string // one line, without secrets
	// RetryAfter is how long a refusing server asks to wait; 0 where it does not.
	RetryAfter time.Duration
	err        error
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the network's error, or the context's; nil for an HTTP status.
func (f *Failure) Unwrap() error { return f.err }

// Fetch sends one plain request for an API path such as "/v1/models", with the client's headers, and waits for the
// answer up to limit. It is never part of a measurement. The error is a [*Failure], also for a status other than 2xx,
// redirects included.
func (c *Client) Fetch(ctx context.Context, limit time.Duration, method, path string, body []byte) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &http.Request{Method: method, URL: c.address.Join(path), Host: c.host, Header: c.header}
	if body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	resp, err := c.roundTrip(r.WithContext(httptrace.WithClientTrace(limited, trace)))
	if err != nil {
		return Answer{}, c.failure(limited, err, limit, connected)
	}
	defer resp.Body.Close()
	a := Answer{Header: resp.Header}
	plain, err := decompress(resp.Header, &netHTTPBody{Reader: resp.Body})
	if err == nil {
		a.Body, err = io.ReadAll(io.LimitReader(plain, maxAnswer))
	}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return a, &Failure{
			Class:      refusalClass(resp.StatusCode, resp.Header, a.Body),
			HTTP:       resp.StatusCode,
			RetryAfter: retryAfter(resp.Header, time.Now()),
			Message:    c.cleaner.Clean(refusalText(resp.StatusCode, resp.Header, a.Body)),
		}
	case errors.Is(err, errCompression):
		return a, &Failure{Class: ClassMalformed, Message: err.Error(), err: err}
	case err != nil:
		return a, c.failure(limited, err, limit, true)
	case len(a.Body) == maxAnswer:
		return a, &Failure{
			Class:   ClassMalformed,
			Message: fmt.Sprintf("the answer was cut: it is longer than %d MB", maxAnswer>>20),
		}
	}
	return a, nil
}

// roundTrip sends a request. net/http gives the connection of an answer with status 101 away, so that no time limit
// ends the reading of its body: it is closed unread.
func (c *Client) roundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.transport.RoundTrip(r)
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body.Close()
		resp.Body = http.NoBody
	}
	return resp, err
}

func (c *Client) failure(limited context.Context, err error, limit time.Duration, connected bool) *Failure {
	if errors.Is(limited.Err(), context.DeadlineExceeded) {
		return &Failure{Class: ClassTimeout, Message: "no answer within " + limit.String(), err: err}
	}
	class, cause, message := c.classify(err, connected)
	return &Failure{Class: class, Cause: cause, Message: c.cleaner.Clean(message), err: err}
}
