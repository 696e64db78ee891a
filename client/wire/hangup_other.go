//go:build !linux || !(amd64 || arm64)

package wire

// hangups is not needed: here sockets look for the end of their connections themselves.
type hangups struct{}

func (*hangups) add(*socket)    {}
func (*hangups) remove(*socket) {}
