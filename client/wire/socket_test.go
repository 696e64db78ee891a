package wire

import (
	"net"
	"testing"
	"time"
)

// A receive has the kernel's timestamp where that is possible, and this program's where it is not. A wall clock that was
// set in between has no effect.
func TestDates(t *testing.T) {
	const ms = time.Millisecond
	base := time.Now()
	type receive struct {
		read   time.Duration // when the read returned
		stamp  time.Duration // the kernel's, from base; negative for none
		full   bool
		at     time.Duration // wanted
		seq    int64
		kernel bool
	}
	for name, receives := range map[string][]receive{
		"stamped":          {{1 * ms, 0, false, 0, 1, true}, {9 * ms, 3 * ms, false, 3 * ms, 2, true}},
		"not stamped":      {{1 * ms, -1, false, 1 * ms, 1, false}, {2 * ms, -1, false, 2 * ms, 2, false}},
		"the future":       {{1 * ms, 2 * ms, false, 1 * ms, 1, false}, {9 * ms, 5 * ms, false, 5 * ms, 2, true}},
		"the distant past": {{500 * ms, 400 * ms, false, 400 * ms, 1, true}, {600 * ms, 200 * ms, false, 600 * ms, 2, false}},
		"never back":       {{5 * ms, -1, false, 5 * ms, 1, false}, {6 * ms, 4 * ms, false, 5 * ms, 2, true}, {7 * ms, 6 * ms, false, 6 * ms, 3, true}},
		"merged":           {{5 * ms, 3 * ms, false, 3 * ms, 1, true}, {6 * ms, 3 * ms, false, 3 * ms, 1, true}, {7 * ms, 4 * ms, false, 4 * ms, 2, true}},
		"a full buffer":    {{5 * ms, 1 * ms, true, 1 * ms, 1, true}, {6 * ms, 2 * ms, false, 2 * ms, 1, true}, {7 * ms, 3 * ms, false, 3 * ms, 2, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s socket
			for i, r := range receives {
				stamp := int64(0)
				if r.stamp >= 0 {
					stamp = base.Add(r.stamp).UnixNano()
				}
				s.note(base.Add(r.read), stamp, r.full)
				got := s.last
				if got.At.Sub(base) != r.at || got.Seq != r.seq || got.Kernel != r.kernel {
					t.Errorf("%d: at %v, number %d, kernel %v; want %+v", i, got.At.Sub(base), got.Seq, got.Kernel, r)
				}
				if r.kernel && r.at == r.stamp && i == 0 && got.Delay != r.read-r.stamp {
					t.Errorf("delay %v", got.Delay)
				}
			}
		})
	}
	s := socket{}
	s.empty = base
	if s.note(base.Add(ms), base.Add(-time.Second).UnixNano(), false); s.last.Kernel {
		t.Error("a stamp from long before the socket was empty was taken")
	}
}

// pair returns both ends of a connection over loopback.
func pair(t testing.TB) (*Conn, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := NewDialer(nil, nil, time.Minute).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near.(*Conn), far
}

// A Conn behaves as net.Conn requires for deadlines, Close and the end.
func TestConn(t *testing.T) {
	b := make([]byte, 16)
	near, far := pair(t)
	near.SetReadDeadline(time.Now().Add(time.Millisecond))
	if _, err := near.Read(b); err == nil || !err.(net.Error).Timeout() {
		t.Errorf("a deadline passed: %v", err)
	}
	near.SetReadDeadline(time.Time{})
	if n, err := near.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing to read into: %d, %v", n, err)
	}
	far.Write([]byte("hello"))
	if n, err := near.Read(b[:2]); n != 2 || err != nil || string(b[:2]) != "he" {
		t.Errorf("%d %q %v", n, b, err)
	}
	first := near.socket.last.Seq
	if n, err := near.Read(b); n != 3 || err != nil || string(b[:3]) != "llo" || near.socket.last.Seq != first {
		t.Errorf("%d %q %v, numbers %d and %d", n, b, err, first, near.socket.last.Seq)
	}
	far.Close()
	if n, err := near.Read(b); n != 0 || err.Error() != "EOF" {
		t.Errorf("%d, %v", n, err)
	}
	near, _ = pair(t)
	go func() { time.Sleep(time.Millisecond); near.Close() }()
	if _, err := near.Read(b); err == nil {
		t.Error("read on after Close")
	}
	near, far = pair(t)
	far.(*net.TCPConn).SetLinger(0)
	far.Close()
	if _, err := near.Read(b); classOf(err) != "connection reset by peer" {
		t.Errorf("reset: %v", err)
	}
}

// A Watch records only its own request, not what precedes or follows it.
func TestWatch(t *testing.T) {
	near, far := pair(t)
	b := make([]byte, 256)
	var w Watch
	say := func(s string) {
		t.Helper()
		far.Write([]byte(s))
		for n := 0; n < len(s); {
			k, err := near.Read(b)
			if err != nil {
				t.Fatal(err)
			}
			n += k
		}
	}
	say("before")
	w.Attach(near, false)
	if _, ok := w.Sent(); ok {
		t.Error("sent before anything was written")
	}
	before := time.Now()
	near.Write([]byte("GET"))
	near.Write([]byte(" /"))
	if sent, ok := w.Sent(); !ok || sent.Before(before) {
		t.Errorf("sent %v", sent)
	}
	say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	if head, ok := w.Head(); !ok || head.Before(before) || len(w.Take(nil)) != 0 {
		t.Errorf("head %v", head)
	}
	say("5\r\nhel")
	say("lo\r\n")
	say("0\r\n\r\n")
	got := w.Take(nil)
	if len(got) != 2 || got[0].End != 3 || got[1].End != 5 || got[1].Seq <= got[0].Seq || got[1].At.Before(got[0].At) || got[0].At.Before(before) {
		t.Errorf("%+v", got)
	}
	if end, ok := w.End(); !ok || end.Before(got[1].At) {
		t.Errorf("end %v", end)
	}
	w.Detach()
	say("after")
	if w.Take(nil) != nil || near.socket.watch.Load() != nil {
		t.Error("still watching")
	}
	if w.Reset(); !w.sent.IsZero() {
		t.Error("not forgotten")
	}
}

// Receiving allocates nothing.
func TestReadAllocatesNothing(t *testing.T) {
	near, far := pair(t)
	var w Watch
	w.Attach(near, false)
	event, b := make([]byte, 250), make([]byte, 4096)
	if n := testing.AllocsPerRun(1000, func() { far.Write(event); near.Read(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRead receives one event at a time.
func BenchmarkRead(b *testing.B) {
	near, far := pair(b)
	event, buf := make([]byte, 250), make([]byte, 4096)
	b.ReportAllocs()
	for b.Loop() {
		far.Write(event)
		near.Read(buf)
	}
}
