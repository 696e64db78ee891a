package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"llmsweep/client/sim"
)

// answer is a completion in transmission. The engine only counts its tokens and signals; the connection's own goroutine
// makes chunks of them, so that a client that stops reading delays no other.
type answer struct {
	*server
	request
	endpoint *endpoint
	running  *sim.Generation // the request inside the engine
	id       string
	created  time.Time
	fault    Fault
	faultAt  int    // tokens sent before the fault
	sumText  string // the last token, where it is the result of a sum
	w        http.ResponseWriter
	out      *http.ResponseController
	encoder  encoder
	buf      []byte
	ready    atomic.Int64  // tokens generated
	more     chan struct{} // signals that ready has grown
}

// newAnswer returns the answer to r, the n-th request, with a fault to inject.
func newAnswer(s *server, w http.ResponseWriter, e *endpoint, r request, n uint64, fault Fault) *answer {
	a := &answer{
		server: s, request: r, endpoint: e, created: time.Now(), fault: fault, faultAt: max(1, r.work.OutputTokens/2),
		id: fmt.Sprintf("%016x%016x", mix(s.config.Seed+n), mix(r.seed+n)),
		w:  w, out: http.NewResponseController(w), more: make(chan struct{}, 1),
	}
	a.encoder = e.encoder(a)
	return a
}

// emit is called by the engine.
func (a *answer) emit(n int, _ time.Time) {
	a.ready.Store(int64(n))
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// setSum ends the answer to the n-th request with a sum, if not negative, or with a wrong one; busy means that the
// engine has other requests. An answer that is cut has no sum.
func (a *answer) setSum(sum int64, busy bool, n uint64) {
	const errSalt, busySalt = 1, 2
	if sum < 0 || a.finish != "stop" {
		return
	}
	draw := func(salt, of uint64) float64 { return Fraction(mix(a.config.Seed ^ mix(salt) ^ mix(of))) }
	wrong := a.config.Habits.Answers
	if draw(errSalt, a.seed) < wrong.Errs || busy && draw(busySalt, n) < wrong.ErrsBusy {
		sum++
	}
	a.sumText = " " + strconv.FormatInt(sum, 10)
}

// text returns the tokens after from, up to to.
func (a *answer) text(from, to int) string {
	var b strings.Builder
	for n := from + 1; n <= to; n++ {
		b.WriteString(a.word(n))
	}
	return b.String()
}

func (a *answer) word(n int) string {
	if a.sumText != "" && n == a.work.OutputTokens {
		return a.sumText
	}
	return Word(a.seed, n)
}

// sendStream sends the tokens as they are generated, each chunk in a write of its own.
func (a *answer) sendStream(ctx context.Context) {
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	a.write(a.encoder.opening(a.buf[:0]))
	for sent := 0; sent < a.work.OutputTokens; {
		end := a.chunkEnd(sent, sent+a.ChunkTokens)
		if sent == 0 {
			end = 1
		}
		ok := a.await(ctx, end)
		if ok && a.config.Speculation != (sim.Speculation{}) { // a step's tokens are one chunk
			end = a.chunkEnd(sent, int(a.ready.Load()))
			ok = a.await(ctx, end)
		}
		if !ok || !a.sendTokens(sent, end) {
			return
		}
		if a.fault != "" && sent < a.faultAt && end >= a.faultAt && !a.breakStream(ctx) {
			return
		}
		sent = end
	}
	usage, _ := a.running.Result()
	b := a.encoder.closing(a.buf[:0], usage)
	if a.endpoint.done {
		b = append(b, done...)
	}
	a.write(b)
}

const done = "data: [DONE]\n\n"

// chunkEnd cuts a chunk at the end of the reasoning, and of the answer.
func (a *answer) chunkEnd(sent, end int) int {
	if r := a.work.ReasoningTokens; sent < r {
		end = min(end, r)
	}
	return min(end, a.work.OutputTokens)
}

// await waits for the n-th token. It returns false where that will not come, after the client was told.
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
	if n == a.work.OutputTokens {
		<-a.running.Done() // follows at once; the usage is final then
	}
	return true
}

