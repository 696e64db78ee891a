//go:build !linux || !(amd64 || arm64)

package wire

import "syscall"

// enableTimestamps does nothing: this system has no timestamps.
func enableTimestamps(string, string, syscall.RawConn) error { return nil }

type receiver struct{}

func (receiver) init(*socket) {}

func (s *socket) each(onReceive func(p []byte) (done bool)) error { return s.eachRead(onReceive) }
