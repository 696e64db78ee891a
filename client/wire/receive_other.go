//go:build !linux || !(amd64 || arm64)

package wire

import (
	"net"
	"syscall"
	"time"
)

// stamped does nothing: there are no timestamps here.
func stamped(string, string, syscall.RawConn) error { return nil }

// receiver reads as net does. The read's return is the only time that is known.
type receiver struct {
	conn  net.Conn
	empty time.Time
}

func (r *receiver) init(c net.Conn) { r.conn = c }

func (r *receiver) receive(p []byte) (n int, stamp int64, err error) {
	n, err = r.conn.Read(p)
	return n, 0, err
}

// alive always returns true: a closed connection is not visible without reading from it.
func (r *receiver) alive(bool) bool { return true }
