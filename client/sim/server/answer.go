// One request to the simulated server and its answer, whatever the API: the request's prompt and the length of its
// answer, the stream and its frames, errors, tools and injected faults. Package dialect has the APIs.

package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"llmsweep/client/sim"
)

// AnswerState is one completion that is being sent. The engine only counts its tokens and signals; the connection's own
// goroutine makes chunks of them, so that a client that stops reading delays no other.
type AnswerState struct {
	Host     *Host
	endpoint *endpoint
	Request  request
	said     spokenAnswer
	Running  *sim.Generation // the request inside the engine
	ID       string
	Created  time.Time
	fault    Fault
	faultAt  int // tokens sent before the fault strikes
	stamps   bool
	w        http.ResponseWriter
	out      *http.ResponseController
	Encoder  encoder
	buf      []byte
	ready    atomic.Int64  // tokens generated
	more     chan struct{} // signals that ready has grown
}

// newAnswer returns the answer to the n-th request r, which came to an endpoint, with a fault to inject and time stamps in its chunks.
func newAnswer(s *Host, w http.ResponseWriter, to *endpoint, r request, n uint64, fault Fault, stamps bool) *AnswerState {
	a := &AnswerState{
		Host:     s,
		endpoint: to,
		Request:  r,
		said:     newSpeech(r.seed),
		ID:       fmt.Sprintf("%016x%016x", mix(s.Config.Seed+n), mix(r.seed+n)),
		Created:  time.Now(),
		fault:    fault,
		faultAt:  max(1, r.Work.OutputTokens/2),
		stamps:   stamps,
		w:        w,
		out:      http.NewResponseController(w),
		more:     make(chan struct{}, 1),
	}
	a.Encoder = to.Encoder(a)
	return a
}

// Emit notes a token. The engine calls it.
func (a *AnswerState) Emit(n int, _ time.Time) {
	a.ready.Store(int64(n))
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// Stream sends the tokens as they are generated, each chunk in a write of its own.
func (a *AnswerState) Stream(ctx context.Context) {
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if first := a.Encoder.Opening(); first != nil {
		a.Send(first)
	} else {
		a.out.Flush()
	}
	for sent := 0; sent < a.Request.Work.OutputTokens; {
		end := a.chunkEnd(sent)
		ok := a.await(ctx, end)
		if ok && a.Host.Config.Speculation.Draft > 0 { // a step's tokens are one chunk
			end = a.within(sent, int(a.ready.Load()))
			ok = a.await(ctx, end)
		}
		if !ok || !a.sendTokens(sent, end) {
			return
		}
		struck := sent < a.faultAt && end >= a.faultAt && a.fault != ""
		sent = end
		if struck && !a.breakStream(ctx) {
			return
		}
	}
	usage, _ := a.Running.Result()
	for _, v := range a.Encoder.Closing(usage) {
		a.Send(v)
	}
	if a.endpoint.Done {
		a.write([]byte(done))
	}
}

// chunkEnd returns the last token of the chunk that begins after the token sent. Reasoning and answer do not share a chunk.
func (a *AnswerState) chunkEnd(sent int) int {
	end := sent + a.Host.Options.ChunkTokens
	if sent == 0 {
		end = 1
	}
	return a.within(sent, end)
}

// within cuts a chunk at the end of the reasoning, and of the answer.
func (a *AnswerState) within(sent, end int) int {
	if r := a.Request.Work.ReasoningTokens; sent < r {
		end = min(end, r)
	}
	return min(end, a.Request.Work.OutputTokens)
}

// IsLast reports whether a chunk ends the answer.
func (a *AnswerState) IsLast(to int) bool { return to == a.Request.Work.OutputTokens }

// Cached returns how many tokens of the prompt were found in the prefix cache. It is known once there is a token.
func (a *AnswerState) Cached() int { return a.Running.CachedTokens() }

// await waits for the n-th token. It returns false where it will not come, after it has told the client.
func (a *AnswerState) await(ctx context.Context, n int) bool {
	for int(a.ready.Load()) < n {
		select {
		case <-a.more:
		case <-ctx.Done():
			return false
		case <-a.Running.Done():
			if _, err := a.Running.Result(); err != nil {
				a.sendError(asAPIError(err))
				return false
			}
		}
	}
	if n == a.Request.Work.OutputTokens {
		<-a.Running.Done() // follows at once; the usage is final then
	}
	return true
}

// Send sends objects, each in a frame, in one write. It returns false where the client has gone.
func (a *AnswerState) Send(objects ...any) bool {
	a.buf = a.buf[:0]
	for _, v := range objects {
		a.buf = appendObject(a.buf, v)
	}
	return a.write(a.buf)
}

func (a *AnswerState) write(b []byte) bool {
	if _, err := a.w.Write(b); err != nil {
		return false
	}
	return a.out.Flush() == nil
}

func (a *AnswerState) sendError(e *apiError) {
	b := appendObject(nil, a.endpoint.Refusal(e))
	if a.endpoint.Done {
		b = append(b, done...)
	}
	a.write(b)
}

// breakStream injects the faults of a stream. It returns true where the stream continues.
func (a *AnswerState) breakStream(ctx context.Context) bool {
	switch a.fault {
	case FaultReset:
		reset(a.out)
	case FaultStall:
		<-ctx.Done()
	case FaultError:
		a.sendError(engineDied())
	case FaultGarbage:
		return a.write(appendFrame(nil, []byte(`{"id":"garbage","choices":[{"delta":{"content":`)))
	}
	return false
}

func engineDied() *apiError {
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "EngineCore encountered an issue."}
}

