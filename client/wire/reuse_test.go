package wire

import (
	"testing"
	"time"
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
		"never back": {{5 * ms, -1, false, 5 * ms, 1, false}, {6 * ms, 4 * ms, false, 5 * ms, 2, true},
			{7 * ms, 6 * ms, false, 6 * ms, 3, true}},
		"merged": {{5 * ms, 3 * ms, false, 3 * ms, 1, true}, {6 * ms, 3 * ms, false, 3 * ms, 1, true},
			{7 * ms, 4 * ms, false, 4 * ms, 2, true}},
		"a full buffer": {{5 * ms, 1 * ms, true, 1 * ms, 1, true}, {6 * ms, 2 * ms, false, 2 * ms, 1, true},
			{7 * ms, 3 * ms, false, 3 * ms, 2, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var s socket
			for i, r := range receives {
				stamp := int64(0)
				if r.stamp >= 0 {
					stamp = base.Add(r.stamp).UnixNano()
				}
				s.stampReceive(base.Add(r.read), stamp, r.full)
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
	s.emptiedAt = base
	if s.stampReceive(base.Add(ms), base.Add(-time.Second).UnixNano(), false); s.last.Kernel {
		t.Error("a stamp from long before the socket was empty was taken")
	}
}
