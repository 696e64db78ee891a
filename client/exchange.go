package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/wire"
)

const (
	endTime   = 50 * time.Millisecond  // time for a server to end the body after its terminator, for which the caller waits
	drainTime = 500 * time.Millisecond // and for which the connection is kept, behind the caller
	openEnds  = 3                      // bodies in a row that did not end in time, after which the caller waits no longer
	errorTime = 5 * time.Second        // time for a server to send the body of a refusal
	maxWhole  = 64 << 10               // bytes read of an answer that is not a stream, or of what follows a stream's end
)

// exchange is one request and its answer.
type exchange struct {
	client   *Client
	prepared *Prepared
	res      *Result
	caller   context.Context // when it is done the request is incomplete, not failed
	ctx      context.Context // the caller's, with the request's time limit
	cancel   context.CancelFunc

	stream    *stream
	asked     time.Time                 // when a connection was asked for
	connected bool                      // there was a connection
	reused    bool                      // it was made for an earlier request, or by Warm
	answered  atomic.Bool               // a byte of the answer came
	wrote     atomic.Pointer[time.Time] // when the headers of an HTTP/2 request were written

	receive   int64 // number of the receive that brought the last token
	reasoning int   // tokens in chunks of reasoning
}

// stream holds the buffers for reading one answer. Streams are reused.
type stream struct {
	watch   wire.Watch
	body    timedBody
	reader  api.FrameReader
	decoder api.Decoder
	chunk   api.Chunk
}

// run sends the request and reads the answer to its end.
func (x *exchange) run() {
	s := x.client.streams.Get().(*stream)
	s.watch.Reset()
	x.stream = s
	resp, err := x.send()
	release := func() {
		if resp != nil {
			resp.Body.Close()
		}
		s.watch.Detach() // the connection no longer writes to it
		x.client.streams.Put(s)
		x.cancel()
	}
	open := false // the body goes on, and is read behind the caller
	defer func() {
		if !open {
			release()
		}
	}()
	x.stampSent()
	if err != nil {
		x.broken(err)
		return
	}
	x.stampHeaders()
	x.keepAlive(resp)
	x.res.HTTP = resp.StatusCode
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		x.refused(resp)
		return
	}
	plain, zipped, err := decoded(resp)
	if err != nil {
		x.fail(x.res.Headers, ClassMalformed, err.Error())
		return
	}
	s.body.reset(plain, zipped, &s.watch, x.res.Epoch)
	s.reader.Reset(&s.body)
	s.decoder.Reset()
	defer x.tally(s)
	if !x.streams(s) {
		return
	}
	x.follow(s)
	x.conclude()
	if x.res.Status == StatusOK {
		open = !x.drain(s, release)
	}
}

// request makes the HTTP request. It has no GetBody, so that net/http cannot send it again without our knowledge: with
// GetBody it does so where nothing was written, and, if the user's headers have an Idempotency-Key, also where all of it was.
func (x *exchange) request() *http.Request {
	c := x.client
	r := &http.Request{
		Method: http.MethodPost, URL: c.endpoint, Host: c.host, Header: c.header,
		Body: io.NopCloser(bytes.NewReader(x.prepared.Body)), ContentLength: int64(len(x.prepared.Body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return r.WithContext(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { x.asked = time.Now() },
		GotConn: x.gotConn,

		WroteHeaders:         x.wroteHeaders,
		GotFirstResponseByte: x.gotByte,
	}))
}

// gotConn records how long the connection took, and begins to watch it.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.connected, x.reused = true, info.Reused || wire.Ahead(info.Conn)
	if !x.reused {
		x.res.Dial += time.Since(x.asked)
	}
	if !x.client.http2 {
		x.stream.watch.Attach(info.Conn, info.Reused)
	}
}

// wroteHeaders records, over HTTP/2, when the request's headers were written: which of the connection's bytes they are cannot be
// told. net/http calls it on another goroutine.
func (x *exchange) wroteHeaders() {
	if x.client.http2 {
		x.wrote.CompareAndSwap(nil, new(time.Now()))
	}
}

