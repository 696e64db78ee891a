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
	"llmsweep/client/sim/speech"
	"llmsweep/client/sim/tokenizer"
)

// answer is one completion that is being sent. The engine only counts its tokens and signals; the connection's own
// goroutine makes chunks of them, so that a client that stops reading delays no other.
type answer struct {
	server   *server
	endpoint *endpoint
	request  request
	said     speech.Answer
	running  *sim.Generation // the request inside the engine
	id       string
	created  time.Time
	fault    Fault
	faultAt  int // tokens sent before the fault strikes
	stamps   bool
	w        http.ResponseWriter
	out      *http.ResponseController
	encoder  encoder
	buf      []byte
	ready    atomic.Int64  // tokens generated
	more     chan struct{} // signals that ready has grown
}

func newAnswer(s *server, w http.ResponseWriter, to *endpoint, r request, n uint64, fault Fault, stamps bool) *answer {
	a := &answer{
		server:   s,
		endpoint: to,
		request:  r,
		said:     speech.New(r.seed),
		id:       fmt.Sprintf("%016x%016x", tokenizer.Mix(s.config.Seed+n), tokenizer.Mix(r.seed+n)),
		created:  time.Now(),
		fault:    fault,
		faultAt:  max(1, r.seq.OutputTokens/2),
		stamps:   stamps,
		w:        w,
		out:      http.NewResponseController(w),
		more:     make(chan struct{}, 1),
	}
	a.encoder = to.encoder(a)
	return a
}

// emit notes a token. The engine calls it.
func (a *answer) emit(n int, _ time.Time) {
	a.ready.Store(int64(n))
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// stream sends the tokens as they are generated, each chunk in a write of its own.
func (a *answer) stream(ctx context.Context) {
	a.w.Header().Set("Content-Type", a.endpoint.framing.media)
	if first := a.encoder.opening(); first != nil {
		a.send(first)
	} else {
		a.out.Flush()
	}
	for sent := 0; sent < a.request.seq.OutputTokens; {
		end := a.chunkEnd(sent)
		if !a.await(ctx, end) || !a.sendTokens(sent, end) {
			return
		}
		struck := sent < a.faultAt && end >= a.faultAt && a.fault != ""
		sent = end
		if struck && !a.breakStream(ctx) {
			return
		}
	}
	usage, _ := a.running.Result()
	for _, v := range a.encoder.closing(usage) {
		a.send(v)
	}
	if a.endpoint.done {
		a.write([]byte(done))
	}
}

// chunkEnd returns the last token of the chunk that begins after the token sent. Reasoning and answer do not share a chunk.
func (a *answer) chunkEnd(sent int) int {
	end := sent + a.server.options.ChunkTokens
	if sent == 0 {
		end = 1
	}
	if r := a.request.seq.ReasoningTokens; sent < r {
		end = min(end, r)
	}
	return min(end, a.request.seq.OutputTokens)
}

// last reports whether a chunk ends the answer.
func (a *answer) last(to int) bool { return to == a.request.seq.OutputTokens }

// cached returns how many tokens of the prompt were found in the prefix cache. It is known once there is a token.
func (a *answer) cached() int { return a.running.CachedTokens() }

// await waits for the n-th token. It returns false where it will not come, after it has told the client.
func (a *answer) await(ctx context.Context, n int) bool {
	for int(a.ready.Load()) < n {
		select {
		case <-a.more:
		case <-ctx.Done():
			return false
		case <-a.running.Done():
			if _, err := a.running.Result(); err != nil {
				a.sendError(asAPIError(err))
				return false
			}
		}
	}
	if n == a.request.seq.OutputTokens {
		<-a.running.Done() // follows at once; the usage is final then
	}
	return true
}

// send sends objects, each in a frame, in one write. It returns false where the client has gone.
func (a *answer) send(objects ...any) bool {
	a.buf = a.buf[:0]
	for _, v := range objects {
		a.buf = a.endpoint.framing.appendObject(a.buf, v)
	}
	return a.write(a.buf)
}

func (a *answer) write(b []byte) bool {
	if _, err := a.w.Write(b); err != nil {
		return false
	}
	return a.out.Flush() == nil
}

func (a *answer) sendError(e *apiError) {
	b := a.endpoint.framing.appendObject(nil, a.endpoint.refusal(e))
	if a.endpoint.doneAfterError {
		b = append(b, done...)
	}
	a.write(b)
}

// breakStream injects the faults of a stream. It returns true where the stream continues.
func (a *answer) breakStream(ctx context.Context) bool {
	switch a.fault {
	case FaultReset:
		reset(a.out)
	case FaultStall:
		<-ctx.Done()
	case FaultError:
		a.sendError(engineDied())
	case FaultGarbage:
		return a.write(a.endpoint.framing.appendFrame(nil, []byte(`{"id":"garbage","choices":[{"delta":{"content":`)))
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

// whole sends the answer in one piece, at its end.
func (a *answer) whole(ctx context.Context) {
	select {
	case <-a.running.Done():
	case <-ctx.Done():
		return
	}
	usage, err := a.running.Result()
	if err != nil {
		a.endpoint.refuse(a.w, asAPIError(err))
		return
	}
	text := marshal(a.encoder.whole(usage))
	switch a.fault {
	case FaultReset:
		reset(a.out)
		return
	case FaultStall:
		<-ctx.Done()
		return
	case FaultError:
		a.endpoint.refuse(a.w, engineDied())
		return
	case FaultTruncate, FaultGarbage:
		text = text[:len(text)/2]
	}
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Write(text)
}

// text returns the text of the tokens after from, up to to.
func (a *answer) text(from, to int) string {
	var b strings.Builder
	for n := from + 1; n <= to; n++ {
		b.WriteString(a.said.Word(n))
	}
	return b.String()
}
