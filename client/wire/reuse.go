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
	// ours, and its FIN needs another trip, so a connection that old by our clock may be closed already.
	keepAliveMargin = time.Second
	// promptClose is how soon after an answer a server closes a connection whose number of requests was the reason.
	// Idle timeouts are whole seconds (uvicorn 5 s, gunicorn 2 s).
	promptClose = 500 * time.Millisecond
)

// reuse has what decides whether a connection is used again.
type reuse struct {
	dialledAhead bool          // it was made ahead of need
	requests     int           // requests that were sent on it
	idleSince    time.Time     // end of the latest answer, or when it was made
	maxRequests  int           // how many requests the server says it takes, 0 for no limit
	maxIdle      time.Duration // how long the connection may be idle, 0 for no limit
}

// expired reports whether the server is about to close the connection, as it has said.
func (r *reuse) expired() bool {
	return r.maxIdle > 0 && r.requests > 0 && time.Since(r.idleSince) >= r.maxIdle
}

// exhausted reports whether the server allows no further request on the connection.
func (r *reuse) exhausted(h *habit) bool {
	learned := h.maxRequests()
	return r.maxRequests > 0 && r.requests >= r.maxRequests || learned > 0 && r.requests >= learned
}

// keepAlive takes in the value of an answer's Keep-Alive header, such as "timeout=5, max=100" (RFC 2068, section
// 19.7.1.1). The connection is not used again once it has been idle for almost that time or has carried that many
// requests.
func (r *reuse) keepAlive(header string) {
	for header != "" {
		var part string
		part, header, _ = strings.Cut(header, ",")
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(strings.Trim(value, `"`))
		if err != nil || n < 0 || n > 1e9 {
			continue
		}
		switch {
		case strings.EqualFold(name, "timeout"):
			r.maxIdle = keepTime(time.Duration(n) * time.Second)
		case strings.EqualFold(name, "max") && r.maxRequests == 0:
			// Servers mean the number from the start (cpp-httplib) or the number left (Apache). The first answer's
			// number is right or one too few.
			r.maxRequests = max(n, 1)
		}
	}
}

// keepTime returns how long a connection may be kept that the server closes after the given idle time.
func keepTime(timeout time.Duration) time.Duration {
	return max(timeout-keepAliveMargin, timeout/2, time.Nanosecond)
}

// habit is the number of requests that a server accepts on one connection, learned by observation: some servers close a
// connection without announcing it. llama.cpp's server does so after each streamed answer. Without this, every request
// of a closed loop would race with the FIN. It is safe for concurrent use.
type habit struct {
	mu    sync.Mutex
	last  int // requests on the connection that was closed last
	limit int // 0 until two connections in succession were closed after equally many
}

// observe notes that the server closed a connection between two requests, if it did so soon after an answer. It is not
// called for one that was closed while a request was under way: that is a failure of the server, and must stay visible.
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
