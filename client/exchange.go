package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"llmsweep/client/sse"
	"llmsweep/client/wire"
)

const (
	drainTime = 500 * time.Millisecond // how long a server may take to end the body after its terminator
	errorTime = 5 * time.Second        // how long it may take to explain a refusal
	maxWhole  = 64 << 10               // bytes of an answer that is no stream, or comes after its end, that are read
)

// exchange is one request under way.
type exchange struct {
	client *Client
	call   *Call
	res    *Result
	caller context.Context // when this is done the request is incomplete, not failed
	ctx    context.Context // the caller's, with the request's time limit
	cancel context.CancelFunc

	stream    *stream
	asked     time.Time   // when a connection was asked for
	connected bool        // a connection was had
	reused    bool        // it had been made before
	answered  atomic.Bool // a byte of the answer came

	receive   int64 // the receive that brought the last token
	ids       int   // ids or log-probs that the server has sent
	reasoning int   // tokens in chunks of reasoning
}

// stream is what reading one answer takes; streams are kept and used again.
type stream struct {
	watch    wire.Watch
	arrivals arrivals
	reader   sse.Reader
	decoder  Decoder
	chunk    Chunk
}

// run sends the request and follows the answer to its end.
func (x *exchange) run() {
	s := x.client.streams.Get().(*stream)
	s.watch.Reset()
	x.stream = s
	defer func() {
		s.watch.Detach() // from now on nobody writes to it
		x.client.streams.Put(s)
	}()
	resp, err := x.send()
	x.stampSent()
	if err != nil {
		x.broken(err)
		return
	}
	defer resp.Body.Close()
	x.stampHeaders()
	x.keepAlive(resp)
	x.res.HTTP = resp.StatusCode
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		x.refused(resp)
		return
	}
	s.arrivals.reset(resp.Body, &s.watch, x.res.Epoch)
	s.reader.Reset(&s.arrivals, x.client.dialect.Framing() == NDJSON)
	s.decoder.Reset()
	defer x.tally(s)
	if !x.streams(s) {
		return
	}
	x.follow(s)
	x.conclude()
	if x.res.Status == StatusOK {
		x.drain(s)
	}
}

// request makes the HTTP request. It has no GetBody, so that net/http cannot send it again without our knowledge: with
// GetBody it does so where nothing was written, and, if the user's headers have an Idempotency-Key, also where all of it was.
func (x *exchange) request() *http.Request {
	c := x.client
	r := &http.Request{
		Method: http.MethodPost, URL: c.endpoint, Host: c.host, Header: c.header,
		Body: io.NopCloser(bytes.NewReader(x.call.Body)), ContentLength: int64(len(x.call.Body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return r.WithContext(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { x.asked = time.Now() },
		GotConn: x.gotConn,

		GotFirstResponseByte: x.gotByte,
	}))
}

// gotConn notes what the connection cost, and has its first byte stamped.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.connected, x.reused = true, info.Reused || wire.Ahead(info.Conn)
	if !x.reused {
		x.res.Dial += time.Since(x.asked)
	}
	x.stream.watch.Attach(info.Conn, info.Reused)
}

// stampSent notes when the first byte went out, if it did.
func (x *exchange) stampSent() {
	if t, ok := x.stream.watch.Sent(); ok {
		x.res.Sent = t.Sub(x.res.Epoch)
	}
}

// stampHeaders notes when the answer's head had come.
func (x *exchange) stampHeaders() {
	x.res.Headers = x.now()
	if t, ok := x.stream.watch.Head(); ok {
		x.res.Headers = t.Sub(x.res.Epoch)
	}
}

// tally adds up whose stamps these were.
func (x *exchange) tally(s *stream) {
	x.res.ReadDelay = s.arrivals.delay
	x.client.stamped.Add(int64(s.arrivals.delay.Reads))
	x.client.unstamped.Add(int64(s.arrivals.delay.Unstamped))
}

func (x *exchange) now() time.Duration { return time.Since(x.res.Epoch) }

// streams looks at an answer's first bytes, and fails the request if they cannot be a stream's: a web page, or one
// JSON object.
func (x *exchange) streams(s *stream) bool {
	head := bytes.TrimLeft(s.reader.Peek(), "\xef\xbb\xbf \t\r\n")
	if len(head) == 0 || head[0] != '<' && (head[0] != '{' && head[0] != '[' || x.client.dialect.Framing() == NDJSON) {
		return true
	}
	at, _ := s.arrivals.at(1)
	rest := make([]byte, 0, maxWhole)
	rest = append(rest, head...)
	n, err := io.ReadFull(&s.arrivals, rest[len(rest):cap(rest)])
	if head[0] != '<' && err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		x.broken(err)
		return false
	}
	class, message := whole(rest[:len(rest)+n])
	x.fail(at, class, message)
	return false
}

// follow reads frames until the terminator, the end of the body, or a failure.
func (x *exchange) follow(s *stream) {
	for x.res.Status == "" {
		f, err := s.reader.Next()
		if err != nil {
			x.ended(s, err)
			return
		}
		x.frame(s, f)
	}
}

