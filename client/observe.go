package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/redact"
	"llmsweep/client/wire"
)

// Observer reads the answers to requests that another program sent, and finds in them what [Client.Do] finds in its own. It reads one answer at a time.
type Observer struct {
	client Client
	stream stream
}

// NewObserver returns an observer of answers in a dialect.
func NewObserver(d api.Dialect) *Observer {
	return &Observer{client: Client{dialect: d, cleaner: redact.NewCleaner(nil, nil)}, stream: stream{decoder: d.NewDecoder()}}
}

// Read reads an answer to its end and fills in res, whose Epoch and Sent the caller has set. arrived returns when the bytes arrived that the last read of
// the body returned. An answer that is not a stream has counts and an end, and no tokens. Messages of failures are the server's own: they may hold
// parts of the prompt.
func (o *Observer) Read(resp *http.Response, arrived func() wire.Receive, res *Result) {
	x := exchange{
		client: &o.client, prepared: &Prepared{Request: &api.Request{}}, res: res, stream: &o.stream, connected: true,
		caller: context.Background(), ctx: context.Background(), cancel: func() {},
	}
	x.answered.Store(true)
	at := observed{arrived: arrived, body: &countedBody{Reader: resp.Body}}
	x.observed = &at
	resp.Body = at.body
	res.Headers = arrived().At.Sub(res.Epoch)
	if resp.StatusCode < 200 || resp.StatusCode > 299 || !isJSON(resp.Header) {
		x.answer(resp)
		return
	}
	x.whole(resp, arrived)
}

// isJSON reports whether the content type of an answer is JSON.
func isJSON(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/json")
}

// whole reads an answer that was asked for in one piece.
func (x *exchange) whole(resp *http.Response, arrived func() wire.Receive) {
	const most = 16 << 20
	s := x.stream
	x.res.HTTP = resp.StatusCode
	s.decoder.Reset()
	plain, _, err := decoded(resp)
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(plain, most))
	}
	end := arrived().At.Sub(x.res.Epoch)
	switch {
	case err != nil:
		x.broken(err)
	case api.IsError(body):
		x.fail(end, ClassStreamError, api.ErrorText(body))
	case s.decoder.Decode(body, &s.chunk) != nil:
		x.fail(end, ClassMalformed, "an answer that is not what the API promises")
	default:
		s.chunk.Text = false // it has no instants of tokens
		x.take(&s.chunk, end, 0)
		x.conclude()
		x.res.Status, x.res.End = StatusOK, end
	}
}

// observed knows when the bytes of an observed answer arrived.
type observed struct {
	arrived func() wire.Receive
	body    *countedBody
	taken   int64
}

// countedBody counts the bytes that are read of a body.
type countedBody struct {
	io.Reader
	total int64
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.total += int64(n)
	return n, err
}

// Close does nothing: what reads the connection closes it.
func (b *countedBody) Close() error { return nil }

// Take returns the receive of the bytes that were read last.
func (o *observed) Take(to []wire.Receive) []wire.Receive {
	if o.body.total == o.taken {
		return to
	}
	o.taken = o.body.total
	r := o.arrived()
	r.End = o.taken
	return append(to, r)
}

// End returns when the last bytes arrived.
func (o *observed) End() (time.Time, bool) {
	at := o.arrived().At
	return at, !at.IsZero()
}
