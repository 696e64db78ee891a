package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/testkit"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// world is a place to run commands in virtual time: a network of pipes, and a directory for files. All of it lives in
// one bubble of testing/synctest.
type world struct {
	t      *testing.T
	dir    string
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	servers map[string]*testkit.Pipes // by address
	env     map[string]string
	limits  client.LocalLimits
	disk    store.Disk
}

// virtually runs f in virtual time, in a directory of its own, in parallel with other tests.
func virtually(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	inBubble(t, t.TempDir(), f) // made outside the bubble: it is removed after it
}

// each runs f for each case, in virtual time and a world of its own.
func each[C any](t *testing.T, cases map[string]C, f func(t *testing.T, w *world, c C)) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) { f(t, w, c) })
		})
	}
}

// inBubble runs f in virtual time, with files in dir.
func inBubble(t *testing.T, dir string, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, disk: store.OS{}, servers: map[string]*testkit.Pipes{}}
		w.ctx, w.cancel = context.WithCancelCause(t.Context())
		defer w.cancel(nil)
		f(t, w)
	})
}

// llmsweep runs a command line.
func (w *world) llmsweep(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	c := w.console(&o, &e)
	before := runFiles(w.dir)
	code = executeAgain(args, c)
	followSchemas(w.t, w.dir, before)
	return code, o.String(), e.String()
}

// console returns a console in this world.
func (w *world) console(out, errs io.Writer) *console.Console {
	world := console.World{
		Disk: w.disk, Limits: func() client.LocalLimits { return w.limits },
		Waiter: func() console.Waiter { return timer{&load.Timer{}} },
		Env:    func(name string) string { return w.env[name] }, Dial: w.dial, Serve: w.serve,
	}
	c := console.NewConsole(w.ctx, out, errs).WithWorld(world)
	c.Dir = w.dir
	return c
}

// must runs a command line that has to succeed, and returns what it prints.
func (w *world) must(args ...string) (out, errs string) {
	w.t.Helper()
	code, out, errs := w.llmsweep(args...)
	if code != console.Done {
		w.t.Fatalf("llmsweep %q: exit %d\n%s\n%s", args, code, out, errs)
	}
	return out, errs
}

// exits runs a command line that has to end with an exit code, and to say something. It returns all that it prints.
func (w *world) exits(code int, says string, args ...string) (text string) {
	w.t.Helper()
	got, out, errs := w.llmsweep(args...)
	if text = out + errs; got != code || !strings.Contains(text, says) {
		w.t.Errorf("llmsweep %q: exit %d, want %d with %q\n%s", args, got, code, says, text)
	}
	return text
}

// cut interrupts a command line after a time.
func (w *world) cut(after time.Duration, args ...string) {
	w.t.Helper()
	w.interruptAfter(after)
	w.exits(console.Interrupted, "llmsweep resume", args...)
	w.again()
}

// again lets commands run after an interruption.
func (w *world) again() { w.ctx, w.cancel = context.WithCancelCause(w.t.Context()) }

// path returns the path of a file of this world.
func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// write makes a file, and returns its path.
func (w *world) write(name, text string) string {
	w.t.Helper()
	noError(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
	return w.path(name)
}

// interruptAfter interrupts running commands after a time.
func (w *world) interruptAfter(d time.Duration) {
	cancel := w.cancel // of what runs now: after again, it interrupts nothing
	time.AfterFunc(d, func() { cancel(experiment.ErrInterrupted) })
}

// simulated returns the handler of a simulated server, the one of the demo but five times slower: a second of a sweep
// then takes a fifth of the requests.
func (w *world) simulated(o simserver.Options) http.Handler {
	w.t.Helper()
	return w.simulation(simtest.Slowed(simtest.Preset(w.t, "demo"), 5), o)
}

// slow starts such a server and returns its URL. It stands for sim:, whose servers have their own speed.
func (w *world) slow() string {
	w.t.Helper()
	url, _ := w.server(w.simulated(simserver.Options{}))
	return url
}

// simulation starts a simulated machine that ends with the test.
func (w *world) simulation(config sim.MachineConfig, o simserver.Options) http.Handler {
	w.t.Helper()
	live, err := sim.Start(config)
	noError(w.t, err)
	w.t.Cleanup(live.Close)
	return simserver.New(live, o)
}

// server starts a handler and returns its URL and what stops it.
func (w *world) server(h http.Handler) (url string, stop func()) {
	w.t.Helper()
	return w.listen("127.0.0.1:0", h)
}

// listen serves a handler at an address, until the test ends or it is stopped.
func (w *world) listen(address string, h http.Handler) (url string, stop func()) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	url, done, err := w.serve(ctx, address, h)
	noError(w.t, err)
	stop = sync.OnceFunc(func() { cancel(); done() })
	w.t.Cleanup(stop)
	return url, stop
}

// serve is [simserver.Serve] on this world's network.
func (w *world) serve(ctx context.Context, address string, h http.Handler) (string, func() error, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if host, port, err := net.SplitHostPort(address); err == nil && port == "0" {
		address = fmt.Sprintf("%s:%d", host, 10000+len(w.servers))
	}
	if w.servers[address] != nil {
		return "", nil, errors.New("address already in use")
	}
	l := testkit.NewPipes()
	w.servers[address] = l
	srv := &http.Server{Handler: h}
	cut := context.AfterFunc(ctx, func() { srv.Close() })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		defer cut()
		srv.Serve(l)
	}()
	return "http://" + address, func() error { <-stopped; return nil }, nil
}

// dial connects to a server of this world.
func (w *world) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	w.mu.Lock()
	l := w.servers[address]
	w.mu.Unlock()
	if l != nil {
		conn, err = l.Dial(ctx, network, address)
	}
	if l == nil || errors.Is(err, net.ErrClosed) {
		err = &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	return conn, err
}

// timer is a waiter in virtual time.
type timer struct{ *load.Timer }

func (timer) Close() error { return nil }

// notInShort leaves a test out of -short: under the race detector its simulations take ten times as long, and other
// tests run the same goroutines.
func notInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long simulations; shorter tests run the same goroutines")
	}
}
