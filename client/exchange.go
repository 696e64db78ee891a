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
	"time"

	"llmsweep/client/api"
	"llmsweep/client/wire"
)

const (
	// endTime is how long a caller waits for a server to end the body after its terminator, and drainTime how long the
	// connection is kept for that after the caller has gone on.
	endTime     = 50 * time.Millisecond
	drainTime   = 500 * time.Millisecond
	maxOpenEnds = 3               // bodies in a row that did not end in time, after which the caller waits no longer
	errorTime   = 5 * time.Second // time for a server to send the body of a refusal
	maxBody     = 64 << 10        // bytes read of an answer that is not a stream, or of what follows a stream's end
)

// exchange is one request and its answer.
type exchange struct {
	client   *Client
	prepared *Prepared
	res      *Result
	caller   context.Context // when it is done the request is incomplete, not failed
	ctx      context.Context // the caller's, with the request's time limit
	cancel   context.CancelFunc
	stream   *stream

	connected   bool // there was a connection
	answerBegan bool // a byte of the answer came

	bodyBegan       bool         // a piece of the body came
	body            []byte       // the body, where it is no stream
	arrival         wire.Arrival // of the newest piece
	tokenReceive    int64        // number of the receive that brought the last token
	reasoningTokens int          // tokens in chunks of reasoning
}

// stream holds the buffers for reading one answer. Streams are reused.
type stream struct {
	reader  api.FrameReader
	decoder api.Decoder
	chunk   api.Chunk
}

// run sends the request and reads the answer to its end.
func (x *exchange) run() {
	defer x.cancel()
	x.stream = x.client.streams.Get().(*stream)
	defer x.client.streams.Put(x.stream)
	if x.client.pool == nil {
		x.runNetHTTP()
		return
	}
	c, stop, err := x.send()
	if err != nil {
		x.failConnection(err)
		return
	}
	head, began, err := c.Head()
	x.answerBegan = began
	if err != nil {
		x.failConnection(err)
	} else {
		x.res.Headers = c.Arrival().At.Sub(x.res.Epoch)
		x.readAnswer(head, c)
	}
	switch {
	case !stop(): // the connection is being aborted
		c.Close()
	case x.res.Status == StatusOK:
		x.drain(c)
	default:
		c.Release()
	}
}

// send sends the request. It takes another connection only if the server provably has nothing of the request: a kept
// connection was found closed before the first byte was written, or the write failed and the kernel had accepted
// nothing. A request of which anything was accepted may have been worked on, whatever RFC 9112, section 9.3.1 allows to
// assume: its failure is the server's, and so is the time until then. A fresh connection is not replaced, so this comes
// to an end. Call stop before the connection is used for anything else.
func (x *exchange) send() (c *wire.Conn, stop func() bool, err error) {
	trace := httptrace.ContextClientTrace(x.ctx)
	for {
		begin := time.Now()
		if c, err = x.client.pool.Get(x.ctx); err != nil {
			return nil, nil, err
		}
		x.connected = true
		waited := c.WasIdle()
		if !waited {
			x.res.Dial += time.Since(begin)
		}
		if trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: waited})
		}
		if waited {
			err = x.client.pool.Check(c)
		}
		if err == nil {
			stop = context.AfterFunc(x.ctx, c.Abort)
			if err = c.Send(x.prepared.wire); err == nil {
				x.res.Sent = c.Sent().Sub(x.res.Epoch)
				return c, stop, nil
			}
			stop()
			c.Close()
		}
		if !waited || x.ctx.Err() != nil {
			return nil, nil, err
		}
		if err != wire.ErrRetired {
			x.res.Resent++
		}
	}
}

// readAnswer reads an answer's body, as its head asks for.
func (x *exchange) readAnswer(head *http.Response, body answerBody) {
	x.res.HTTP = head.StatusCode
	if head.StatusCode < 200 || head.StatusCode > 299 {
		x.readRefusal(head, body)
		return
	}
	plain, err := decompress(head.Header, body)
	if err != nil {
		x.fail(x.res.Headers, ClassMalformed, err.Error())
		return
	}
	x.stream.reader.Reset()
	x.stream.decoder.Reset()
	err = plain.Each(x.readPiece)
	x.client.kernelReads.Add(int64(x.res.ReadDelay.Reads))
	x.client.userReads.Add(int64(x.res.ReadDelay.Unstamped))
	if x.body != nil {
		x.failUnstreamed(err)
		return
	}
	if err != nil {
		x.endStream(err, body.End().Sub(x.res.Epoch))
	}
	x.completeCounts()
}

