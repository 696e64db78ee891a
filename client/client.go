// Package client sends one request to an LLM server, timestamps the stream that comes back, and classifies how it
// ended. It knows nothing of schedules, stages or sweeps. Begin to read at [Client.Do], which runs an exchange.
//
//	api        how each HTTP API encodes a request and decodes its answer: a new API is a file and a line in dialects.go
//	wire       HTTP/1.1: connections, and the instants of their bytes
//	probe      what a server tells about itself before a measurement
//	note       coded messages, which package report puts into words
//	sim        a simulated server, which shares no code with the client; its HTTP side is sim/server
//	input redact  what people type; what must not be shown
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"llmsweep/client/api"
	"llmsweep/client/input"
	"llmsweep/client/redact"
	"llmsweep/client/wire"
)

// DefaultTimeout is a request's time limit where Options.Timeout is 0.
const DefaultTimeout = 10 * time.Minute

// Prepared is an encoded request, ready to be written.
type Prepared struct {
	Request *api.Request
	Body    []byte // nil for a doer that needs none
	wire    []byte // head and Body
}

// Options is the configuration of a [Client].
type Options struct {
	// URL is the server's base: "http://host:port", with or without a path. A slash, "/v1" or an endpoint at its end is
	// accepted, and "http://" may be left out.
	URL string
	// API names the dialect, as [api.DialectByName] takes it; empty for [api.Default].
	API    string
	Params api.Params
	APIKey string // sent as "Authorization: Bearer ...", or in the API's own header; empty for none
	Bearer bool   // APIKey is a bearer token also where the API has a header of its own
	// Headers are sent with every request and replace the client's own. Their values are never shown.
	Headers http.Header
	Timeout time.Duration // a request's limit, connecting included; 0 for DefaultTimeout
	// Insecure accepts any certificate. CAFile is a PEM file of certificates to trust besides the system's.
	Insecure bool
	CAFile   string
	// CertFile and KeyFile are PEM files with the certificate of this client and its key, for servers that ask for one.
	CertFile, KeyFile string
	// HTTP is the version of HTTP: "1", "2", or "auto" or empty for 1, which has exact instants; see [Client.HTTP2].
	HTTP string
	// Proxy returns the proxy of a request, as http.Transport.Proxy does; nil for the one that the environment names.
	Proxy func(*http.Request) (*url.URL, error)
	// MaxConns is how many idle connections are kept for further requests: the expected concurrency. 0 for 1. It does
	// not limit the number of connections.
	MaxConns int
	// Allowance is asked before each request is sent; nil for no limit. A request that it does not allow is not sent.
	Allowance Allowance
	// Dial makes connections in place of TCP's dialer, where no proxy is used; nil for TCP. It reaches servers inside
	// this process, and servers in virtual time.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client sends requests to one server in one dialect. It is safe for concurrent use.
type Client struct {
	address     input.Address
	dialect     api.Dialect
	params      api.Params
	header      http.Header // shared by all requests, never changed
	host        string      // Host header set by the user
	timeout     time.Duration
	http2       bool
	transport   *http.Transport
	pool        *wire.Pool // of connections for requests; nil where net/http sends them
	head        []byte     // of every request, without Content-Length
	endpoint    *url.URL
	allowance   Allowance
	cleaner     redact.Cleaner
	streams     sync.Pool    // of *stream
	kernelReads atomic.Int64 // receives with a timestamp of the kernel
	userReads   atomic.Int64 // receives without one
	slowEnds    atomic.Int32 // answers in a row whose bodies did not end in time after the terminator
}

// New returns a client after it has checked the options. It does not connect. An error is one line that says which
// option to change; it shows no secret.
func New(o Options) (*Client, error) {
	a, user, err := input.ParseAddress(o.URL)
	if err != nil {
		return nil, err
	}
	d, err := api.DialectByName(cmp.Or(o.API, api.Default()))
	if err != nil {
		return nil, err
	}
	if err := api.CheckExtra(o.Params.Extra); err != nil {
		return nil, err
	}
	h, err := requestHeader(&o, d.Traits(), user)
	if err != nil {
		return nil, err
	}
	c := &Client{
		address: a, dialect: d, params: o.Params, header: h, host: h.Get("Host"),
		timeout: cmp.Or(o.Timeout, DefaultTimeout), http2: o.HTTP == "2", endpoint: a.Join(d.Path()), allowance: o.Allowance,
	}
	if err := c.connect(o); err != nil {
		return nil, err
	}
	c.cleaner = redact.NewCleaner(h, a.Base.Query(), user, c.proxyUser())
	c.streams.New = func() any { return &stream{decoder: d.NewDecoder()} }
	return c, nil
}

// Prepare encodes a request ahead of time. An error means that the API cannot express the request.
func (c *Client) Prepare(r *api.Request) (*Prepared, error) {
	params := &c.params
	if r.Greedy {
		params = params.Greedy(c.dialect.Traits())
	}
	body, err := c.dialect.Encode(r, params)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Request: r, Body: body}
	if c.pool != nil {
		p.wire = fmt.Appendf(nil, "%s\r\nContent-Length: %d\r\n\r\n%s", c.head, len(body), body)
		p.Body = p.wire[len(p.wire)-len(body):]
	}
	return p, nil
}