// frame takes in one frame.
func (x *exchange) frame(s *stream, f sse.Frame) {
	at, receive := s.arrivals.at(f.End)
	c := &s.chunk
	if f.Error {
		x.fail(at, ClassStreamError, errorText(f.Data))
		return
	}
	if err := s.decoder.Decode(f.Data, c); err != nil {
		if f.Open {
			x.fail(at, ClassTruncated, "the stream ended in the middle of a chunk")
		} else {
			x.fail(at, ClassMalformed, err.Error())
		}
		return
	}
	x.take(c, at, receive)
	switch {
	case c.Error != "":
		x.fail(at, ClassStreamError, c.Error)
	case c.Done && s.decoder.Complete():
		x.res.Status, x.res.End = StatusOK, at
	case c.Done:
		x.fail(at, ClassTruncated, "the stream's terminator came before any token or finish reason")
	}
}

// take adds what a chunk said to the result. Later counts replace earlier ones.
func (x *exchange) take(c *Chunk, at time.Duration, receive int64) {
	r := x.res
	if c.Text {
		if r.FirstToken != Absent && receive == x.receive {
			r.share()
		}
		x.receive = receive
		r.Token(at, c.Tokens, c.Reasoning)
		if c.Reasoning {
			x.reasoning += max(c.Tokens, 1)
		}
	}
	if x.call.Request.KeepText {
		r.Text = append(r.Text, c.Raw...)
	}
	if c.IDs != 0 {
		x.ids = c.IDs
	}
	if c.Finish != "" {
		r.Finish = x.client.cleaner.clean(c.Finish)
	}
	set(&r.PromptTokens, c.Usage.Prompt)
	set(&r.OutputTokens, c.Usage.Output)
	set(&r.ReasoningTokens, c.Usage.Reasoning)
	set(&r.CachedTokens, c.Usage.Cached)
}

// set replaces a count by one that is known.
func set(count *int, n int) {
	if n != Unknown {
		*count = n
	}
}

// ended judges a body that came to its end, well or badly, without a terminator.
func (x *exchange) ended(s *stream, err error) {
	eof := err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
	told := err == io.EOF || !x.client.dialect.Traits().Bare // a cut stream must not pass for one that ended
	switch {
	case eof && told && s.decoder.Complete():
		x.res.Status, x.res.End = StatusOK, s.arrivals.ended
	case eof && s.arrivals.total == 0:
		x.fail(s.arrivals.ended, ClassTruncated, "the answer's body is empty")
	case eof:
		x.fail(s.arrivals.ended, ClassTruncated, "the stream ended without a finish reason or terminator")
	case errors.Is(err, sse.ErrTooLong):
		x.fail(x.now(), ClassMalformed, err.Error())
	default:
		x.broken(err)
	}
}

// conclude settles the counts and the text.
func (x *exchange) conclude() {
	r := x.res
	switch n := r.Chunks(); {
	case r.OutputTokens > 0 || r.OutputTokens == 0 && n == 0:
		r.TokenSource = SourceServer
	case n > 0 && x.ids > 0:
		r.OutputTokens, r.TokenSource = x.ids, SourceIDs
	case n > 0:
		r.OutputTokens, r.TokenSource = n, SourceChunks // no count, or a zero beside text: nobody counted
	}
	if r.ReasoningTokens == Unknown && x.reasoning > 0 {
		r.ReasoningTokens = min(x.reasoning, r.OutputTokens) // as far as chunks tell
	}
	if x.call.Request.KeepText {
		r.Text = unescape(r.Text)
	}
}

// drain reads on to the end of the body, which lets the connection be used again.
func (x *exchange) drain(s *stream) {
	stop := time.AfterFunc(drainTime, x.cancel)
	defer stop.Stop()
	_, err := io.CopyN(io.Discard, s.arrivals.body, maxWhole) // an error costs this connection and nothing else
	if err == io.EOF {
		s.watch.Answered()
	}
}

// refused reads the explanation that came with a status other than 2xx.
func (x *exchange) refused(resp *http.Response) {
	stop := time.AfterFunc(errorTime, x.cancel) // it is known to have failed: the rest is courtesy
	defer stop.Stop()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxWhole))
	if err == nil && len(body) < maxWhole {
		x.stream.watch.Answered()
	}
	x.fail(x.res.Headers, statusClass(resp.StatusCode), statusText(resp.StatusCode, resp.Header, body))
}

// broken judges an error of the connection.
func (x *exchange) broken(err error) {
	switch {
	case x.caller.Err() != nil:
		x.res.Status = StatusIncomplete
	case x.ctx.Err() != nil:
		x.fail(x.now(), ClassTimeout, x.phase()+" within the request's limit of "+x.client.timeout.String())
	default:
		class, message := x.lost(err)
		x.fail(x.now(), class, message)
	}
}

// phase says what a request that ran out of time was waiting for.
func (x *exchange) phase() string {
	switch r := x.res; {
	case !x.connected:
		return "no connection"
	case r.Headers == Absent:
		return "no answer"
	case r.FirstToken == Absent:
		return "no token"
	}
	return "no end of the answer"
}

// fail ends the request as a failure, its message made fit to be shown.
func (x *exchange) fail(at time.Duration, class Class, message string) {
	x.res.Fail(at, class, x.client.cleaner.clean(message))
}