// readPiece reads a piece of the body. It returns true when the exchange needs no more.
func (x *exchange) readPiece(p []byte, arrival wire.Arrival) (done bool) {
	if !x.bodyBegan {
		x.bodyBegan = true
		if head := bytes.TrimLeft(p, "\xef\xbb\xbf \t\r\n"); len(head) > 0 && bytes.IndexByte([]byte("<{["), head[0]) >= 0 {
			x.body, p = make([]byte, 0, maxBody), head // a web page or a JSON object, which begins no stream
		}
	}
	if arrival.Seq != x.arrival.Seq || !arrival.At.Equal(x.arrival.At) { // no further part of one receive
		x.arrival = arrival
		x.res.ReadDelay.add(arrival.Delay, arrival.Kernel)
	}
	if x.body != nil {
		x.body = append(x.body, p[:min(len(p), maxBody-len(x.body))]...)
		return len(x.body) == maxBody
	}
	at := arrival.At.Sub(x.res.Epoch)
	r := &x.stream.reader
	if err := r.Feed(p, api.Arrival{At: at, Receive: arrival.Seq}); err != nil {
		x.fail(at, ClassMalformed, err.Error())
		return true
	}
	for x.res.Status == "" {
		f, ok := r.Next()
		if !ok {
			return false
		}
		x.readFrame(f)
	}
	return true
}

// failUnstreamed fails a request whose answer is no stream; err ended its body.
func (x *exchange) failUnstreamed(err error) {
	if x.body[0] != '<' && err != nil && !isEOF(err) {
		x.failConnection(err)
		return
	}
	class, message := classifyUnstreamed(x.body)
	x.fail(x.arrival.At.Sub(x.res.Epoch), class, message)
}

