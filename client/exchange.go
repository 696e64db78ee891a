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
	// endTime is how long Do waits for a server to end the body after its terminator. For drainTime more the connection
	// is kept for that, after Do has returned.
	endTime     = 50 * time.Millisecond
	drainTime   = 500 * time.Millisecond
	maxSlowEnds = 3               // bodies in a row that did not end within endTime, after which Do waits no longer
	errorTime   = 5 * time.Second // time for a server to send the body of a refusal
	maxBody     = 64 << 10        // bytes read of an answer that is not a stream, or of what follows a stream's end
)

type exchange struct {
	client   *Client
	prepared *Prepared
	res      *Result
	caller   context.Context // when it is done, the request is incomplete, not failed
	ctx      context.Context // the caller's, with the request's time limit
	cancel   context.CancelFunc
	stream   *stream

	connected   bool // there was a connection
	answerBegan bool // a byte of the answer came

	bodyBegan       bool
	body            []byte       // beginning of a body that is no stream; nil for a stream
	arrival         wire.Arrival // of the newest piece
	tokenReceive    int64        // Arrival.Receive of the last token
	reasoningTokens int
}

// stream has the buffers for reading one answer, which are reused.
type stream struct {
	reader  api.FrameReader
	decoder api.Decoder
	chunk   api.Chunk
}

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
	if !stop() { // the connection is being aborted
		c.Close()
		return
	}
	if x.res.Status == StatusOK {
		x.drain(c)
	} else {
		c.Release()
	}
}

// send takes another connection only if the server provably has nothing of the request: a kept connection was found
// closed before the first byte was written, or the write failed and the kernel had accepted nothing. A request of which
// anything was accepted may have been worked on, whatever RFC 9112, section 9.3.1 allows to assume: its failure is the
// server's, and so is the time until then. A fresh connection is not replaced, so the loop ends. Call stop before the
// connection is used for anything else.
func (x *exchange) send() (c *wire.Conn, stop func() bool, err error) {
	trace := httptrace.ContextClientTrace(x.ctx)
	for {
		dialStart := time.Now()
		if c, err = x.client.pool.Get(x.ctx); err != nil {
			return nil, nil, err
		}
		x.connected = true
		reused := c.WasIdle()
		if !reused {
			x.res.Dial += time.Since(dialStart)
		}
		if trace != nil && trace.GotConn != nil {
			trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: reused})
		}
		if reused {
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
		if !reused || x.ctx.Err() != nil {
			return nil, nil, err
		}
		if err != wire.ErrRetired {
			x.res.Resent++
		}
	}
}

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

// readPiece is called by Each; done means that no more of the body is needed.
func (x *exchange) readPiece(p []byte, arrival wire.Arrival) (done bool) {
	if !x.bodyBegan {
		x.bodyBegan = true
		if head := bytes.TrimLeft(p, "\xef\xbb\xbf \t\r\n"); len(head) > 0 && bytes.IndexByte([]byte("<{["), head[0]) >= 0 {
			x.body, p = make([]byte, 0, maxBody), head // a web page or a JSON object, which begins no stream
		}
	}
	if arrival.Seq != x.arrival.Seq || !arrival.At.Equal(x.arrival.At) { // another receive
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

// failUnstreamed fails a request whose answer is no stream; err is what ended the body.
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

func (x *exchange) readFrame(f api.Frame) {
	at, s := f.At, x.stream
	c := &s.chunk
	if f.Error {
		x.fail(at, ClassStreamError, cmp.Or(api.ErrorText(f.Data), "an error without a message"))
		return
	}
	if err := s.decoder.Decode(f.Data, c); err != nil {
		if f.Partial && !json.Valid(f.Data) {
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

// Bounds of an answer, so that a server that never ends one claims no unlimited time and memory. They are generous: a
// server that ignores the length, or that reasons first, may send a few thousand tokens where a few were asked for.
const (
	endlessFactor  = 16      // chunks for each token asked for,
	endlessMargin  = 8192    // and this many more
	endlessDefault = 1 << 20 // chunks, where no length was asked for
	maxText        = 16 << 20
)

func (x *exchange) endless() bool {
	maxChunks := endlessDefault
	if n := x.prepared.Request.OutputTokens; n > 0 {
		maxChunks = endlessFactor*n + endlessMargin
	}
	return x.res.Chunks() > maxChunks || len(x.res.Text) > maxText
}

// addChunk lets later counts replace earlier ones.
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

func setKnown(count *int, n int) {
	if n != api.Unknown {
		*count = n
	}
}

// endStream ends a stream whose body ended, with err, before a terminator.
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

// completeCounts estimates the counts that the server did not report.
func (x *exchange) completeCounts() {
	r, chunks := x.res, x.res.Chunks()
	switch {
	case r.OutputTokens > 0 || r.OutputTokens == 0 && chunks == 0:
		r.TokenSource = SourceServer
	case chunks > 0:
		r.OutputTokens, r.TokenSource = chunks, SourceChunks // no count, or a count of 0 although there was text
	}
	if r.ReasoningTokens == api.Unknown && x.reasoningTokens > 0 {
		perChunk := 1.0
		if len(r.Counts) == 0 && chunks > 0 {
			perChunk = max(1, float64(r.OutputTokens)/float64(chunks))
		}
		estimate := int(math.Round(float64(x.reasoningTokens) * perChunk))
		r.ReasoningTokens = min(estimate, r.OutputTokens)
	}
	if x.prepared.Request.KeepText {
		r.Text = api.Unescape(r.Text)
	}
}

// drain reads to the end of the body, so that the connection can be used again. A goroutine waits for an end that does
// not come soon.
func (x *exchange) drain(c *wire.Conn) {
	remaining := maxBody
	discard := func(p []byte, _ wire.Arrival) bool {
		remaining -= len(p)
		return remaining < 0
	}
	readToEnd := func(limit time.Duration) bool {
		c.SetReadDeadline(time.Now().Add(limit))
		if c.Each(discard) != io.EOF {
			return false
		}
		c.SetReadDeadline(time.Time{})
		c.Release()
		return true
	}
	slow := &x.client.slowEnds
	if slow.Load() < maxSlowEnds {
		if readToEnd(endTime) {
			slow.Store(0)
			return
		}
		slow.Add(1)
	}
	go func() {
		if !readToEnd(drainTime) {
			c.Close()
		}
	}()
}

func (x *exchange) readRefusal(head *http.Response, body answerBody) {
	stop := time.AfterFunc(errorTime, x.cancel)
	defer stop.Stop()
	var text []byte
	if plain, err := decompress(head.Header, body); err == nil { // else the message is the status alone
		text, _ = io.ReadAll(io.LimitReader(plain, maxBody))
	}
	x.res.RetryAfter = retryAfter(head.Header, time.Now())
	class := refusalClass(head.StatusCode, head.Header, text)
	x.fail(x.res.Headers, class, refusalText(head.StatusCode, head.Header, text))
}

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

func (x *exchange) phase() string {
	switch {
	case !x.connected:
		return "no connection"
	case x.res.Headers == Absent:
		return "no answer"
	case x.res.FirstToken == Absent:
		return "no token"
	}
	return "no end of the answer"
}

func (x *exchange) fail(at time.Duration, class Class, message string) {
	x.res.Fail(at, class, x.client.cleaner.Clean(message))
}
