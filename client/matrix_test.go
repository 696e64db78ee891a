package client

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"llmsweep/client/api"
	"llmsweep/client/redact"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/testkit"
)

// matrixFile is the table of classes that TestFaultMatrix makes.
const matrixFile = "../examples/evidence/faults.md"

const (
	matrixLimit  = 30 * time.Second // time limit of a request, in virtual time
	matrixMemory = 96 << 20         // bytes that one request and its faulty server may allocate together
)

// peer is the server's end of a connection in virtual time, with the answer that the server would give without the
// fault.
type peer struct {
	net.Conn
	in      *bufio.Reader
	broken  *atomic.Bool // the other end sees a reset, and not an end
	media   string
	frames  []string // the whole answer
	failing []string // the same, ended by an error event
}

// ask reads the request.
func (p *peer) ask() {
	if r, err := http.ReadRequest(p.in); err == nil {
		io.Copy(io.Discard, r.Body)
	}
}

func (p *peer) say(text string) error { _, err := io.WriteString(p, text); return err }

// half returns the first half of the frames.
func (p *peer) half() string { return strings.Join(p.frames[:len(p.frames)/2], "") }

func (p *peer) whole() string { return strings.Join(p.frames, "") }

// ok reads the request and begins an answer with status 200.
func (p *peer) ok(headers string) {
	p.ask()
	p.say("HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\n" + headers + "\r\n")
}

// chunks writes parts of a chunked body, each in a chunk of its own.
func (p *peer) chunks(parts ...string) error {
	for _, part := range parts {
		if err := p.say(fmt.Sprintf("%x\r\n%s\r\n", len(part), part)); err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) end() { p.say("0\r\n\r\n") }

// reset breaks the connection.
func (p *peer) reset() { p.broken.Store(true) }

// stall says nothing more until the client gives up.
func (p *peer) stall() { io.Copy(io.Discard, p.in) }

const chunked = "Transfer-Encoding: chunked\r\n"

// gzipParts returns parts in gzip, each flushed.
func gzipParts(parts ...string) []string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	var all []string
	for _, part := range parts {
		io.WriteString(w, part)
		w.Flush()
		all = append(all, b.String())
		b.Reset()
	}
	w.Close()
	return append(all, b.String())
}

// serverFault is a row of the matrix.
type serverFault struct {
	name    string
	want    Class  // empty for a request that succeeds
	message string // "" where APIs differ
	serve   func(p *peer)
}

const (
	noReply  = "connection closed by the server before it answered"
	wasReset = "connection reset by the server"
	noFinish = "the stream ended without a finish reason or terminator"
	late     = " within the request's limit of 30s"
)

// body serves the beginning of a chunked body, and goes on with then.
func body(begin func(p *peer), then func(p *peer)) func(p *peer) {
	return func(p *peer) {
		p.ok(chunked)
		begin(p)
		then(p)
	}
}

func nothing(*peer)                 {}
func halfOf(p *peer)                { p.chunks(p.half()) }
func allOf(p *peer)                 { p.chunks(p.whole()) }
func withError(p *peer)             { p.chunks(p.failing...) }
func chunk1(s string) func(p *peer) { return func(p *peer) { p.chunks(s) } }

// says serves a text after the request, and goes on with then.
func says(text string, then func(p *peer)) func(p *peer) {
	return func(p *peer) {
		p.ask()
		p.say(text)
		then(p)
	}
}

// repeats serves a text, and then another again and again until the client has enough.
func repeats(begin, again string, wait time.Duration) func(p *peer) {
	return says(begin, func(p *peer) {
		for p.say(again) == nil {
			time.Sleep(wait)
		}
	})
}

// encoded serves a body in an encoding.
func encoded(name string, parts func(p *peer) []string) func(p *peer) {
	return func(p *peer) {
		p.ok(chunked + "Content-Encoding: " + name + "\r\n")
		p.chunks(parts(p)...)
		p.end()
	}
}

