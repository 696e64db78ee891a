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

func (p *peer) say(text string) error { _, err := io.WriteString(p, text); return err }

// half returns the first half of the frames.
func (p *peer) half() string { return strings.Join(p.frames[:len(p.frames)/2], "") }

func (p *peer) whole() string { return strings.Join(p.frames, "") }

// chunks writes parts of a chunked body, each in a chunk of its own.
func (p *peer) chunks(parts ...string) error {
	for _, part := range parts {
		if err := p.say(fmt.Sprintf("%x\r\n%s\r\n", len(part), part)); err != nil {
			return err
		}
	}
	return nil
}

// run reads the request and then takes the steps of a script: words, each with a quoted text where it needs one.
func (p *peer) run(script string) {
	if r, err := http.ReadRequest(p.in); err == nil {
		io.Copy(io.Discard, r.Body)
	}
	for script = strings.TrimSpace(script); script != ""; script = strings.TrimSpace(script) {
		word := strings.Fields(script)[0]
		script = strings.TrimSpace(script[len(word):])
		quoted, _ := strconv.QuotedPrefix(script)
		text, _ := strconv.Unquote(quoted)
		script = script[len(quoted):]
		text = strings.NewReplacer("MEDIA", p.media, "LENGTH", strconv.Itoa(len(p.whole()))).Replace(text)
		faultSteps[word](p, text)
	}
}

// faultSteps are the words of scripts.
var faultSteps = map[string]func(p *peer, text string){
	"say": func(p *peer, text string) { p.say(text) },
	"ok": func(p *peer, header string) {
		p.say("HTTP/1.1 200 OK\r\nContent-Type: " + p.media + "\r\nTransfer-Encoding: chunked\r\n" + header + "\r\n")
	},
	"media":    func(p *peer, text string) { p.media = text },
	"chunk":    func(p *peer, text string) { p.chunks(text) },
	"half":     func(p *peer, _ string) { p.chunks(p.half()) },
	"all":      func(p *peer, _ string) { p.chunks(p.whole()) },
	"but-one":  func(p *peer, _ string) { p.chunks(p.frames[:len(p.frames)-1]...) },
	"error":    func(p *peer, _ string) { p.chunks(p.failing...) },
	"say-half": func(p *peer, _ string) { p.say(p.half()) },
	"say-all":  func(p *peer, _ string) { p.say(p.whole()) },
	"end":      func(p *peer, _ string) { p.say("0\r\n\r\n") },
	"reset":    func(p *peer, _ string) { p.broken.Store(true) },
	"stall":    func(p *peer, _ string) { io.Copy(io.Discard, p.in) }, // until the client gives up
	"gzip":     func(p *peer, _ string) { p.chunks(gzipParts(p.frames...)...) },
	"gzip-half": func(p *peer, _ string) {
		half := len(p.frames) / 2
		p.chunks(gzipParts(p.frames[:half]...)[:half]...)
	},
	"more": func(p *peer, _ string) {
		for n := 0; p.chunks(p.more(n, 100)) == nil; n += 100 {
			time.Sleep(ms)
		}
	},
	"slowly": func(p *peer, text string) {
		for i := 0; i < len(text) && p.say(text[i:i+1]) == nil; i++ {
			time.Sleep(100 * ms)
		}
	},
	"again": func(p *peer, text string) {
		for p.say(text) == nil {
			time.Sleep(100 * ms)
		}
	},
	"swell": func(p *peer, _ string) {
		for x := strings.Repeat("x", 64<<10); p.chunks(x) == nil; {
		}
	},
	"flood": func(p *peer, text string) { // of 100 KB at a time
		for text = strings.Repeat(text, 100_000/len(text)); p.say(text) == nil; {
		}
	},
}

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
	script  string // "none" for a refused connection
}

// serverFaults reads testdata/faults.txt: fourteen faults, most in several forms; and behind an empty line those of the
// chat API alone, which are not in the table.
func serverFaults(t *testing.T) (shared, chat []serverFault) {
	b, err := os.ReadFile("testdata/faults.txt")
	if err != nil {
		t.Fatal(err)
	}
	parse := func(rows string) (all []serverFault) {
		for row := range strings.Lines(strings.TrimSpace(rows)) {
			cells := strings.Split(strings.TrimSuffix(row, "\n"), " | ")
			all = append(all, serverFault{cells[0], Class(strings.TrimPrefix(cells[1], "ok")), cells[2], cells[3]})
		}
		return all
	}
	first, second, _ := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n\n")
	return parse(first), parse(second)
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
	d := testkit.Must(api.DialectByName(name))
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
		"`go test ./client -run TestFaultMatrix -update`, which checks each cell in virtual time: the class, "+
		"that the request ends within\n"+
		"its time limit, that it leaves no goroutine and no connection, and that it allocates less than %d MB.\n\n",
		matrixMemory>>20)
	names := api.Names()
	fmt.Fprintf(&table, "| the server | %s |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)+1))
	peers := map[string]peer{}
	for _, name := range names {
		peers[name] = record(t, name, handlers)
	}
	shared, chat := serverFaults(t)
	for _, fault := range shared {
		fmt.Fprintf(&table, "| %s |", fault.name)
		for _, name := range names {
			t.Run(fault.name+"/"+name, func(t *testing.T) {
				fmt.Fprintf(&table, " %s |", cmp.Or(matrixCell(t, name, fault, peers[name]), "ok"))
			})
		}
		table.WriteString("\n")
	}
	for _, fault := range chat {
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
			if fault.script == "none" {
				return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
			}
			near, far := net.Pipe()
			c := &countedConn{Conn: near, open: &open}
			open.Add(1)
			p := base
			p.Conn, p.in, p.broken = far, bufio.NewReader(far), &c.broken
			go func() {
				defer far.Close()
				p.run(fault.script)
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
	var script atomic.Value // what the server does with the next request, if one comes in time
	s := serveTCP(t, false, func(c *serverConn, _ int) bool {
		p := base
		p.Conn, p.in, p.broken = c.Conn, c.in, &atomic.Bool{}
		p.run(script.Load().(string))
		c.cut(!p.broken.Load())
		return false
	})
	count := func() [2]int {
		files, _ := os.ReadDir("/proc/self/fd")
		return [2]int{len(files), runtime.NumGoroutine()}
	}
	try := func(what string) {
		script.Store(what)
		c, err := New(Options{URL: s.url, Timeout: 25 * ms})
		if err != nil {
			t.Fatal(err)
		}
		if r := doWith(t, t.Context(), c); r.End == Absent {
			t.Errorf("status %q", r.Status)
		}
		c.CloseIdle()
	}
	try("ok all end")
	before := count()
	shared, chat := serverFaults(t)
	for _, fault := range append(shared, chat...) {
		if fault.script != "none" {
			try(fault.script)
		}
	}
	for end := time.Now().Add(20 * time.Second); count()[0] > before[0] || count()[1] > before[1]; time.Sleep(10 * ms) {
		if time.Now().After(end) {
			t.Fatalf("descriptors and goroutines: %v before, %v after", before, count())
		}
	}
}