// stampSent records when the first byte was written, if it was.
func (x *exchange) stampSent() {
	if t, ok := x.stream.watch.Sent(); ok {
		x.res.Sent = t.Sub(x.res.Epoch)
	} else if t := x.wrote.Load(); t != nil {
		x.res.Sent = t.Sub(x.res.Epoch)
	}
}

// stampHeaders records when the answer's headers were complete.
func (x *exchange) stampHeaders() {
	x.res.Headers = x.now()
	if t, ok := x.stream.watch.Head(); ok {
		x.res.Headers = t.Sub(x.res.Epoch)
	}
}

// tally counts the timestamps by their source.
func (x *exchange) tally(s *stream) {
	x.res.ReadDelay = s.body.delay
	x.client.stamped.Add(int64(s.body.delay.Reads))
	x.client.unstamped.Add(int64(s.body.delay.Unstamped))
}

func (x *exchange) now() time.Duration { return time.Since(x.res.Epoch) }

// streams reports whether an answer's first bytes can begin a stream. Where they are a web page or a JSON object it fails
// the request.
func (x *exchange) streams(s *stream) bool {
	head := bytes.TrimLeft(s.reader.Peek(), "\xef\xbb\xbf \t\r\n")
	if len(head) == 0 || head[0] != '<' && head[0] != '{' && head[0] != '[' {
		return true
	}
	at, _ := s.body.at(1)
	rest := make([]byte, 0, maxWhole)
	rest = append(rest, head...)
	n, err := io.ReadFull(&s.body, rest[len(rest):cap(rest)])
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

// frame decodes one frame and adds it to the result.
func (x *exchange) frame(s *stream, f api.Frame) {
	at, receive := s.body.at(f.End)
	c := &s.chunk
	if f.Error {
		x.fail(at, ClassStreamError, cmp.Or(api.ErrorText(f.Data), "an error without a message"))
		return
	}
	if err := s.decoder.Decode(f.Data, c); err != nil {
		if f.Open && !json.Valid(f.Data) {
			x.fail(at, ClassTruncated, "the stream ended in the middle of a chunk")
		} else {
			x.fail(at, ClassMalformed, err.Error())
		}
		return
	}
	x.take(c, at, receive)
	switch {
	case x.endless():
		x.fail(at, ClassMalformed, fmt.Sprintf("the answer does not end: %d chunks of text came where %d tokens were asked for",
			x.res.Chunks(), x.prepared.Request.OutputTokens))
	case c.Error != "":
		x.fail(at, ClassStreamError, c.Error)
	case c.Done && s.decoder.Complete():
		x.res.Status, x.res.End = StatusOK, at
	case c.Done && x.res.Chunks() > 0:
		x.fail(at, ClassStreamError, "the stream's terminator came without a finish reason")
	case c.Done:
		x.fail(at, ClassTruncated, "the stream's terminator came before any token or finish reason")
	}
}

// An answer that is much longer than asked is ended, so that a server that never ends one claims no unlimited time and
// memory. The bound is generous: a server that ignores the length, or that reasons first, may send a few thousand tokens where
// a few were asked for.
const (
	endlessFactor = 16      // times the asked number of tokens,
	endlessMargin = 8192    // and this many chunks more
	endlessOpen   = 1 << 20 // chunks, where no length was asked for
	maxText       = 16 << 20
)

// endless reports whether the answer has become so long that it is not read further.
func (x *exchange) endless() bool {
	most := endlessOpen
	if asked := x.prepared.Request.OutputTokens; asked > 0 {
		most = endlessFactor*asked + endlessMargin
	}
	return x.res.Chunks() > most || len(x.res.Text) > maxText
}

// take adds a chunk to the result. Later counts replace earlier ones.
func (x *exchange) take(c *api.Chunk, at time.Duration, receive int64) {
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
	if x.prepared.Request.KeepText {
		r.Text = append(r.Text, c.Raw...)
	}
	if c.Finish != "" {
		r.Finish = x.client.cleaner.Clean(c.Finish)
	}
	set(&r.PromptTokens, c.Usage.Prompt)
	set(&r.OutputTokens, c.Usage.Output)
	set(&r.ReasoningTokens, c.Usage.Reasoning)
	set(&r.CachedTokens, c.Usage.Cached)
}

// set replaces a count where the new one is known.
func set(count *int, n int) {
	if n != api.Unknown {
		*count = n
	}
}

// ended classifies a body that ended without a terminator.
func (x *exchange) ended(s *stream, err error) {
	eof := err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
	switch {
	case eof && s.decoder.Complete():
		x.res.Status, x.res.End = StatusOK, s.body.ended
	case eof && s.body.total == 0:
		x.fail(s.body.ended, ClassTruncated, "the answer's body is empty")
	case eof:
		x.fail(s.body.ended, ClassTruncated, "the stream ended without a finish reason or terminator")
	case errors.Is(err, api.ErrTooLong), errors.Is(err, errCompression):
		x.fail(x.now(), ClassMalformed, err.Error())
	default:
		x.broken(err)
	}
}

// conclude completes the counts and the text.
func (x *exchange) conclude() {
	r := x.res
	switch n := r.Chunks(); {
	case r.OutputTokens > 0 || r.OutputTokens == 0 && n == 0:
		r.TokenSource = SourceServer
	case n > 0:
		r.OutputTokens, r.TokenSource = n, SourceChunks // no count, or a count of 0 although there was text
	}
	if r.ReasoningTokens == api.Unknown && x.reasoning > 0 {
		perChunk := 1.0
		if n := r.Chunks(); len(r.Counts) == 0 && n > 0 {
			perChunk = max(1, float64(r.OutputTokens)/float64(n))
		}
		r.ReasoningTokens = min(int(math.Round(float64(x.reasoning)*perChunk)), r.OutputTokens) // an estimate from chunks
	}
	if x.prepared.Request.KeepText {
		r.Text = api.Unescape(r.Text)
	}
}

// drain reads to the end of the body, so that the connection can be reused. It reports whether the end came at once; where
// not, it goes on behind the caller, and releases everything then.
func (x *exchange) drain(s *stream, release func()) bool {
	ended := make(chan struct{})
	var behind atomic.Bool
	stop := time.AfterFunc(drainTime, x.cancel)
	go func() {
		if _, err := io.CopyN(io.Discard, s.body.body, maxWhole); err == io.EOF { // another error only costs this connection
			s.watch.Answered()
		}
		stop.Stop()
		close(ended)
		if behind.Swap(true) {
			release()
		}
	}()
	open := &x.client.open
	if open.Load() >= openEnds {
		return behind.Swap(true)
	}
	select {
	case <-ended:
		open.Store(0)
	case <-time.After(endTime):
		open.Add(1)
	}
	return behind.Swap(true)
}

// refused reads the body of an answer with a status other than 2xx.
func (x *exchange) refused(resp *http.Response) {
	stop := time.AfterFunc(errorTime, x.cancel) // it has failed already; only the message is missing
	defer stop.Stop()
	plain, _, err := decoded(resp)
	var body []byte
	if err == nil { // where decoding fails, the status remains as the message
		body, err = io.ReadAll(io.LimitReader(plain, maxWhole))
	}
	if err == nil && len(body) < maxWhole {
		x.stream.watch.Answered()
	}
	x.res.RetryAfter = retryAfter(resp.Header, time.Now())
	x.fail(x.res.Headers, refusalClass(resp.StatusCode, resp.Header, body), statusText(resp.StatusCode, resp.Header, body))
}

// broken classifies an error of the connection.
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

// phase names what a request that timed out was waiting for.
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

// fail ends the request as a failure, with a message without secrets.
func (x *exchange) fail(at time.Duration, class Class, message string) {
	x.res.Fail(at, class, x.client.cleaner.Clean(message))
}
