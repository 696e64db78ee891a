package wire

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Errors of a connection that cannot carry another request.
var (
	ErrGone    = errors.New("the server had closed the connection before it was used again")
	ErrRetired = errors.New("the connection was due to be closed")
)

const (
	// keepAliveMargin is subtracted from a server's keep-alive time. The server's clock starts one network trip before
	// ours, and its FIN takes another, so a connection may be closed already when that time is over by our clock.
	keepAliveMargin = time.Second
	// promptClose is how soon after an answer a server closes a connection because of its number of requests. Idle
	// timeouts are whole seconds (uvicorn 5 s, gunicorn 2 s).
	promptClose = 500 * time.Millisecond
)

// reuse decides whether a connection is used again.
type reuse struct {
	dialledAhead bool          // by Warm
	requests     int           // sent so far
	idleSince    time.Time     // end of the latest answer, or when it was made
	maxRequests  int           // announced by the server; 0 for no limit
	maxIdle      time.Duration // announced by the server, less a margin; 0 for no limit
}

// expired reports whether the server is about to close the connection, as announced.
func (r *reuse) expired() bool {
	return r.maxIdle > 0 && r.requests > 0 && time.Since(r.idleSince) >= r.maxIdle
}

func (r *reuse) exhausted(h *habit) bool {
	learned := h.maxRequests()
	return r.maxRequests > 0 && r.requests >= r.maxRequests || learned > 0 && r.requests >= learned
}

// keepAlive reads a Keep-Alive header, such as "timeout=5, max=100" (RFC 2068, section 19.7.1.1).
func (r *reuse) keepAlive(header string) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(strings.Trim(value, `"`))
		if err != nil || n < 0 || n > 1e9 {
			continue
		}
		switch {
		case strings.EqualFold(name, "timeout"):
			r.maxIdle = keepTime(time.Duration(n) * time.Second)
		case strings.EqualFold(name, "max") && r.maxRequests == 0:
			// The number counts from the start (cpp-httplib) or is what is left (Apache). The first answer's is right, or
			// one too few.
			r.maxRequests = max(n, 1)
		}
	}
}

func keepTime(timeout time.Duration) time.Duration {
	return max(timeout-keepAliveMargin, timeout/2, time.Nanosecond)
}

// habit learns how many requests a server accepts on one connection, for servers that close connections without an
// announcement. llama.cpp's server does so after each streamed answer: every request of a closed loop would race with
// the FIN. It is safe for concurrent use.
type habit struct {
	mu    sync.Mutex
	last  int // requests on the connection that was closed last
	limit int // 0 until two connections in succession were closed after equally many
}

// observe learns from a connection that the server closed soon after an answer. It is not called for one that was
// closed during a request: that is a failure of the server, and must stay visible.
func (h *habit) observe(r *reuse) {
	if r.requests == 0 || time.Since(r.idleSince) >= promptClose {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.requests == h.last && (h.limit == 0 || r.requests < h.limit) {
		h.limit = r.requests
	}
	h.last = r.requests
}

func (h *habit) maxRequests() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limit
}
