package wire

import (
	"testing"
	"time"
)

// The number of requests after which a server closes connections is learned from two in succession, closed soon after
// an answer, and from nothing else.
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
				h.observe(&reuse{requests: requests, idleSince: time.Now()})
			}
			if got := h.maxRequests(); got != tt.most {
				t.Errorf("%d, want %d", got, tt.most)
			}
			if most := max(tt.most, 1); (&reuse{requests: most}).exhausted(&h) != (tt.most > 0) ||
				(&reuse{requests: most - 1}).exhausted(&h) {
				t.Error("it is not applied")
			}
		})
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
	var r reuse
	r.keepAlive("timeout=5, max=2")
	if r.maxIdle != 4*time.Second || r.maxRequests != 2 || r.exhausted(&habit{}) {
		t.Errorf("%+v", r)
	}
	r.requests, r.idleSince = 2, time.Now().Add(-4*time.Second)
	if !r.exhausted(&habit{}) || !r.expired() {
		t.Errorf("%+v", r)
	}
}
