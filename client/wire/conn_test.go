package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pair returns both ends of a connection over loopback.
func pair(t testing.TB) (*Conn, *net.TCPConn) {
	t.Helper()
	address, accepted := accepting(t)
	near, err := NewPool(address, false, nil, nil, 4, time.Minute).Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	until(t, func() bool { return len(accepted()) > 0 })
	return near, accepted()[0].(*net.TCPConn)
}

// until waits for the kernel to pass on what the other side did.
func until(t testing.TB, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come")
		}
	}
}

// bodyOf reads the rest of a body as it arrives.
func bodyOf(c *Conn) (string, error) {
	var all []byte
	err := c.Each(func(p []byte, _ Arrival) bool {
		all = append(all, p...)
		return false
	})
	return string(all), err
}

// asked returns both ends of a connection whose server has read a request.
func asked(t testing.TB) (*Conn, *net.TCPConn) {
	t.Helper()
	near, far := pair(t)
	ask(t, near, far)
	return near, far
}

func ask(t testing.TB, near *Conn, far net.Conn) {
	t.Helper()
	if err := near.Send([]byte(request)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, len(request))); err != nil {
		t.Fatal(err)
	}
}

const request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

// exchanged sends a request and reads the given answer to it.
func exchanged(t *testing.T, near *Conn, far net.Conn, answer string) (body string, err error) {
	t.Helper()
	ask(t, near, far)
	io.WriteString(far, answer)
	if _, _, err := near.Head(); err != nil {
		return "", err
	}
	return bodyOf(near)
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// A body comes as it was sent, with instants that do not decrease; what came in one receive has one number.
func TestExchange(t *testing.T) {
	near, far := pair(t)
	begin := time.Now()
	if err := near.Send([]byte(request)); err != nil || near.Sent().Before(begin) {
		t.Fatalf("%v, sent %v", err, near.Sent())
	}
	io.WriteString(far, "HTTP/1.1 200 OK\r\nTransfer-")
	time.Sleep(time.Millisecond)
	io.WriteString(far, "Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nto")
	head, began, err := near.Head()
	if err != nil || !began || head.StatusCode != 200 || near.Arrival().At.Before(near.Sent()) {
		t.Fatalf("%+v, %v", head, err)
	}
	var pieces []string
	var arrivals []Arrival
	err = near.Each(func(p []byte, a Arrival) bool {
		pieces, arrivals = append(pieces, string(p)), append(arrivals, a)
		if len(pieces) == 2 {
			io.WriteString(far, "o\r\n0\r\n\r\n")
		}
		return false
	})
	if got := strings.Join(pieces, "|"); got != "hello|to|o" || err != io.EOF {
		t.Fatalf("%s, %v", got, err)
	}
	if arrivals[0] != arrivals[1] || arrivals[2].Seq <= arrivals[1].Seq || arrivals[2].At.Before(arrivals[1].At) {
		t.Errorf("%+v", arrivals)
	}
	if near.End() != near.Arrival().At {
		t.Error("the end did not arrive with the last bytes")
	}
	if near.Release(); !near.pool.HasConnection() {
		t.Error("the connection was not kept")
	}
}

// The end of a connection is seen, whatever its kind: also where it comes together with the last bytes, because a
// receive that does not fill its buffer is followed by no other.
func TestHangups(t *testing.T) {
	const open, length = "HTTP/1.1 200 OK\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"
	for _, tt := range []struct {
		answer string
		reset  bool
		want   string // its error
	}{
		{open, false, "EOF"},
		{open, true, "connection reset by peer"},
		{chunkedHead + "9\r\nhello", false, "unexpected EOF"},
		{chunkedHead + "9\r\nhello", true, "connection reset by peer"},
		{length, false, "unexpected EOF"},
	} {
		for range 10 { // the client does not receive before the end
			near, far := asked(t)
			if tt.reset {
				far.SetLinger(0)
			}
			io.WriteString(far, tt.answer)
			far.Close()
			if _, _, err := near.Head(); err != nil && tt.reset {
				continue // the reset overtook the bytes
			} else if err != nil {
				t.Fatal(err)
			}
			if body, err := bodyOf(near); err == nil || classOf(err) != tt.want {
				t.Errorf("%q, reset %v: %q, %v", tt.answer, tt.reset, body, err)
			}
		}
		near, far := asked(t) // it waits for bytes
		io.WriteString(far, tt.answer)
		near.Head()
		err := near.Each(func([]byte, Arrival) bool {
			time.AfterFunc(time.Millisecond, func() {
				if tt.reset {
					far.SetLinger(0)
				}
				far.Close()
			})
			return false
		})
		if err == nil || classOf(err) != tt.want {
			t.Errorf("%q, reset %v, while it waits: %v", tt.answer, tt.reset, err)
		}
	}
}

// Abort ends a wait, and nothing that follows waits again.
func TestAbort(t *testing.T) {
	near, far := asked(t)
	time.AfterFunc(time.Millisecond, near.Abort)
	if _, _, err := near.Head(); !timedOut(err) {
		t.Errorf("%v", err)
	}
	far.Close()
	if _, _, err := near.Head(); !timedOut(err) {
		t.Errorf("%v", err)
	}
	if near.Release(); near.pool.HasConnection() {
		t.Error("an aborted connection was kept")
	}
}

// A connection that the server has closed, in whatever way, takes no request.
func TestClosedConnectionTakesNoRequest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel is not asked here")
	}
	for name, hangUp := range map[string]func(c *net.TCPConn){
		"FIN":             func(c *net.TCPConn) { c.Close() },
		"RST":             func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"half":            func(c *net.TCPConn) { c.CloseWrite() },
		"words":           func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n") },
		"words and a FIN": func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\n\r\n"); c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			for range 3 {
				if body, err := exchanged(t, near, far, hello); body != "hello" || err != io.EOF {
					t.Fatalf("%q, %v", body, err)
				}
				if near.Ready() != nil {
					t.Fatal("an open connection is not ready")
				}
			}
			hangUp(far)
			until(t, func() bool { return near.Ready() == ErrGone })
		})
	}
}

