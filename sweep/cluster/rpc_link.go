package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A message is a frame: its length in four bytes, most significant first, and then the message by encoding/gob. Types are described once in
// each direction.

// maxFrame bounds a frame in bytes: the largest are stages with 100,000 requests in flight at once, and records. A frame that claims more is refused
// before it is read. What gob makes of a frame is at most about a hundred times as large.
const maxFrame = 2 << 20

// headerSize is that of a frame's length, in bytes.
const headerSize = 4

// errGarbage is the error of a peer that does not speak as this llmsweep does.
var errGarbage = errors.New("it does not speak as this llmsweep does: all ranks need the same version")

// stream is a connection of TLS.
type stream interface {
	net.Conn
	CloseWrite() error
}

// link is an end of a connection that sends S and receives R.
type link[S, R any] struct {
	conn    stream
	out, in bytes.Buffer
	encoder *gob.Encoder
	decoder *gob.Decoder

	// sending and receiving hold a token while nobody sends or receives.
	sending, receiving chan struct{}

	mu      sync.Mutex
	greeted bool // a message has come
	closed  bool
	drained chan struct{} // closed when a closed link has read what the other side still sent
}

func newLink[S, R any](conn stream) *link[S, R] {
	l := &link[S, R]{conn: conn, drained: make(chan struct{}), sending: make(chan struct{}, 1), receiving: make(chan struct{}, 1)}
	l.sending <- struct{}{}
	l.receiving <- struct{}{}
	l.encoder, l.decoder = gob.NewEncoder(&l.out), gob.NewDecoder(&l.in)
	return l
}

// Send writes a message.
func (l *link[S, R]) Send(m S) error {
	<-l.sending
	defer func() { l.sending <- struct{}{} }()
	l.out.Reset()
	l.out.Write(make([]byte, headerSize))
	if err := l.encoder.Encode(&m); err != nil {
		return err
	}
	n := l.out.Len() - headerSize
	if n > maxFrame {
		l.Close() // the other side cannot read on: types may be described in this message
		return fmt.Errorf("a message to another rank has %d bytes, and %d are allowed", n, maxFrame)
	}
	binary.BigEndian.PutUint32(l.out.Bytes(), uint32(n))
	_, err := l.conn.Write(l.out.Bytes())
	return err
}

// Receive reads a message.
func (l *link[S, R]) Receive() (m R, err error) {
	<-l.receiving
	defer func() { l.receiving <- struct{}{} }()
	var header [headerSize]byte
	if _, err := io.ReadFull(l.conn, header[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if n > maxFrame {
		return m, errGarbage
	}
	l.in.Reset()
	if _, err := io.CopyN(&l.in, l.conn, int64(n)); err != nil { // grows with what comes, and not with what is claimed
		return m, err
	}
	if err := l.decoder.Decode(&m); err != nil || l.in.Len() > 0 || any(m) == nil {
		return m, errGarbage
	}
	l.greet()
	return m, nil
}

// greet takes the time limit of the first message away.
func (l *link[S, R]) greet() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.greeted && !l.closed {
		l.greeted = true
		l.conn.SetReadDeadline(time.Time{})
	}
}

// lastWords is how long what was sent may take to arrive.
const lastWords = time.Second

// Close ends the connection. What was sent arrives: a socket that is closed before all is read would drop it.
func (l *link[S, R]) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.conn.SetDeadline(time.Now().Add(lastWords))
	go func() {
		defer close(l.drained)
		defer l.conn.Close()
		<-l.sending
		l.conn.CloseWrite()
		l.sending <- struct{}{}
		<-l.receiving
		io.Copy(io.Discard, l.conn)
		l.receiving <- struct{}{}
	}()
}
