package cluster

import (
	"errors"
	"sync"
)

// Conn is an end of a connection between rank 0 and a rank, which sends S and receives R. One goroutine sends and one receives.
type Conn[S, R any] interface {
	Send(S) error
	Receive() (R, error)
	Close() // ends Send and Receive, which then fail
}

// Link is rank 0's end of a connection to a rank, and Uplink a rank's end of its connection to rank 0.
type (
	Link   = Conn[ToRank, FromRank]
	Uplink = Conn[FromRank, ToRank]
)

// Pipe returns both ends of a connection within this process. Messages are handed over as they are.
func Pipe() (Link, Uplink) {
	down, up, end := make(chan ToRank, pipeDepth), make(chan FromRank, pipeDepth), &end{closed: make(chan struct{})}
	return pipe[ToRank, FromRank]{down, up, end}, pipe[FromRank, ToRank]{up, down, end}
}

// pipeDepth is how many messages a pipe holds.
const pipeDepth = 64

var errClosed = errors.New("the connection is closed")

type end struct {
	once   sync.Once
	closed chan struct{}
}

// Close closes both ends.
func (e *end) Close() { e.once.Do(func() { close(e.closed) }) }

type pipe[S, R any] struct {
	to   chan<- S
	from <-chan R
	*end
}

// Send hands a message over.
func (p pipe[S, R]) Send(m S) error {
	select {
	case p.to <- m:
		return nil
	case <-p.closed:
		return errClosed
	}
}

// Receive returns what was sent before the pipe was closed, too.
func (p pipe[S, R]) Receive() (m R, err error) {
	select {
	case m = <-p.from:
		return m, nil
	default:
	}
	select {
	case m = <-p.from:
		return m, nil
	case <-p.closed:
		return m, errClosed
	}
}