// serverFaults returns the rows of the table: the fourteen faults, most of them in several forms.
func serverFaults() []serverFault {
	return []serverFault{
		{"refuses the connection", ClassConnect, "connection refused", nil},
		{"closes before the headers", ClassReset, noReply, says("", nothing)},
		{"resets before the headers", ClassReset, wasReset, says("", (*peer).reset)},
		{"resets after the headers", ClassReset, wasReset, body(nothing, (*peer).reset)},
		{"resets in mid-stream", ClassReset, wasReset, body(halfOf, (*peer).reset)},
		{"never answers", ClassTimeout, "no answer" + late, says("", (*peer).stall)},
		{"stalls before the first token", ClassTimeout, "no token" + late, body(nothing, (*peer).stall)},
		{"stalls in mid-stream", ClassTimeout, "no end of the answer" + late, body(halfOf, (*peer).stall)},
		{"sends keep-alives without end", ClassTimeout, "no token" + late, body(nothing, func(p *peer) {
			for p.chunks(": ping\n\n") == nil {
				time.Sleep(100 * ms)
			}
		})},
		{"cuts the answer, Content-Length", ClassTruncated, noFinish, func(p *peer) {
			p.ok(fmt.Sprintf("Content-Length: %d\r\n", len(p.whole())))
			p.say(p.half())
		}},
		{"cuts the answer, chunked", ClassTruncated, noFinish, body(halfOf, nothing)},
		{"cuts the answer, neither", ClassTruncated, noFinish, func(p *peer) { p.ok(""); p.say(p.half()) }},
		{"ends an empty body", ClassTruncated, "the answer's body is empty", body(nothing, (*peer).end)},
		{"sends an error event", ClassStreamError, "", body(withError, (*peer).end)},
		{"sends garbage in the stream", ClassMalformed, "a chunk is not JSON: \ufffd{]",
			body(halfOf, func(p *peer) { p.chunks("data: \x00\xff{]\n\n"); p.end() })},
		{"speaks no HTTP", ClassMalformed, "", says("\x00\x17\x03garbage\r\n\r\n", (*peer).stall)},
		{"sends a gigantic event", ClassMalformed, "", body(halfOf, func(p *peer) {
			p.chunks("data: {\"a\":\"")
			for piece := "10000\r\n" + strings.Repeat("x", 64<<10) + "\r\n"; p.say(piece) == nil; {
			}
		})},
		{"goes on beyond the asked length", ClassMalformed, "", body(nothing, func(p *peer) {
			for n := 0; p.chunks(p.more(n, 100)) == nil; n += 100 {
				time.Sleep(ms)
			}
		})},
		{"names a wrong content type", "", "", func(p *peer) { p.media = "text/plain"; body(allOf, (*peer).end)(p) }},
		{"sends a web page", ClassMalformed, "HTML instead of an event stream (Log in)", func(p *peer) {
			p.media = "text/html"
			body(chunk1("<!DOCTYPE html><title>Log in</title>"), (*peer).end)(p)
		}},
		{"compresses with gzip", "", "", encoded("gzip", func(p *peer) []string { return gzipParts(p.frames...) })},
		{"cuts what it compresses", ClassTruncated, noFinish, encoded("gzip", func(p *peer) []string {
			return gzipParts(p.frames[:len(p.frames)/2]...)[:len(p.frames)/2]
		})},
		{"compresses, and breaks it", ClassMalformed, "", encoded("gzip", func(p *peer) []string {
			return []string{gzipParts(p.half())[0], strings.Repeat("\xff", 64)}
		})},
		{"compresses with brotli", ClassMalformed, "",
			encoded("br", func(*peer) []string { return []string{"\x0b\x02\x80abc\x03"} })},
		{"speaks HTTP/1.0", "", "", func(p *peer) {
			says("HTTP/1.0 200 OK\r\nContent-Type: "+p.media+"\r\n\r\n"+p.whole(), nothing)(p)
		}},
		{"speaks HTTP/1.0 and cuts the answer", ClassTruncated, noFinish, func(p *peer) {
			says("HTTP/1.0 200 OK\r\nContent-Type: "+p.media+"\r\n\r\n"+p.half(), nothing)(p)
		}},
		{"trickles its headers", "", "", func(p *peer) {
			p.ask()
			for _, c := range "HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\nConnection: close\r\n\r\n" {
				if p.say(string(c)) != nil {
					return
				}
				time.Sleep(100 * ms)
			}
			p.say(p.whole())
		}},
		{"trickles headers without end", ClassTimeout, "no answer" + late,
			repeats("HTTP/1.1 200 OK\r\nX-Slow: ", "x", 100*ms)},
		{"sends headers of 2 MB", ClassMalformed, "", repeats("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("x", 8000)+"\r\n", 0)},
		{"redirects", ClassMalformed, "307 Temporary Redirect: redirects to http://elsewhere/v1; give that URL instead",
			says("HTTP/1.1 307 No\r\nLocation: http://elsewhere/v1\r\nContent-Length: 0\r\n\r\n", nothing)},
		{"sends 100 and 103 first", "", "", func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			p.say("HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\n" + chunked + "\r\n")
			p.chunks(p.whole())
			p.end()
		}},
		{"sends 1xx without end", ClassMalformed, "", repeats("", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 500), 0)},
		{"answers 429", ClassRateLimited, "429 Too Many Requests (retry after 1)",
			says("HTTP/1.1 429 No\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n", nothing)},
		{"answers 503", ClassHTTP5xx, "503 Service Unavailable: busy",
			says("HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy", nothing)},
	}
}