// Do sends a prepared request and fills in res, which the caller has Reset with its epoch. It returns no error: how the
// request ended is in res. A request that is cancelled through ctx is incomplete, with the instants known so far.
func (c *Client) Do(ctx context.Context, p *Prepared, res *Result) {
	if c.allowance != nil {
		reserved := c.allowance.Reserve(p)
		if reserved == nil {
			res.Status, res.Unpaid = StatusIncomplete, true
			return
		}
		defer reserved.Settle(res)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout) // run cancels it
	x := exchange{client: c, prepared: p, res: res, caller: ctx, ctx: limited, cancel: cancel}
	x.run()
}

// HTTP2 reports whether requests go over HTTP/2. Its streams share connections, so the bytes of a connection do not
// tell to which answer they belong: instants are those at which this program read, and a packet that is lost delays all
// streams.
func (c *Client) HTTP2() bool { return c.http2 }

func (c *Client) proxyUser() *url.Userinfo {
	proxyURL, err := c.transport.Proxy(&http.Request{URL: c.endpoint})
	if err != nil || proxyURL == nil {
		return nil
	}
	return proxyURL.User
}

// Warm dials until n connections are idle, so that the next n requests need not wait for one. Idle connections are kept
// for a few seconds. Behind a proxy, and over HTTP/2, it does nothing. The error is a [*Failure].
func (c *Client) Warm(ctx context.Context, n int) error {
	if c.pool == nil {
		return nil
	}
	if err := c.pool.Warm(ctx, n); err != nil {
		return c.failure(ctx, err, c.timeout, false)
	}
	return nil
}

// HasConnection reports whether an open connection can carry a request.
func (c *Client) HasConnection() bool { return c.pool == nil || c.pool.HasConnection() }

// CloseIdle closes the connections that no request uses.
func (c *Client) CloseIdle() {
	c.transport.CloseIdleConnections()
	if c.pool != nil {
		c.pool.CloseIdle()
	}
}

// Timestamps returns the source of most instants so far: "kernel", or "user" for this program's own as it read.
// Before the first answer it is "user".
func (c *Client) Timestamps() string {
	if c.kernelReads.Load() > c.userReads.Load() {
		return "kernel"
	}
	return "user"
}

// URL returns the URL of an API path such as "/v1/models" on this server, without secrets.
func (c *Client) URL(path string) string { return c.address.Show(path) }

// Endpoint returns the URL that requests are sent to, without secrets.
func (c *Client) Endpoint() string { return c.URL(c.dialect.Path()) }

// requestHeader's errors do not repeat values: they may be secrets.
func requestHeader(o *Options, t api.Traits, user *url.Userinfo) (http.Header, error) {
	h := http.Header{
		"Content-Type": {"application/json"},
		"Accept":       {"text/event-stream, application/json"},
		"User-Agent":   {"llmsweep"},
	}
	for name, value := range t.Header {
		h.Set(name, value)
	}
	if user != nil {
		password, _ := user.Password()
		(&http.Request{Header: h}).SetBasicAuth(user.Username(), password)
	}
	if key := strings.TrimSpace(o.APIKey); key != "" {
		if !httpguts.ValidHeaderFieldValue(key) {
			return nil, errors.New("--api-key: it contains a control character; was it pasted with a line break?")
		}
		if t.Key != "" && !o.Bearer {
			h.Set(t.Key, key)
		} else {
			h.Set("Authorization", "Bearer "+key)
		}
	}
	for name, values := range o.Headers {
		if !httpguts.ValidHeaderFieldName(name) {
			return nil, fmt.Errorf("--header: %q is not a header name; want letters, digits and dashes", name)
		}
		if !httpguts.ValidHeaderFieldValue(strings.Join(values, "")) {
			return nil, fmt.Errorf("--header %s: its value contains a control character", name)
		}
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	return h, nil
}

// CleanText returns a short text of the server, such as a version, in one line and without secrets.
func (c *Client) CleanText(s string) string { return redact.Shorten(c.HideSecrets(redact.OneLine(s))) }

// HideSecrets returns a name that the server gave, without the secrets that this client sends.
func (c *Client) HideSecrets(s string) string { return c.cleaner.Long.Replace(s) }
