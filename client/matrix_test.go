package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"llmsweep/client/redact"
	"llmsweep/client/testkit"
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

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/api"
	simserver "llmsweep/client/sim/server"
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

// frame returns data as one frame, without its end.
func (p *peer) frame(data string) string {
	return "data: " + data
}

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

const chunkedHead = "Transfer-Encoding: chunked\r\n"

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
	name  string
	serve func(p *peer) // nil: the connection is refused
	want  Class         // empty for a request that succeeds
}

// serverFaults returns the rows: the fourteen faults, most of them in several forms.
func serverFaults() []serverFault {
	return []serverFault{
		{name: "refuses the connection", want: ClassConnect},
		{name: "closes before the headers", want: ClassReset, serve: func(p *peer) { p.ask() }},
		{name: "resets before the headers", want: ClassReset, serve: func(p *peer) { p.ask(); p.reset() }},
		{name: "resets after the headers", want: ClassReset, serve: func(p *peer) { p.ok(chunkedHead); p.reset() }},
		{name: "resets in mid-stream", want: ClassReset,
			serve: func(p *peer) { p.ok(chunkedHead); p.chunks(p.half()); p.reset() }},
		{name: "never answers", want: ClassTimeout, serve: func(p *peer) { p.ask(); p.stall() }},
		{name: "stalls before the first token", want: ClassTimeout, serve: func(p *peer) { p.ok(chunkedHead); p.stall() }},
		{name: "stalls in mid-stream", want: ClassTimeout,
			serve: func(p *peer) { p.ok(chunkedHead); p.chunks(p.half()); p.stall() }},
		{name: "sends keep-alives without end", want: ClassTimeout, serve: func(p *peer) {
			p.ok(chunkedHead)
			for p.chunks(": ping\n\n") == nil {
				time.Sleep(100 * ms)
			}
		}},
		{name: "cuts the answer, Content-Length", want: ClassTruncated, serve: func(p *peer) {
			p.ok(fmt.Sprintf("Content-Length: %d\r\n", len(p.whole())))
			p.say(p.half())
		}},
		{name: "cuts the answer, chunked", want: ClassTruncated,
			serve: func(p *peer) { p.ok(chunkedHead); p.chunks(p.half()) }},
		{name: "cuts the answer, neither", want: ClassTruncated, serve: func(p *peer) { p.ok(""); p.say(p.half()) }},
		{name: "ends an empty body", want: ClassTruncated, serve: func(p *peer) { p.ok(chunkedHead); p.end() }},
		{name: "sends an error event", want: ClassStreamError,
			serve: func(p *peer) { p.ok(chunkedHead); p.chunks(p.failing...); p.end() }},
		{name: "sends garbage in the stream", want: ClassMalformed, serve: func(p *peer) {
			p.ok(chunkedHead)
			p.chunks(p.half(), p.frame("\x00\xff{]\n\n"))
			p.end()
		}},
		{name: "speaks no HTTP", want: ClassMalformed,
			serve: func(p *peer) { p.ask(); p.say("\x00\x17\x03garbage\r\n\r\n"); p.stall() }},
		{name: "sends a gigantic event", want: ClassMalformed, serve: func(p *peer) {
			p.ok(chunkedHead)
			p.chunks(p.half(), p.frame(`{"a":"`))
			for piece := "10000\r\n" + strings.Repeat("x", 64<<10) + "\r\n"; p.say(piece) == nil; {
			}
		}},
		{name: "goes on beyond the asked length", want: ClassMalformed, serve: func(p *peer) {
			p.ok(chunkedHead)
			for n := 0; p.chunks(p.more(n, 100)) == nil; n += 100 {
				time.Sleep(ms)
			}
		}},
		{name: "names a wrong content type", serve: func(p *peer) { p.media = "text/plain"; p.ok(chunkedHead); p.chunks(p.whole()); p.end() }},
		{name: "sends a web page", want: ClassMalformed, serve: func(p *peer) {
			p.media = "text/html"
			p.ok(chunkedHead)
			p.chunks("<!DOCTYPE html><title>Log in</title>")
			p.end()
		}},
		{name: "compresses with gzip", serve: func(p *peer) {
			p.ok(chunkedHead + "Content-Encoding: gzip\r\n")
			p.chunks(gzipParts(p.frames...)...)
			p.end()
		}},
		{name: "cuts what it compresses", want: ClassTruncated, serve: func(p *peer) {
			p.ok(chunkedHead + "Content-Encoding: gzip\r\n")
			p.chunks(gzipParts(p.frames[:len(p.frames)/2]...)[:len(p.frames)/2]...)
			p.end()
		}},
		{name: "compresses, and breaks it", want: ClassMalformed, serve: func(p *peer) {
			p.ok(chunkedHead + "Content-Encoding: gzip\r\n")
			p.chunks(gzipParts(p.half())[0], strings.Repeat("\xff", 64))
			p.end()
		}},
		{name: "compresses with brotli", want: ClassMalformed, serve: func(p *peer) {
			p.ok(chunkedHead + "Content-Encoding: br\r\n")
			p.chunks("\x0b\x02\x80abc\x03")
			p.end()
		}},
		{name: "speaks HTTP/1.0", serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.0 200 OK\r\nContent-Type: " + p.media + "\r\n\r\n" + p.whole())
		}},
		{name: "speaks HTTP/1.0 and cuts the answer", want: ClassTruncated, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.0 200 OK\r\nContent-Type: " + p.media + "\r\n\r\n" + p.half())
		}},
		{name: "trickles its headers", serve: func(p *peer) {
			p.ask()
			for _, c := range "HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\nConnection: close\r\n\r\n" {
				if p.say(string(c)) != nil {
					return
				}
				time.Sleep(100 * ms)
			}
			p.say(p.whole())
		}},
		{name: "trickles headers without end", want: ClassTimeout, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 200 OK\r\nX-Slow: ")
			for p.say("x") == nil {
				time.Sleep(100 * ms)
			}
		}},
		{name: "sends headers of 2 MB", want: ClassMalformed, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 200 OK\r\n")
			line := "X-Large: " + strings.Repeat("x", 8000) + "\r\n"
			for n := 0; n < 2<<20 && p.say(line) == nil; n += len(line) {
			}
			p.stall()
		}},
		{name: "redirects", want: ClassMalformed, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere/v1\r\nContent-Length: 0\r\n\r\n")
		}},
		{name: "sends 100 and 103 first", serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
			p.say("HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\n" + chunkedHead + "\r\n")
			p.chunks(p.whole())
			p.end()
		}},
		{name: "sends 1xx without end", want: ClassMalformed, serve: func(p *peer) {
			p.ask()
			for many := strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 500); p.say(many) == nil; {
			}
		}},
		{name: "answers 429", want: ClassRateLimited, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
		}},
		{name: "answers 503", want: ClassHTTP5xx, serve: func(p *peer) {
			p.ask()
			p.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")
		}},
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
				got := matrixCell(t, name, fault.serve, peers[name])
				if got != fault.want {
					t.Errorf("class %q, want %q", got, fault.want)
				}
				if got == "" {
					got = "ok"
				}
				fmt.Fprintf(&table, " %s |", got)
			})
		}
		table.WriteString("\n")
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
	if d := cmp.Diff(strings.ReplaceAll(string(golden), "\r\n", "\n"), table.String()); d != "" {
		t.Errorf("%s: run with -update and read the difference\n%s", matrixFile, d)
	}
}