// sendTokens sends a chunk. Those of one burst of the habit batches go in one write, as far as the HTTP server's buffer
// has room for them.
func (a *answer) sendTokens(from, to int) bool {
	a.buf = a.encoder.tokens(a.buf[:0], from, to)
	if a.config.Habits.Bursts == (sim.Burst{}) || int(a.ready.Load()) == to {
		return a.write(a.buf)
	}
	_, err := a.w.Write(a.buf)
	return err == nil
}

// write flushes. It returns false where the client has gone.
func (a *answer) write(b []byte) bool {
	if _, err := a.w.Write(b); err != nil {
		return false
	}
	return a.out.Flush() == nil
}

func (a *answer) sendError(e *apiError) {
	b := appendObject(nil, a.endpoint.refusal(e))
	if a.endpoint.done {
		b = append(b, done...)
	}
	a.write(b)
}

// breakStream injects a fault, and returns true where the stream goes on.
func (a *answer) breakStream(ctx context.Context) bool {
	switch a.fault {
	case FaultReset:
		reset(a.out)
	case FaultStall:
		<-ctx.Done()
	case FaultError:
		a.sendError(engineDied())
	case FaultGarbage:
		return a.write([]byte(`data: {"id":"garbage","choices":[{"delta":{"content":` + "\n\n"))
	}
	return false
}

func engineDied() *apiError {
	return &apiError{Status: http.StatusInternalServerError, Kind: "InternalServerError",
		Message: "EngineCore encountered an issue."}
}

func hijack(out *http.ResponseController) net.Conn {
	conn, _, err := out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // no HTTP/1 connection: the server can at least drop the stream
	}
	return conn
}

// reset closes the connection, over TCP with a RST.
func reset(out *http.ResponseController) {
	conn := hijack(out)
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func (a *answer) sendWhole(ctx context.Context) {
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

// drop is for the habit drops: it closes the connection before the first byte of the answer, after a while.
func (a *answer) drop(ctx context.Context) {
	select {
	case <-a.running.Done():
	case <-ctx.Done():
	}
	hijack(a.out).Close()
}

type namedEvent struct {
	kind    string
	members map[string]any
}

func (e namedEvent) MarshalJSON() ([]byte, error) {
	all := map[string]any{"type": e.kind}
	maps.Copy(all, e.members)
	return json.Marshal(all)
}

func appendObject(b []byte, v any) []byte {
	if e, ok := v.(namedEvent); ok {
		b = append(b, "event: "+e.kind+"\n"...)
	}
	b = append(append(b, "data: "...), marshal(v)...)
	return append(b, "\n\n"...)
}

func appendEvent(b []byte, kind string, members map[string]any) []byte {
	return appendObject(b, namedEvent{kind, members})
}

// appendText appends a JSON string. Most texts need no escape.
func appendText(b []byte, text string) []byte {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("\"\\<>&", r) }) {
		return append(b, marshal(text)...)
	}
	return append(append(append(b, '"'), text...), '"')
}

// words are the tokens of answers. Each is one token of the simulated tokenizer whatever precedes it, so that
// tokenizing an answer gives its number of tokens. Some have several bytes, some need an escape in JSON.
var words = [...]string{
	" the", " of", " and", " to", " in", " is", " that", " it", " was", " for", " on", " with", " as", " at", " by",
	" this", " but", " not", " are", " from", " or", " have", " an", " they", " one", " you", " all", " her", " she",
	" we", " him", " been", " has", " when", " who", " will", " more", " no", " if", " out", " so", " said", " what",
	" up", " its", " than", " into", " them", " can", " only", " time", " new", " some", " may", " rate", " load",
	",", ".", ";", ":", "!", "?", "(", ")", "-", "7", "3", "0",
	" café", " naïf", " über", " año", " мир", " быть", " λόγο", "世", "界", "语", "速", "中", "あ", "한",
	"“", "”", "—", "€", "😀", "🚀", "\n", "\"", "\\", "/", "<", "&",
}

// Word returns the n-th token of the answer with the given seed.
func Word(seed uint64, n int) string {
	return words[mix(seed+uint64(n))%uint64(len(words))]
}