// chatFaults are faults of the chat API alone, beside the table.
func chatFaults() []serverFault {
	return []serverFault{
		{"closes after the finish reason", "", "", func(p *peer) {
			p.ok(chunked)
			p.chunks(p.frames[:len(p.frames)-1]...)
		}},
		{"closes after [DONE]", "", "", body(allOf, nothing)},
		{"resets after [DONE]", "", "", body(allOf, (*peer).reset)},
		{"sends no chunks", ClassMalformed, "invalid byte in chunk length", body(nothing, func(p *peer) { p.say("zz\r\n") })},
		{"speaks TLS", ClassMalformed, "the server speaks TLS on this port", says("\x15\x03\x01\x00\x02\x02\x16", nothing)},
		{"switches protocols", ClassMalformed, "",
			says("HTTP/1.1 101 No\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", (*peer).stall)},
	}
}

// runningCount matches the counts of tokens so far, which grow from frame to frame.
var runningCount = regexp.MustCompile(`"(completion_tokens|output_tokens)":\d+`)

// more returns frames with text, as in the middle of an answer; n were sent before.
func (p *peer) more(n, frames int) string {
	var b strings.Builder
	middle := p.frames[len(p.frames)/2]
	if !runningCount.MatchString(middle) {
		return strings.Repeat(middle, frames)
	}
	for i := range frames {
		b.WriteString(runningCount.ReplaceAllString(middle, `"$1":`+strconv.Itoa(100+n+i)))
	}
	return b.String()
}

