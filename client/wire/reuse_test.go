package wire

import (
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"
)

// ask writes a request and reads its answer, on a connection that is kept.
func ask(t *testing.T, w *Watch, near *Conn, far net.Conn) error {
	t.Helper()
	w.Reset()
	w.Attach(near, true)
	if _, err := near.Write([]byte("POST /")); err != nil {
		return err
	}
	b := make([]byte, 256)
	if _, err := far.Read(b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Read(b); err != nil {
		t.Fatal(err)
	}
	w.Answered()
	return nil
}

// until waits for the kernel to pass on what the other side did.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come")
		}
	}
}

// A connection that the server has closed, in whatever way, takes no request, and the server provably has nothing of it.
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
			var w Watch
			for range 3 {
				if err := ask(t, &w, near, far); err != nil {
					t.Fatal(err)
				}
			}
			hangUp(far.(*net.TCPConn))
			until(t, func() bool { return !near.socket.alive(false) })
			w.Reset()
			w.Attach(near, true)
			n, err := near.Write([]byte("POST /"))
			_, sent := w.Sent()
			unseen, ours := w.Withdraw()
			if n != 0 || err != errGone || sent || !unseen || ours {
				t.Errorf("%d, %v; sent %v, unseen %v, ours %v", n, err, sent, unseen, ours)
			}
		})
	}
}

// Nothing is written after a request has been withdrawn; one of which something was written cannot be.
func TestWithdraw(t *testing.T) {
	near, _ := pair(t)
	var w Watch
	if unseen, _ := w.Withdraw(); unseen {
		t.Error("withdrawn without a connection")
	}
	w.Attach(near, true)
	if unseen, ours := w.Withdraw(); !unseen || ours {
		t.Errorf("unseen %v, ours %v", unseen, ours)
	}
	if n, err := near.Write([]byte("POST /")); n != 0 || err == nil {
		t.Errorf("%d bytes written, %v", n, err)
	}
	w.Detach()
	if n, err := near.Write([]byte("POST /")); n != 0 || err == nil {
		t.Errorf("%d bytes written, %v", n, err)
	}
	near, far := pair(t)
	w.Attach(near, true)
	near.Write([]byte("P"))
	far.Close()
	if unseen, _ := w.Withdraw(); unseen {
		t.Error("withdrawn after a byte was written")
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan *tls.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		far := tls.Server(c, conf)
		far.Handshake()
		far.Write([]byte("x")) // as a ticket would: Go sends its own within the handshake
		accepted <- far
	}()
	d := NewDialer(nil, &tls.Config{InsecureSkipVerify: true}, time.Minute)
	c, err := d.DialTLS(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	near, far := c.(*Conn), <-accepted
	until(t, func() bool { return !near.socket.alive(false) }) // there is something to read
	if err := near.ready(); err != nil {
		t.Errorf("tickets: %v", err)
	}
	far.NetConn().Close()
	until(t, func() bool { return near.ready() == errGone }) // a FIN behind them
}

// The number of requests after which a server closes connections is learned from two in succession, closed soon after an
// answer, and from nothing else.
func TestHabit(t *testing.T) {
	for name, tt := range map[string]struct {
		closed []int // requests that connections had carried when the server closed them
		most   int
	}{
		"one":             {[]int{3}, 0},
		"two":             {[]int{3, 3}, 3},
		"not alike":       {[]int{3, 4, 3}, 0},
		"fewer later":     {[]int{3, 3, 1, 1}, 1},
		"more later":      {[]int{1, 1, 3, 3}, 1},
		"never used":      {[]int{0, 0}, 0},
		"alike after all": {[]int{7, 2, 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var h habit
			for _, requests := range tt.closed {
				c := &Conn{socket: &socket{}, habit: &h}
				c.socket.last.At = time.Now()
				c.reuse.asked, c.reuse.answers = requests, requests
				c.left(io.EOF)
			}
			if got := h.most(); got != tt.most {
				t.Errorf("%d, want %d", got, tt.most)
			}
		})
	}
	var h habit
	for range 3 {
		late := &Conn{socket: &socket{}, habit: &h} // an idle timeout
		late.socket.last.At = time.Now().Add(-time.Second)
		late.reuse.asked, late.reuse.answers = 2, 2
		late.left(io.EOF)
		dropped := &Conn{socket: &socket{}, habit: &h} // a request was under way
		dropped.socket.last.At = time.Now()
		dropped.reuse.asked, dropped.reuse.answers = 2, 1
		dropped.left(io.EOF)
		ours := &Conn{socket: &socket{}, habit: &h}
		ours.socket.last.At = time.Now()
		ours.reuse.asked, ours.reuse.answers = 2, 2
		ours.left(net.ErrClosed)
	}
	if h.most() != 0 {
		t.Errorf("learned %d", h.most())
	}
}

func TestKeepFor(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0: 1, time.Second: 500 * time.Millisecond, 2 * time.Second: time.Second, 5 * time.Second: 4 * time.Second, time.Minute: 59 * time.Second,
	} {
		if got := keepFor(timeout); got != want {
			t.Errorf("%v: %v, want %v", timeout, got, want)
		}
	}
}

// Checking a connection costs no memory.
func TestCheckAllocatesNothing(t *testing.T) {
	near, _ := pair(t)
	if n := testing.AllocsPerRun(1000, func() {
		if err := near.ready(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCheck asks the kernel whether a kept connection can be used.
func BenchmarkCheck(b *testing.B) {
	near, _ := pair(b)
	b.ReportAllocs()
	for b.Loop() {
		near.ready()
	}
}
