package server

import (
	"context"
	"errors"
	"net"
	"net/http"

	"llmsweep/client/sim"
)

// Serve listens on addr ("127.0.0.1:0" for any free port of the loopback) and serves h until ctx ends; then it closes
// all connections. url is the base URL for clients. wait returns when the server has stopped, with nil if ctx ended it.
func Serve(ctx context.Context, addr string, h http.Handler) (url string, wait func() error, err error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h}
	cut := context.AfterFunc(ctx, func() { srv.Close() })
	stopped := make(chan error, 1)
	go func() {
		defer cut()
		err := srv.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		stopped <- err
		close(stopped)
	}()
	return "http://" + listener.Addr().String(), func() error { return <-stopped }, nil
}

// Start serves the simulated server of a preset, as [sim.Preset] names it, at a free port of this machine until ctx
// ends, and returns its URL.
func Start(ctx context.Context, preset string) (url string, err error) {
	config, err := sim.Preset(preset)
	if err != nil {
		return "", err
	}
	live, err := sim.Start(config)
	if err != nil {
		return "", err
	}
	url, wait, err := Serve(ctx, "127.0.0.1:0", New(live, Options{}))
	if err != nil {
		live.Close()
		return "", err
	}
	go func() { wait(); live.Close() }()
	return url, nil
}
