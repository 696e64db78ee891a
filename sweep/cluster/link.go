package cluster

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// link is one end of a connection between rank 0 and a rank. Messages are written by encoding/gob.
type link struct {
	net.Conn
	sending chan struct{} // is full while somebody sends; a mutex would stop virtual time
	out     *gob.Encoder
	in      *gob.Decoder

	shut  func() // closes the connection, and ended
	ended chan struct{}
}

const (
	aliveEvery   = 2 * time.Second  // between two signs of life
	silenceLimit = 15 * time.Second // without one, the other side has gone
)

func newLink(c net.Conn) *link {
	registerMessages()
	l := &link{Conn: c, out: gob.NewEncoder(c), in: gob.NewDecoder(c), sending: make(chan struct{}, 1),
		ended: make(chan struct{})}
	l.shut = sync.OnceFunc(func() { close(l.ended); c.Close() })
	return l
}

func (l *link) Close() error { l.shut(); return nil }

func (l *link) send(m any) error {
	l.sending <- struct{}{}
	defer func() { <-l.sending }()
	l.SetWriteDeadline(time.Now().Add(silenceLimit))
	return l.out.Encode(&m)
}

func (l *link) receive() (m any, err error) {
	for {
		l.SetReadDeadline(time.Now().Add(silenceLimit))
		m = nil
		switch err := l.in.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil, errors.New("the connection was closed")
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("nothing came for %v", silenceLimit)
		case err != nil:
			return nil, err
		}
		if _, beat := m.(alive); !beat {
			return m, nil
		}
	}
}

// drain reads until the other side has closed: closing first could discard what was sent last.
func (l *link) drain() {
	for {
		if _, err := l.receive(); err != nil {
			return
		}
	}
}

func (l *link) keepAlive() {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for l.send(alive{}) == nil {
		select {
		case <-ticker.C:
		case <-l.ended:
			return
		}
	}
}