// matrixCell sends one request to a faulty server and returns its class.
func matrixCell(t *testing.T, name string, serve func(*peer), base peer) (class Class) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		dial := func(context.Context, string, string) (net.Conn, error) {
			if serve == nil {
				return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			near, far := net.Pipe()
			c := &countedConn{Conn: near, open: &open}
			open.Add(1)
			p := base
			p.Conn, p.in, p.broken = far, bufio.NewReader(far), &c.broken
			go func() {
				defer far.Close()
				serve(&p)
			}()
			return c, nil
		}
		c, err := New(Options{URL: "http://server", API: name, Dial: dial, Timeout: matrixLimit,
			Params: api.Params{Model: "Qwen2-7B"}})
		if err != nil {
			t.Fatal(err)
		}
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
		case r.Status == StatusIncomplete || r.Status == "":
			t.Errorf("status %q", r.Status)
		case r.Status == StatusError && (r.Class == "" || r.Message == "" || len(r.Message) > redact.MaxMessage):
			t.Errorf("class %q, message %q", r.Class, r.Message)
		case r.Status == StatusOK && r.Chunks() == 0:
			t.Error("it succeeded without a token")
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	faults := make(chan func(*peer), 1)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p := base
			p.Conn, p.in, p.broken = conn, bufio.NewReader(conn), &atomic.Bool{}
			(<-faults)(&p)
			if p.broken.Load() {
				conn.(*net.TCPConn).SetLinger(0)
			}
			conn.Close()
		}
	}()
	count := func() [2]int {
		files, _ := os.ReadDir("/proc/self/fd")
		return [2]int{len(files), runtime.NumGoroutine()}
	}
	one := func(serve func(*peer)) {
		faults <- serve
		if r := do(t, t.Context(), Options{URL: l.Addr().String(), Timeout: 50 * ms}); r.End == Absent {
			t.Errorf("status %q", r.Status)
		}
	}
	one(func(p *peer) { p.ok(""); p.say(p.whole()) })
	before := count()
	for _, fault := range serverFaults() {
		if fault.serve != nil {
			one(fault.serve)
		}
	}
	for end := time.Now().Add(20 * time.Second); count()[0] > before[0] || count()[1] > before[1]; time.Sleep(10 * ms) {
		if time.Now().After(end) {
			t.Fatalf("descriptors and goroutines: %v before, %v after", before, count())
		}
	}
}