// record returns an API's answer to a request for 24 tokens, and the same with a fault, both cut into frames. The
// simulated server, which shares no code with the client, writes them.
func record(t *testing.T, name string, handlers map[string]http.Handler) peer {
	t.Helper()
	d, err := api.DialectByName(name)
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.Encode(request24, &api.Params{Model: "Qwen2-7B", Fields: api.AllFields})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(h http.Handler, fault string) (int, string, []string) {
		r := httptest.NewRequest(http.MethodPost, d.Path(), bytes.NewReader(body))
		if fault != "" {
			r.Header.Set("X-Sim-Fault", fault)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		frames := strings.SplitAfter(w.Body.String(), "\n\n")
		return w.Code, w.Header().Get("Content-Type"), frames[:len(frames)-1]
	}
	for _, engine := range simserver.Engines() {
		status, media, frames := answer(handlers[engine], "")
		if status == http.StatusOK && len(frames) > 4 {
			_, _, failing := answer(handlers[engine], "error")
			return peer{media: media, frames: frames, failing: failing}
		}
	}
	t.Fatalf("no simulated engine speaks %s, so its faults are not tested", name)
	return peer{}
}

// TestFaultMatrix injects each fault into each API. Each request ends in its class, in time, in bounded memory, without
// leaving a goroutine (which synctest would find) or a connection. The classes are committed as a table; run with
// -update to renew it.
func TestFaultMatrix(t *testing.T) {
	handlers := map[string]http.Handler{}
	for _, engine := range simserver.Engines() {
		handlers[engine] = simulatedHandler(t, simserver.Options{Engine: engine})
	}
	var table strings.Builder
	fmt.Fprintf(&table, "# What becomes of a request when the server fails\n\n"+
		"Each cell is the class in which a request ends (`llmsweep help errors`), `ok` where it succeeds. Made by\n"+
		"`go test ./client -run TestFaultMatrix -update`, which checks each cell in virtual time: the class, that the request ends within\n"+
		"its time limit, that it leaves no goroutine and no connection, and that it allocates less than %d MB.\n\n",
		matrixMemory>>20)
	names := api.Names()
	fmt.Fprintf(&table, "| the server | %s |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)+1))
	peers := map[string]peer{}
	for _, name := range names {
		peers[name] = record(t, name, handlers)
	}
	for _, fault := range serverFaults() {
		fmt.Fprintf(&table, "| %s |", fault.name)
		for _, name := range names {
			t.Run(fault.name+"/"+name, func(t *testing.T) {
				fmt.Fprintf(&table, " %s |", cmp.Or(matrixCell(t, name, fault, peers[name]), "ok"))
			})
		}
		table.WriteString("\n")
	}
	for _, fault := range chatFaults() {
		t.Run(fault.name, func(t *testing.T) { matrixCell(t, "chat", fault, peers["chat"]) })
	}
	if *testkit.Update {
		if err := os.WriteFile(matrixFile, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(strings.ReplaceAll(string(golden), "\r\n", "\n"), table.String()); d != "" {
		t.Errorf("%s: run with -update and read the difference\n%s", matrixFile, d)
	}
}

// matrixCell sends one request to a faulty server, and returns its class.
func matrixCell(t *testing.T, name string, fault serverFault, base peer) (class Class) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		dial := func(context.Context, string, string) (net.Conn, error) {
			if fault.serve == nil {
				return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			near, far := net.Pipe()
			c := &countedConn{Conn: near, open: &open}
			open.Add(1)
			p := base
			p.Conn, p.in, p.broken = far, bufio.NewReader(far), &c.broken
			go func() {
				defer far.Close()
				fault.serve(&p)
			}()
			return c, nil
		}
		c := newClient(t, Options{URL: "http://server", API: name, Dial: dial, Timeout: matrixLimit,
			Params: api.Params{Model: "Qwen2-7B"}})
		r := doWith(t, t.Context(), c)
		c.CloseIdle()
		synctest.Wait()
		if n := open.Load(); n != 0 {
			t.Errorf("%d connections were left open", n)
		}
		if r.End == Absent || r.End > matrixLimit || time.Since(r.Epoch) > matrixLimit {
			t.Errorf("ended at %v, back after %v", r.End, time.Since(r.Epoch))
		}
		switch {
		case r.Class != fault.want || fault.message != "" && r.Message != fault.message:
			t.Errorf("class %q, message %q; want %q, %q", r.Class, r.Message, fault.want, fault.message)
		case r.Class == "" && (r.Status != StatusOK || r.Chunks() == 0):
			t.Errorf("status %q, %d chunks", r.Status, r.Chunks())
		case r.Class != "" && (r.Status != StatusError || r.Message == "" || len(r.Message) > redact.MaxMessage):
			t.Errorf("status %q, message %q", r.Status, r.Message)
		}
		class = r.Class
		time.Sleep(time.Second) // the server notices that the client has gone
	})
	runtime.ReadMemStats(&after)
	// With -short the race detector runs, which allocates for itself.
	if used := after.TotalAlloc - before.TotalAlloc; !testing.Short() && used > matrixMemory {
		t.Errorf("%d MB were allocated", used>>20)
	}
	return class
}

// countedConn is the client's end of a connection in virtual time.
type countedConn struct {
	net.Conn
	open   *atomic.Int64
	closed atomic.Bool
	broken atomic.Bool // its end is a reset
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) && c.broken.Load() {
		err = &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return n, err
}

func (c *countedConn) Close() error {
	if !c.closed.Swap(true) {
		c.open.Add(-1)
	}
	return c.Conn.Close()
}

// Over real connections no fault leaves a descriptor or a goroutine behind.
func TestFaultsLeaveNothing(t *testing.T) {
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Skip("needs /proc to count descriptors")
	}
	base := record(t, "chat", map[string]http.Handler{"vllm": simulatedHandler(t, simserver.Options{})})
	faults := make(chan func(*peer), 1)
	s := serveTCP(t, false, func(c *serverConn, _ int) bool {
		p := base
		p.Conn, p.in, p.broken = c.Conn, c.in, &atomic.Bool{}
		(<-faults)(&p)
		c.cut(!p.broken.Load())
		return false
	})
	count := func() [2]int {
		files, _ := os.ReadDir("/proc/self/fd")
		return [2]int{len(files), runtime.NumGoroutine()}
	}
	try := func(serve func(*peer)) {
		faults <- serve
		c, err := New(Options{URL: s.url, Timeout: 25 * ms})
		if err != nil {
			t.Fatal(err)
		}
		if r := doWith(t, t.Context(), c); r.End == Absent {
			t.Errorf("status %q", r.Status)
		}
		c.CloseIdle()
	}
	try(func(p *peer) { p.ok(""); p.say(p.whole()) })
	before := count()
	for _, fault := range append(serverFaults(), chatFaults()...) {
		if fault.serve != nil {
			try(fault.serve)
		}
	}
	for end := time.Now().Add(20 * time.Second); count()[0] > before[0] || count()[1] > before[1]; time.Sleep(10 * ms) {
		if time.Now().After(end) {
			t.Fatalf("descriptors and goroutines: %v before, %v after", before, count())
		}
	}
}
