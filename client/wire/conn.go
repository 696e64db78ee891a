// Package wire is HTTP/1.1 for measurements: a [Conn] tells when a request's first byte was written and when each byte
// of the answer arrived, by the kernel's timestamps where there are any. It does not look into bodies.
package wire

import (
	"errors"
	"net"
	"time"
)

const (
	// receiveSize is the size of one receive. A larger one would join events of a stream that is read late; one smaller
	// than an event would split it.
	receiveSize = 4 << 10
	// maxFirstWrite is what the kernels of both sides buffer before the server reads.
	maxFirstWrite = 64 << 10
	// lateAnswerTime is how long an answer is awaited after a failed write: a server that refuses the rest of a request
	// may have said why.
	lateAnswerTime = 100 * time.Millisecond
)

// Conn is a connection to a server. It carries a request and its answer at a time: Send, Head, Each, and Release or
// Close. One goroutine at a time uses it; only Abort may be called at any time.
type Conn struct {
	net.Conn // the socket, or TLS over it
	socket   *socket
	pool     *Pool
	reuse    reuse

	sent     time.Time     // when the first byte of the request was written
	writing  chan struct{} // closed when a large request has been written; nil for one that was written at once
	writeErr error
	reusable bool // the answer allows another request on the connection
	body     framing

	pending    []byte // received and not used
	pendingBuf []byte // has pending between two receives
	piece      []byte // of the body, not yet returned by Read
}

// WasIdle reports, before Send, whether the connection comes from an earlier request or was dialled ahead.
func (c *Conn) WasIdle() bool { return c.reuse.dialledAhead || c.reuse.requests > 0 }

// Sent returns when the first byte of the request was written; the zero time where the kernel accepted none.
func (c *Conn) Sent() time.Time { return c.sent }

// Arrival returns when the newest bytes of the answer arrived.
func (c *Conn) Arrival() Arrival { return c.socket.last }

// Ready returns nil if a request can be sent, else [ErrGone] or [ErrRetired].
func (c *Conn) Ready() error {
	if c.reuse.expired() {
		return ErrRetired
	}
	fresh := c.reuse.requests == 0
	if !c.socket.liveness.alive(fresh && c.hasTLS()) || !fresh && !c.isSilent() {
		return ErrGone
	}
	return nil
}

// isSilent reports whether TLS has received nothing since the last answer, such as the server's close_notify.
func (c *Conn) isSilent() bool {
	if !c.hasTLS() {
		return true
	}
	c.SetReadDeadline(time.Unix(1, 0)) // what has arrived is read all the same
	_, err := c.Conn.Read(make([]byte, 1))
	c.SetReadDeadline(time.Time{})
	return timedOut(err)
}

// Send writes a request. An error means that the kernel accepted nothing, so that the server has nothing of it. The
// rest of a large request is written while the answer is awaited, because the server may answer and read no further.
func (c *Conn) Send(request []byte) error {
	c.reuse.requests++
	c.writeErr, c.writing, c.reusable = nil, nil, false
	before := c.socket.accepted.Load()
	c.sent = time.Now() // before the write: after it the answer may be there
	n := min(len(request), maxFirstWrite)
	if err := c.write(request[:n]); err != nil && c.socket.accepted.Load() == before {
		c.sent = time.Time{}
		return err
	}
	if n < len(request) && c.writeErr == nil {
		written := make(chan struct{})
		c.writing = written
		go func() {
			defer close(written)
			c.write(request[n:])
		}()
	}
	return nil
}

func (c *Conn) write(p []byte) error {
	_, c.writeErr = c.Conn.Write(p)
	if c.writeErr != nil && !c.socket.aborted.Load() {
		c.SetReadDeadline(time.Now().Add(lateAnswerTime))
	}
	return c.writeErr
}

var errWriting = errors.New("the request has not been written to its end")

// writeError returns why the request was not, or not yet, written to its end; nil where it was.
func (c *Conn) writeError() error {
	if c.writing != nil {
		select {
		case <-c.writing:
		default:
			return errWriting
		}
	}
	return c.writeErr
}

// Each gives the body to take, piece by piece as it arrives, until take returns true. At the end it returns io.EOF.
func (c *Conn) Each(take func(piece []byte, arrival Arrival) (done bool)) error {
	var end error
	pieces := func() (done bool) {
		for {
			piece, err := c.next()
			if err != nil {
				end = err
				return true
			}
			if len(piece) == 0 {
				return false
			}
			if take(piece, c.socket.last) {
				return true
			}
		}
	}
	if pieces() {
		return end
	}
	if err := c.receive(pieces); err != nil {
		return c.body.endError(err)
	}
	return end
}

// Read reads the body, in place of Each.
func (c *Conn) Read(p []byte) (n int, err error) {
	for len(c.piece) == 0 {
		if c.piece, err = c.next(); err != nil {
			return 0, err
		}
		if len(c.piece) > 0 {
			break
		}
		if err := c.receive(func() bool { return true }); err != nil {
			return 0, c.body.endError(err)
		}
	}
	n = copy(p, c.piece)
	c.piece = c.piece[n:]
	return n, nil
}

// next returns nothing where more must be received.
func (c *Conn) next() (piece []byte, err error) {
	piece, c.pending, err = c.body.next(c.pending)
	return piece, err
}

// receive appends each receive to c.pending and calls onReceive, until it returns true. The rest of c.pending is kept.
func (c *Conn) receive(onReceive func() (done bool)) error {
	each := func(p []byte) (done bool) {
		if len(c.pending) > 0 { // beginning of a head
			p = append(c.pending, p...)
		}
		c.pending = p
		if !onReceive() {
			return false
		}
		c.pendingBuf = append(c.pendingBuf[:0], c.pending...) // the receive's buffer is reused
		c.pending = c.pendingBuf
		return true
	}
	if !c.hasTLS() {
		return c.socket.each(each)
	}
	buffer := make([]byte, receiveSize)
	for {
		n, err := c.Conn.Read(buffer)
		if n > 0 && each(buffer[:n]) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// End returns when the bytes arrived that ended the body; now where none did.
func (c *Conn) End() time.Time {
	if c.body.ended() {
		return c.socket.last.At
	}
	return time.Now()
}

// Abort ends all reading and writing, now and later. It may be called at any time.
func (c *Conn) Abort() {
	c.socket.aborted.Store(true)
	c.SetDeadline(time.Unix(1, 0))
}

// Release keeps the connection for another request if the answer was read to its end and neither side wants it closed;
// else it closes it.
func (c *Conn) Release() {
	c.reuse.idleSince = time.Now()
	ended := c.body.ended() && len(c.pending) == 0 && len(c.piece) == 0 && c.writeError() == nil
	if ended && c.reusable && !c.socket.aborted.Load() && !c.reuse.exhausted(&c.pool.habit) {
		c.pool.put(c)
	} else {
		c.Close()
	}
}

// Close closes the connection.
func (c *Conn) Close() error {
	if s := c.socket; s.hangups != nil {
		s.hangups.remove(s) // before its descriptor is closed
	}
	return c.Conn.Close()
}

func (c *Conn) hasTLS() bool { return c.Conn != net.Conn(c.socket) }

// timedOut reports whether an error is a deadline's, after which reading may go on.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
