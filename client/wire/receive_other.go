//go:build !linux || !(amd64 || arm64)

package wire

import "syscall"

// stamped does nothing: there are no timestamps here.
func stamped(string, string, syscall.RawConn) error { return nil }

// receiver needs nothing: a read's return is the only time that is known.
type receiver struct{}

func (receiver) init(*socket) {}

// each reads, and calls then after each read, with the bytes, until it returns true.
func (s *socket) each(then func(p []byte) (done bool)) error { return s.eachRead(then) }