// isEOF reports whether a body ended, well or not, without an error of the connection.
func isEOF(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

func (x *exchange) now() time.Duration { return time.Since(x.res.Epoch) }

// readFrame decodes one frame and adds it to the result.
func (x *exchange) readFrame(f api.Frame) {
	at, s := f.At, x.stream
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
	x.addChunk(c, f.Arrival)
	switch {
	case x.endless():
		x.fail(at, ClassMalformed, fmt.Sprintf(
			"the answer does not end: %d chunks of text came where %d tokens were asked for",
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
// memory. The bound is generous: a server that ignores the length, or that reasons first, may send a few thousand
// tokens where a few were asked for.
const (
	endlessFactor = 16      // times the asked number of tokens,
	endlessMargin = 8192    // and this many chunks more
	endlessOpen   = 1 << 20 // chunks, where no length was asked for
	maxText       = 16 << 20
)

// endless reports whether the answer has become so long that it is not read further.
func (x *exchange) endless() bool {
	maxChunks := endlessOpen
	if asked := x.prepared.Request.OutputTokens; asked > 0 {
		maxChunks = endlessFactor*asked + endlessMargin
	}
	return x.res.Chunks() > maxChunks || len(x.res.Text) > maxText
}

// addChunk adds a chunk to the result. Later counts replace earlier ones.
func (x *exchange) addChunk(c *api.Chunk, arrival api.Arrival) {
	r := x.res
	if c.Text {
		if r.FirstToken != Absent && arrival.Receive == x.tokenReceive {
			r.markShared()
		}
		x.tokenReceive = arrival.Receive
		r.Token(arrival.At, c.Tokens, c.Reasoning)
		if c.Reasoning {
			x.reasoningTokens += max(c.Tokens, 1)
		}
	}
	if x.prepared.Request.KeepText {
		r.Text = append(r.Text, c.Raw...)
	}
	if c.Finish != "" {
		r.Finish = x.client.cleaner.Clean(c.Finish)
	}
	setKnown(&r.PromptTokens, c.Usage.Prompt)
	setKnown(&r.OutputTokens, c.Usage.Output)
	setKnown(&r.ReasoningTokens, c.Usage.Reasoning)
	setKnown(&r.CachedTokens, c.Usage.Cached)
}

// setKnown replaces a count where the new one is known.
func setKnown(count *int, n int) {
	if n != api.Unknown {
		*count = n
	}
}

// endStream takes in what is left of a stream whose body ended without a terminator, and classifies it.
func (x *exchange) endStream(err error, at time.Duration) {
	if f, ok := x.stream.reader.Last(err == io.EOF); ok {
		x.readFrame(f)
	}
	switch {
	case x.res.Status != "":
	case isEOF(err) && x.stream.decoder.Complete():
		x.res.Status, x.res.End = StatusOK, at
	case isEOF(err) && !x.bodyBegan:
		x.fail(at, ClassTruncated, "the answer's body is empty")
	case isEOF(err):
		x.fail(at, ClassTruncated, "the stream ended without a finish reason or terminator")
	case errors.Is(err, errCompression):
		x.fail(x.now(), ClassMalformed, err.Error())
	default:
		x.failConnection(err)
	}
}

// completeCounts completes the counts and the text.
func (x *exchange) completeCounts() {
	r := x.res
	switch n := r.Chunks(); {
	case r.OutputTokens > 0 || r.OutputTokens == 0 && n == 0:
		r.TokenSource = SourceServer
	case n > 0:
		r.OutputTokens, r.TokenSource = n, SourceChunks // no count, or a count of 0 although there was text
	}
	if r.ReasoningTokens == api.Unknown && x.reasoningTokens > 0 {
		perChunk := 1.0
		if n := r.Chunks(); len(r.Counts) == 0 && n > 0 {
			perChunk = max(1, float64(r.OutputTokens)/float64(n))
		}
		estimate := int(math.Round(float64(x.reasoningTokens) * perChunk))
		r.ReasoningTokens = min(estimate, r.OutputTokens)
	}
	if x.prepared.Request.KeepText {
		r.Text = api.Unescape(r.Text)
	}
}

// drain reads to the end of the body, so that the connection can be used again. Where the end does not come at once, a
// goroutine waits for it.
func (x *exchange) drain(c *wire.Conn) {
	remaining := maxBody
	discard := func(p []byte, _ wire.Arrival) bool {
		remaining -= len(p)
		return remaining < 0
	}
	readToEnd := func(limit time.Duration) (end bool) {
		c.SetReadDeadline(time.Now().Add(limit))
		if end = c.Each(discard) == io.EOF; end {
			c.SetReadDeadline(time.Time{})
			c.Release()
		}
		return end
	}
	open := &x.client.openEnds
	if open.Load() < maxOpenEnds {
		if readToEnd(endTime) {
			open.Store(0)
			return
		}
		open.Add(1)
	}
	go func() {
		if !readToEnd(drainTime) {
			c.Close()
		}
	}()
}

// readRefusal reads the body of an answer with a status other than 2xx.
func (x *exchange) readRefusal(head *http.Response, body answerBody) {
	stop := time.AfterFunc(errorTime, x.cancel) // it has failed already; only the message is missing
	defer stop.Stop()
	var text []byte
	if plain, err := decompress(head.Header, body); err == nil { // else the status remains as the message
		text, _ = io.ReadAll(io.LimitReader(plain, maxBody))
	}
	x.res.RetryAfter = retryAfter(head.Header, time.Now())
	class := refusalClass(head.StatusCode, head.Header, text)
	x.fail(x.res.Headers, class, refusalText(head.StatusCode, head.Header, text))
}

// failConnection classifies an error of the connection.
func (x *exchange) failConnection(err error) {
	switch {
	case x.caller.Err() != nil:
		x.res.Status = StatusIncomplete
	case x.ctx.Err() != nil:
		x.fail(x.now(), ClassTimeout, x.phase()+" within the request's limit of "+x.client.timeout.String())
	default:
		class, _, message := x.client.classify(err, x.connected)
		if class == ClassTruncated && !x.answerBegan { // TLS calls an end without its close_notify unexpected
			class, message = ClassReset, noAnswer
		}
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
