package server

import (
	"context"
	"errors"
	"net"
	"net/http"

	"llmsweep/client/sim"
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

// Start serves a [sim.Preset] at a free port of this machine until ctx ends, and returns its URL.
func Start(ctx context.Context, preset string) (url string, err error) {
	config, err := sim.Preset(preset)
	if err != nil {
		return "", err
	}
	engine, err := sim.Start(config)
	if err != nil {
		return "", err
	}
	url, wait, err := Serve(ctx, "127.0.0.1:0", New(engine, Options{}))
	if err != nil {
		engine.Close()
		return "", err
	}
	go func() { wait(); engine.Close() }()
	return url, nil
}