// A connection is kept only where the answer came to its end and both sides want it.
func TestRelease(t *testing.T) {
	for answer, kept := range map[string]bool{
		hello:                             true,
		"HTTP/1.1 204 No Content\r\n\r\n": true,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: 0\r\n\r\n": true,
		hello + "more": false,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello":            false,
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello":                                 false,
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello":       true,
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nKeep-Alive: max=1\r\n\r\nhello":            false,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nwhat": false,
	} {
		near, far := pair(t)
		if _, err := exchanged(t, near, far, answer); err != io.EOF {
			t.Errorf("%q: %v", answer, err)
		}
		if near.Release(); near.pool.HasConnection() != kept {
			t.Errorf("%q: kept %v", answer, !kept)
		}
	}
	near, far := asked(t)
	io.WriteString(far, hello[:len(hello)-1])
	near.Head()
	if near.Release(); near.pool.HasConnection() {
		t.Error("kept in the middle of an answer")
	}
}

// An answer to a request that the server does not want to its end is read, and costs the connection; so does one whose
// rest nobody reads.
func TestLargeRequest(t *testing.T) {
	large := append([]byte(request), make([]byte, 32<<20)...)
	for name, closes := range map[string]bool{"reads no further": false, "closes": true} {
		near, far := pair(t)
		go func() {
			io.ReadFull(far, make([]byte, len(request)))
			io.WriteString(far, "HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge")
			if closes {
				far.CloseWrite()
				time.Sleep(10 * time.Millisecond)
				far.Close()
			}
		}()
		if err := near.Send(large); err != nil {
			t.Fatal(err)
		}
		head, _, err := near.Head()
		if err != nil || head.StatusCode != 413 {
			t.Fatalf("%s: %+v, %v", name, head, err)
		}
		if body, err := bodyOf(near); body != "large" || err != io.EOF {
			t.Errorf("%s: %q, %v", name, body, err)
		}
		if near.Release(); near.pool.HasConnection() {
			t.Errorf("%s: kept", name)
		}
	}
}

