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
	job     job
	call    *call
	id      string
	created time.Time
	fault   Fault
	faultAt int // tokens sent before it strikes
	w       http.ResponseWriter
	out     *http.ResponseController
	chunks  *encoder
	ready   atomic.Int64
	more    chan struct{}
}

func newAnswer(s *server, w http.ResponseWriter, j job, n uint64, fault Fault, stamps bool) *answer {
	kind := "cmpl"
	if j.chat {
		kind = "chatcmpl"
	}
	a := &answer{
		server:  s,
		job:     j,
		id:      fmt.Sprintf("%s-%016x%016x", kind, mix(s.live.cfg.Seed+n), mix(j.seed+n)),
		created: time.Now(),
		fault:   fault,
		faultAt: max(1, j.seq.OutputTokens/2),
		w:       w,
		out:     http.NewResponseController(w),
		more:    make(chan struct{}, 1),
	}
	a.chunks = newEncoder(s, &a.job, a.id, a.created, stamps)
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
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if a.job.chat {
		a.send(a.chunks.role())
	} else {
		a.out.Flush()
	}
	for sent := 0; sent < a.job.seq.OutputTokens; {
		end := a.chunkEnd(sent)
		if !a.await(ctx, end) || !a.send(a.chunks.tokens(sent, end, a.finishAt(end))) {
			return
		}
		struck := sent < a.faultAt && end >= a.faultAt && a.fault != ""
		sent = end
		if struck && !a.breakStream(ctx) {
			return
		}
	}
	if a.finishAt(a.job.seq.OutputTokens) == "" {
		a.send(a.chunks.finish())
	}
	if a.job.usage {
		a.send(a.chunks.usage(a.call.usage, a.server.live.cfg.PrefixCache))
	}
	a.send([]byte("data: [DONE]\n\n"))
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

// finishAt is the finish reason that rides on the chunk ending with a token. As with vLLM's completions, "length"
// comes with the last text, "stop" by itself; in a chat the reason always has its own chunk.
func (a *answer) finishAt(end int) string {
	if a.job.chat || a.job.finish == "stop" || end < a.job.seq.OutputTokens {
		return ""
	}
	return a.job.finish
}

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
	a.send(fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", e.json()))
}

// breakStream plays the faults of a stream. It returns true if the stream goes on.
func (a *answer) breakStream(ctx context.Context) bool {
	switch a.fault {
	case FaultReset:
		reset(a.out)
	case FaultStall:
		<-ctx.Done()
	case FaultError:
		a.sendError(&apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "EngineCore encountered an issue."})
	case FaultGarbage:
		return a.send([]byte("data: {\"id\":\"garbage\",\"choices\":[{\"delta\":{\"content\":\n\n"))
	}
	return false
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
		writeError(a.w, asAPIError(a.call.err))
		return
	}
	text := a.wholeJSON()
	switch a.fault {
	case FaultReset:
		reset(a.out)
		return
	case FaultStall:
		<-ctx.Done()
		return
	case FaultError:
		writeError(a.w, &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError", Message: "EngineCore encountered an issue."})
		return
	case FaultTruncate, FaultGarbage:
		text = text[:len(text)/2]
	}
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Write(text)
}

func (a *answer) wholeJSON() []byte {
	object := "text_completion"
	choice := fmt.Appendf(nil, `"text":%s`, quote(a.text(0, a.job.seq.OutputTokens)))
	if a.job.chat {
		object = "chat.completion"
		reasoning := a.job.seq.ReasoningTokens
		choice = fmt.Appendf(nil, `"message":{"role":"assistant","content":%s`, quote(a.text(reasoning, a.job.seq.OutputTokens)))
		if reasoning > 0 {
			choice = fmt.Appendf(choice, `,"%s":%s`, a.server.options.ReasoningField, quote(a.text(0, reasoning)))
		}
		choice = append(choice, '}')
	}
	raw := fmt.Appendf(nil, `{"id":"%s","object":"%s","created":%d,"model":%s,"choices":[{"index":0,%s,"logprobs":null,"finish_reason":"%s","stop_reason":null}]`,
		a.id, object, a.created.Unix(), quote(a.server.options.ModelID), choice, a.job.finish)
	if !a.server.options.NoUsage {
		raw = append(raw, `,"usage":`...)
		raw = appendUsage(raw, a.call.usage, a.server.live.cfg.PrefixCache)
	}
	return append(raw, '}')
}

func (a *answer) text(from, to int) string {
	var b strings.Builder
	for n := from + 1; n <= to; n++ {
		b.WriteString(words[wordAt(a.job.seed, n)])
	}
	return b.String()
}
