package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"llmsweep/client/testkit"
)

// The number of requests after which a server closes connections is learned from two in succession, closed soon after
// an answer, and from nothing else.
func TestHabit(t *testing.T) {
	for _, tt := range []struct {
		closed []int // requests that connections had carried when the server closed them
		most   int
	}{
		{[]int{3}, 0}, {[]int{3, 3}, 3}, {[]int{3, 4, 3}, 0}, {[]int{3, 3, 1, 1}, 1}, {[]int{1, 1, 3, 3}, 1},
		{[]int{0, 0}, 0}, {[]int{7, 2, 2}, 2},
	} {
		var h habit
		for _, requests := range tt.closed {
			h.observe(&reuse{requests: requests, idleSince: time.Now()})
		}
		most := max(tt.most, 1)
		if got := h.maxRequests(); got != tt.most || (&reuse{requests: most}).exhausted(&h) != (tt.most > 0) ||
			(&reuse{requests: most - 1}).exhausted(&h) {
			t.Errorf("%v: %d, want %d", tt.closed, got, tt.most)
		}
	}
	var h habit
	for range 3 {
		h.observe(&reuse{requests: 2, idleSince: time.Now().Add(-time.Second)}) // an idle timeout
	}
	if h.maxRequests() != 0 {
		t.Errorf("learned %d", h.maxRequests())
	}
}

func TestKeepAlive(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{
		0: 1, time.Second: 500 * time.Millisecond, 2 * time.Second: time.Second, 5 * time.Second: 4 * time.Second,
		time.Minute: 59 * time.Second,
	} {
		if got := keepTime(timeout); got != want {
			t.Errorf("%v: %v, want %v", timeout, got, want)
		}
	}
	for header, want := range map[string]reuse{
		"timeout=5, max=2":              {maxIdle: 4 * time.Second, maxRequests: 2},
		`Timeout="1" , Max="1"`:         {maxIdle: 500 * time.Millisecond, maxRequests: 1},
		"max=4":                         {maxRequests: 4},
		"timeout=soon, max=-1, =, ,max": {},
	} {
		var r reuse
		if r.keepAlive(header); r != want {
			t.Errorf("%s: %+v", header, r)
		}
	}
	r := reuse{requests: 2, maxRequests: 2, maxIdle: 4 * time.Second, idleSince: time.Now().Add(-4 * time.Second)}
	if !r.exhausted(&habit{}) || !r.expired() {
		t.Errorf("%+v", r)
	}
	if r.requests, r.idleSince = 1, time.Now(); r.exhausted(&habit{}) || r.expired() {
		t.Errorf("%+v", r)
	}
}

// A receive has the kernel's timestamp where that is possible, and this program's where it is not. A wall clock that
// was set in between has no effect.
func TestDates(t *testing.T) {
	const ms = time.Millisecond
	base := time.Now()
	// A receive is read at ms[/stamp][f: its buffer is full]->instant#number[k: of the kernel].
	for name, receives := range map[string]string{
		"stamped":          "1/0->0#1k 9/3->3#2k",
		"not stamped":      "1->1#1 2->2#2",
		"the future":       "1/2->1#1 9/5->5#2k",
		"the distant past": "500/400->400#1k 600/200->600#2",
		"never back":       "5->5#1 6/4->5#2k 7/6->6#3k",
		"merged":           "5/3->3#1k 6/3->3#1k 7/4->4#2k",
		"a full buffer":    "5/1f->1#1k 6/2->2#1k 7/3->3#2k",
	} {
		var s socket
		for i, r := range strings.Fields(receives) {
			in, want, _ := strings.Cut(r, "->")
			in, full := strings.CutSuffix(in, "f")
			read, stamped, hasStamp := strings.Cut(in, "/")
			at, stamp, nanos := testkit.Must(time.ParseDuration(read+"ms")), time.Duration(0), int64(0)
			if hasStamp {
				stamp = testkit.Must(time.ParseDuration(stamped + "ms"))
				nanos = base.Add(stamp).UnixNano()
			}
			s.stampReceive(base.Add(at), nanos, full)
			got := fmt.Sprintf("%d#%d", s.last.At.Sub(base)/ms, s.last.Seq)
			if s.last.Kernel {
				got += "k"
			}
			if got != want || i == 0 && s.last.Kernel && s.last.Delay != at-stamp {
				t.Errorf("%s: %s after %v, want %s", name, got, s.last.Delay, r)
			}
		}
	}
	s := socket{}
	s.emptiedAt = base
	if s.stampReceive(base.Add(ms), base.Add(-time.Second).UnixNano(), false); s.last.Kernel {
		t.Error("a stamp from long before the socket was empty was taken")
	}
}
