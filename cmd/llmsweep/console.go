package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"llmsweep/client/limits"
	simserver "llmsweep/client/sim/server"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/wait"
)

// console is the surroundings of a command: when to stop, where to write, and the outside world. Tests replace the outside
// world, to run commands in virtual time.
type console struct {
	ctx      context.Context // ends at an interrupt
	out, err io.Writer
	args     []string // the command line, without the program's name
	dir      string   // where files with default names are made; empty for the working directory
	url      string   // of the server, where the configuration file sets it

	configured []string  // secrets of the configuration file
	lang       lang.Lang // of messages about a measurement; the command sets it

	// interrupts ends the command; nil where it is no command of a process.
	interrupts *interrupter
	// limits returns what this machine allows.
	limits func() limits.System
	// dial makes connections; nil for the network's.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	// serve starts an HTTP server, as [sim.Serve] does.
	serve func(ctx context.Context, address string, h http.Handler) (url string, wait func() error, err error)
	// waiter returns what waits for the instants of arrivals.
	waiter func() waiter
	// env returns the value of an environment variable that tells about the surroundings, such as those of CI systems.
	env func(name string) string
	// everywhere lets the embedded simulated server be reached from other machines.
	everywhere bool
	// proxy returns the proxy for a request; nil for none.
	proxy func(*http.Request) (*url.URL, error)
}

// waiter waits for the instants of arrivals until it is closed.
type waiter interface {
	Wait(until time.Time, quit <-chan struct{}) bool
	Close() error
}

// newConsole returns a console in the real world.
func newConsole(ctx context.Context, out, errOut io.Writer) *console {
	return &console{
		ctx: ctx, out: out, err: errOut, serve: simserver.Serve, proxy: http.ProxyFromEnvironment,
		waiter: func() waiter { return wait.NewExact() }, env: os.Getenv, limits: limits.Read,
	}
}

// server returns the URL of the server to measure: the argument, or the configuration file's.
func (c *console) server(argument string) (string, error) {
	if u := cmp.Or(argument, c.url); u != "" {
		return u, nil
	}
	return "", usage(errors.New("the URL of the server is missing: give one such as http://localhost:8000, or sim: for the simulated server"))
}

// runDir makes the run directory of that path, or the next free one of the default name where it is empty.
func (c *console) runDir(path string) (*rundir.Dir, error) {
	if path == "" {
		return rundir.Create(rundir.Free(filepath.Join(c.dir, "llmsweep-run")))
	}
	return rundir.Create(path)
}

// options fit what is printed to where it goes.
func (c *console) options(language string, plain bool, dir string) report.Options {
	r := report.Options{Lang: lang.Lang(language), Dir: dir}
	f, ok := c.out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return r
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		r.Width = width
	}
	r.Color = !plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return r
}

// interrupted is the error of a measurement that was interrupted before it began, or err where it was not.
func (c *console) interrupted(err error) error {
	if errors.Is(c.ctx.Err(), context.Canceled) {
		return &exitError{exitInterrupted, errors.New("interrupted before anything was measured")}
	}
	return err
}

// createFile creates the file of -o, with the directories above it. The files that a run directory is read from are not
// overwritten.
func createFile(path string) (*os.File, error) {
	switch filepath.Base(path) {
	case rundir.RunFile, rundir.RecordsFile, rundir.PairFile:
		return nil, fmt.Errorf("-o %s: that name is reserved for the data of a run; choose another", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: %w", path, err)
	}
	return os.Create(path)
}

// exitError is a failure with its own exit code. Its text is empty where everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: exit code 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// language returns the language of error messages: what the command set, else what --lang says, even on a command line that cannot
// be parsed.
func (c *console) language() lang.Lang {
	if c.lang != "" {
		return c.lang
	}
	l := lang.English
	for i, a := range c.args {
		value, given := strings.CutPrefix(a, "--lang=")
		if a == "--lang" && i+1 < len(c.args) {
			value, given = c.args[i+1], true
		}
		if given {
			l = lang.Lang(value)
		}
	}
	return l
}

// shortened cuts an error that a file or a server made too long.
func shortened(s string) string {
	const most = 2000 // characters
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// complain prints an error in one line, in the language of the command line, and returns its exit code.
func (c *console) complain(err error) int {
	if err == nil {
		return exitDone
	}
	text := err.Error()
	if file := (*fs.PathError)(nil); errors.As(err, &file) && (file.Op == "open" || file.Op == "stat") {
		text = strings.Replace(text, file.Error(), fmt.Sprintf("cannot open %s: %v", file.Path, file.Err), 1)
	}
	if text != "" {
		text = hidden(lang.Error(strings.Join(strings.Fields(text), " "), c.language()), c.secrets())
		fmt.Fprintf(c.err, "llmsweep: %s\n", shortened(strings.Join(strings.Fields(table.Clean(text)), " ")))
	}
	if e := (*exitError)(nil); errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}
