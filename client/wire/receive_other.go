//go:build !linux || !(amd64 || arm64)

package wire

import "syscall"

// enableTimestamps does nothing: there are no timestamps here.
func enableTimestamps(string, string, syscall.RawConn) error { return nil }

// receiver needs nothing: a read's return is the only time that is known.
type receiver struct{}

func (receiver) init(*socket) {}

// each reads, and calls onReceive after each read, with the bytes, until it returns true.
func (s *socket) each(onReceive func(p []byte) (done bool)) error { return s.eachRead(onReceive) }