// reset closes the connection in the middle of the answer; over TCP with a RST.
func reset(out *http.ResponseController) {
	conn, _, err := out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // no HTTP/1 connection: the server can at least drop the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// SendWhole sends the answer in one piece, at its end.
func (a *AnswerState) SendWhole(ctx context.Context) {
	select {
	case <-a.Running.Done():
	case <-ctx.Done():
		return
	}
	usage, err := a.Running.Result()
	if err != nil {
		a.endpoint.Refuse(a.w, asAPIError(err))
		return
	}
	text := marshal(a.Encoder.Whole(usage))
	switch a.fault {
	case FaultReset:
		reset(a.out)
		return
	case FaultStall:
		<-ctx.Done()
		return
	case FaultError:
		a.endpoint.Refuse(a.w, engineDied())
		return
	case FaultTruncate, FaultGarbage:
		text = text[:len(text)/2]
	}
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Write(text)
}

// Text returns the text of the tokens after from, up to to.
func (a *AnswerState) Text(from, to int) string {
	var b strings.Builder
	for n := from + 1; n <= to; n++ {
		b.WriteString(a.said.Word(n))
	}
	return b.String()
}

// Dropped plays the habit drops, and reports whether it struck: the request is worked on for a while, and then its
// connection is closed before the first byte of an answer.
func (a *AnswerState) Dropped(ctx context.Context) bool {
	if !a.Running.Dropped() {
		return false
	}
	select {
	case <-a.Running.Done():
	case <-ctx.Done():
	}
	conn, _, err := a.out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not HTTP/1: the server can drop the stream
	}
	conn.Close()
	return true
}

// sendTokens sends a chunk. The chunks of one burst of the habit batches are sent in one write, as far as the HTTP server's buffer
// holds them.
func (a *AnswerState) sendTokens(from, to int) bool {
	if !a.Host.Batches || int(a.ready.Load()) == to {
		return a.Send(a.Encoder.Tokens(from, to)...)
	}
	a.buf = a.buf[:0]
	for _, v := range a.Encoder.Tokens(from, to) {
		a.buf = appendFrame(a.buf, marshal(v))
	}
	_, err := a.w.Write(a.buf)
	return err == nil
}
