package load

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// admission lets requests into flight in the order in which they were due, at most limit at a time.
type admission struct {
	limit  int // 0 for none
	server *inServer

	mu       sync.Mutex
	admitted int
	over     bool      // the stage has ended
	queue    list.List // of chan struct{}: the requests held back, oldest first
}

// enter returns when a request may be sent, or when ctx has ended. It reports whether the request had to wait.
func (a *admission) enter(ctx context.Context) (waited bool) {
	a.mu.Lock()
	if a.limit == 0 || a.admitted < a.limit {
		a.admit()
		a.mu.Unlock()
		return false
	}
	turn := make(chan struct{})
	place := a.queue.PushBack(turn)
	a.mu.Unlock()
	select {
	case <-turn: // the request that left has passed its place on
	case <-ctx.Done():
		a.mu.Lock()
		defer a.mu.Unlock()
		select {
		case <-turn: // both at once: the place is taken, and leave passes it on
		default:
			a.queue.Remove(place)
			a.admit() // beyond the limit, for the instant until it leaves
		}
	}
	return true
}

func (a *admission) admit() {
	a.admitted++
	a.server.count(1, false)
}

// leave passes the place of a request to the oldest that waits.
func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first := a.queue.Front(); first != nil && a.admitted <= a.limit {
		close(a.queue.Remove(first).(chan struct{}))
		return // the number in flight stays
	}
	a.admitted--
	a.server.count(-1, a.over)
}

// end lets the next stage count what is in flight.
func (a *admission) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
}

// window counts the requests that were due before the window closed and have not ended.
type window struct {
	mu         sync.Mutex
	inProgress int           // due and not ended
	pending    int           // of those, due before the window closed
	closedAt   time.Duration // negative until then
}

func (w *window) due() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inProgress++
}

func (w *window) ended(due time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inProgress--
	if w.closedAt >= 0 && due <= w.closedAt {
		w.pending--
	}
}

// close reports whether the window was open.
func (w *window) close(now time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closedAt >= 0 {
		return false
	}
	w.closedAt, w.pending = now, w.inProgress
	return true
}

// settled reports whether the window has closed and all its requests have ended.
func (w *window) settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closedAt >= 0 && w.pending <= 0
}
