package server

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// Serve listens on addr and serves h at url until ctx ends, then closes all connections. wait returns when the server
// has stopped, with nil if ctx ended it.
func Serve(ctx context.Context, addr string, h http.Handler) (url string, wait func() error, err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	cancelClose := context.AfterFunc(ctx, func() { srv.Close() })
	stopped := make(chan error, 1)
	go func() {
		defer cancelClose()
		err := srv.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		stopped <- err
		close(stopped)
	}()
	return "http://" + listener.Addr().String(), func() error { return <-stopped }, nil
}
