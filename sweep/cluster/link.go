package cluster

import (
	"errors"
	"sync"
)

// Link is rank 0's end of a connection to a rank. One goroutine sends and one receives.
type Link interface {
	Send(*ToRank) error
	Receive() (*FromRank, error)
	Close() // ends Send and Receive, which then fail
}

// Uplink is a rank's end of its connection to rank 0. One goroutine sends and one receives.
type Uplink interface {
	Send(*FromRank) error
	Receive() (*ToRank, error)
	Close() // ends Send and Receive, which then fail
}

// Pipe returns both ends of a connection within this process. Messages are handed over as they are.
func Pipe() (Link, Uplink) {
	p := &pipe{down: make(chan *ToRank, pipeDepth), up: make(chan *FromRank, pipeDepth), closed: make(chan struct{})}
	return pipeDown{p}, pipeUp{p}
}

// pipeDepth is how many messages a pipe holds.
const pipeDepth = 64

var errClosed = errors.New("the connection is closed")

type pipe struct {
	down   chan *ToRank
	up     chan *FromRank
	once   sync.Once
	closed chan struct{}
}

func (p *pipe) Close() { p.once.Do(func() { close(p.closed) }) }

type pipeDown struct{ *pipe }

func (p pipeDown) Send(m *ToRank) error        { return give(p.pipe, p.down, m) }
func (p pipeDown) Receive() (*FromRank, error) { return take(p.pipe, p.up) }

type pipeUp struct{ *pipe }

func (p pipeUp) Send(m *FromRank) error    { return give(p.pipe, p.up, m) }
func (p pipeUp) Receive() (*ToRank, error) { return take(p.pipe, p.down) }

func give[T any](p *pipe, to chan<- T, m T) error {
	select {
	case to <- m:
		return nil
	case <-p.closed:
		return errClosed
	}
}

// take returns what was sent before the pipe was closed, too.
func take[T any](p *pipe, from <-chan T) (m T, err error) {
	select {
	case m = <-from:
		return m, nil
	default:
	}
	select {
	case m = <-from:
		return m, nil
	case <-p.closed:
		return m, errClosed
	}
}
