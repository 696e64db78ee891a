package sim

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// answer is one completion on its way out. The engine only counts its tokens up and rings; the connection's own
// goroutine turns the count into chunks, so that a reader that stalls holds up nobody else.
type answer struct {
	server  *server
	api     *api
	job     job
	call    *call
	id      string
	created time.Time
	fault   Fault
	faultAt int // tokens sent before it strikes
	stamps  bool
	w       http.ResponseWriter
	out     *http.ResponseController
	voice   voice
	ready   atomic.Int64
	more    chan struct{}
}

func newAnswer(s *server, w http.ResponseWriter, to *api, j job, n uint64, fault Fault, stamps bool) *answer {
	a := &answer{
		server:  s,
		api:     to,
		job:     j,
		id:      fmt.Sprintf("%016x%016x", mix(s.live.cfg.Seed+n), mix(j.seed+n)),
		created: time.Now(),
		fault:   fault,
		faultAt: max(1, j.seq.OutputTokens/2),
		stamps:  stamps,
		w:       w,
		out:     http.NewResponseController(w),
		more:    make(chan struct{}, 1),
	}
	a.voice = to.voice(a)
	return a
}

// emit is called by the engine for each token.
func (a *answer) emit(n int, _ time.Time) {
	a.ready.Store(int64(n))
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// stream sends the tokens as they come, each chunk in a write of its own.
func (a *answer) stream(ctx context.Context) {
	a.w.Header().Set("Content-Type", a.api.framing.media)
	if first := a.voice.opening(); first != nil {
		a.send(first)
	} else {
		a.out.Flush()
	}
	for sent := 0; sent < a.job.seq.OutputTokens; {
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
	a.voice.closing(a.call.usage, a.send)
}

// chunkEnd says up to which token the chunk goes that begins after sent. Reasoning and answer do not share a chunk.
func (a *answer) chunkEnd(sent int) int {
	end := sent + a.server.options.ChunkTokens
	if sent == 0 {
		end = 1
	}
	if r := a.job.seq.ReasoningTokens; sent < r {
		end = min(end, r)
	}
	return min(end, a.job.seq.OutputTokens)
}

// last reports whether a chunk ends the answer.
func (a *answer) last(to int) bool { return to == a.job.seq.OutputTokens }

// cached is how much of the prompt was found in the prefix cache; known once there is a token.
func (a *answer) cached() int { return a.call.cached }

// await waits for the n-th token. It returns false if none will come, and has said so to the client if it is there.
func (a *answer) await(ctx context.Context, n int) bool {
	for int(a.ready.Load()) < n {
		select {
		case <-a.more:
		case <-ctx.Done():
			return false
		case <-a.call.done:
			if a.call.err != nil {
				a.sendError(asAPIError(a.call.err))
				return false
			}
		}
	}
	if n == a.job.seq.OutputTokens {
		<-a.call.done // a moment later, under the same lock: the usage is settled
	}
	return true
}

func (a *answer) send(chunk []byte) bool {
	if _, err := a.w.Write(chunk); err != nil {
		return false
	}
	return a.out.Flush() == nil
}

func (a *answer) sendError(e *apiError) {
	a.send(a.api.framing.frame(a.api.refusal(e), a.api.doneAfterError))
}

// breakStream plays the faults of a stream. It returns true if the stream goes on.
func (a *answer) breakStream(ctx context.Context) bool {
	switch a.fault {
	case FaultReset:
		reset(a.out)
	case FaultStall:
		<-ctx.Done()
	case FaultError:
		a.sendError(engineDied())
	case FaultGarbage:
		return a.send(a.api.framing.frame([]byte(`{"id":"garbage","choices":[{"delta":{"content":`), false))
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
	case <-a.call.done:
	case <-ctx.Done():
		return
	}
	if a.call.err != nil {
		a.api.refuse(a.w, asAPIError(a.call.err))
		return
	}
	text := a.voice.whole(a.call.usage)
	switch a.fault {
	case FaultReset:
		reset(a.out)
		return
	case FaultStall:
		<-ctx.Done()
		return
	case FaultError:
		a.api.refuse(a.w, engineDied())
		return
	case FaultTruncate, FaultGarbage:
		text = text[:len(text)/2]
	}
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Write(text)
}

func (a *answer) text(from, to int) string {
	var b strings.Builder
	for n := from + 1; n <= to; n++ {
		b.WriteString(words[wordAt(a.job.seed, n)])
	}
	return b.String()
}