// TLS's session tickets on a connection that has not been used do not speak against it; on a used one nothing may come.
func TestUnreadTLSRecords(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel is not asked here")
	}
	u := httptest.NewUnstartedServer(nil) // has a certificate
	u.StartTLS()
	conf := u.TLS
	u.Close()
	address, accepted := accepting(t)
	p := NewPool(address, true, nil, &tls.Config{InsecureSkipVerify: true}, 1, time.Minute)
	var far *tls.Conn
	shaken := make(chan struct{})
	go func() {
		defer close(shaken)
		for len(accepted()) == 0 {
			time.Sleep(time.Millisecond)
		}
		far = tls.Server(accepted()[0], conf)
		far.Handshake() // sends tickets
	}()
	near, err := p.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	<-shaken
	if err := near.Ready(); err != nil {
		t.Errorf("tickets: %v", err)
	}
	if body, err := exchanged(t, near, far, hello); body != "hello" || err != io.EOF || near.Ready() != nil {
		t.Errorf("%q, %v", body, err)
	}
	// The close_notify comes with the answer, and the connection stays open.
	if _, err := near.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	near.Send(nil)
	io.WriteString(far, hello)
	far.CloseWrite()
	near.Head()
	if body, err := bodyOf(near); body != "hello" || err != io.EOF {
		t.Errorf("%q, %v", body, err)
	}
	until(t, func() bool { return near.Ready() == ErrGone })
}

// What is no HTTP is refused with the first bytes, and without end nothing is read.
func TestHeads(t *testing.T) {
	for answer, want := range map[string]string{
		"\x15\x03\x01\x00\x02\x02\x16":                            `malformed HTTP response "\x15\x03\x01\x00\x02\x02\x16"`,
		"SSH-2.0-OpenSSH_9.6\r\n":                                 `malformed HTTP response "SSH-2.0-OpenSSH_9.6\r"`,
		"HTTP/1.1 what\r\n\r\n":                                   `malformed HTTP status code "what"`,
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n":            `bad Content-Length "x"`,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n":      `unsupported transfer encoding: "gzip"`,
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHead):   errLongHead.Error(),
		strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 50000): errLongHead.Error(),
	} {
		near, far := asked(t)
		go io.WriteString(far, answer)
		_, began, err := near.Head()
		var violation *ProtocolError
		if !errors.As(err, &violation) || err.Error() != want || !began {
			t.Errorf("%.40q: %v", answer, err)
		}
	}
	near, far := pair(t)
	if _, err := exchanged(t, near, far, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"+
		hello); err != io.EOF {
		t.Error(err)
	}
	for said, want := range map[string]error{"": io.EOF, hello[:20]: io.ErrUnexpectedEOF} {
		near, far := asked(t)
		io.WriteString(far, said)
		far.CloseWrite()
		if _, began, err := near.Head(); err != want || began != (said != "") {
			t.Errorf("%q: %v, began %v", said, err, began)
		}
	}
}

// Receiving allocates nothing, and checking a connection costs no memory.
func TestNothingIsAllocated(t *testing.T) {
	near, far := asked(t)
	io.WriteString(far, chunkedHead)
	near.Head()
	chunk := []byte("5\r\nhello\r\n")
	const most = 1000
	n := 0
	allocated := testing.AllocsPerRun(1, func() {
		far.Write(chunk)
		near.Each(func([]byte, Arrival) bool {
			if n++; n%most != 0 {
				far.Write(chunk)
			}
			return n%most == 0
		})
	})
	if allocated > 5 && !raceDetector || n != 2*most { // for a thousand receives; the race detector empties pools
		t.Errorf("%v allocations in %d receives", allocated, n)
	}
	near, _ = pair(t)
	if n := testing.AllocsPerRun(1000, func() { near.Ready() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
