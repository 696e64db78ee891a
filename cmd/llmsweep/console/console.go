// Package console is the surroundings of a command: its context, output, errors with exit codes, the terminal and
// signals. Errors and texts leave it without secrets and without control characters.
package console

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

	"llmsweep/client"
	"llmsweep/client/redact"
	simserver "llmsweep/client/sim/server"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir/store"
)

// Console is the surroundings of a command: when to stop, where to write, and the outside world.
type Console struct {
	world World

	Ctx      context.Context // ends at an interrupt
	Out, Err io.Writer
	Args     []string // the command line, without the program's name
	Dir      string   // where files with default names are made; empty for the working directory
	URL      string   // of the server, where the configuration file sets it

	Configured []string     // secrets of the configuration file
	Lang       lang.Lang    // of messages about a measurement; the command sets it
	Interrupts *interrupter // nil where signals do not end the command
}

// World is the outside world of commands. A console hands out copies, so that nothing changes it while a command runs.
// Tests have another, in virtual time.
type World struct {
	Disk   store.Disk                // that run directories are on
	Limits func() client.LocalLimits // what this machine allows
	Waiter func() Waiter             // for the instants of arrivals
	Env    func(name string) string  // environment variables that tell about the surroundings, such as those of CI systems
	// Dial makes connections; nil for the network's.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Serve starts an HTTP server, as [simserver.Serve] does.
	Serve func(ctx context.Context, address string, h http.Handler) (url string, wait func() error, err error)
	// Proxy returns the proxy for a request; nil for none.
	Proxy func(*http.Request) (*url.URL, error)
}

// Waiter waits for the instants of arrivals until it is closed.
type Waiter interface {
	Wait(until time.Time, quit <-chan struct{}) bool
	Close() error
}

// NewConsole returns a console on the network, the disk and the clock of this machine.
func NewConsole(ctx context.Context, out, errOut io.Writer) *Console {
	world := World{
		Disk: store.OS{}, Limits: client.ReadLimits, Waiter: func() Waiter { return load.NewExactTimer() }, Env: os.Getenv,
		Serve: simserver.Serve, Proxy: http.ProxyFromEnvironment,
	}
	return &Console{world: world, Ctx: ctx, Out: out, Err: errOut}
}

// World returns a copy of the outside world.
func (c *Console) World() World { return c.world }

// WithWorld returns a copy of the console in another world.
func (c *Console) WithWorld(w World) *Console {
	copied := *c
	copied.world = w
	return &copied
}

// WithPublicServers returns a copy of the console whose servers can be reached from other machines.
func (c *Console) WithPublicServers() *Console {
	w := c.world
	w.Serve = func(ctx context.Context, address string, h http.Handler) (string, func() error, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return "", nil, err
		}
		return c.world.Serve(ctx, net.JoinHostPort("", port), h)
	}
	return c.WithWorld(w)
}

// Server returns the URL of the server to measure: the argument, or the configuration file's.
func (c *Console) Server(argument string) (string, error) {
	if u := cmp.Or(argument, c.URL); u != "" {
		return u, nil
	}
	return "", Usage(errors.New("the URL of the server is missing: give one such as http://localhost:8000, or sim: for " +
		"the simulated server"))
}

// Servers returns the URLs of the servers that were named, at least one.
func (c *Console) Servers(arguments []string) ([]string, error) {
	if len(arguments) > 1 {
		return arguments, nil
	}
	u, err := c.Server(strings.Join(arguments, ""))
	return []string{u}, err
}

// RunDir makes the run directory of that path, or the next free one of the default name for an empty path. With force
// it removes a run in it.
func (c *Console) RunDir(path string, force bool) (*store.Dir, error) {
	switch {
	case path == "":
		return store.CreateOn(c.world.Disk, store.Free(filepath.Join(c.Dir, "llmsweep-run")))
	case force:
		return store.ReplaceOn(c.world.Disk, path)
	}
	return store.CreateOn(c.world.Disk, path)
}

// Language is the language of the environment: zh where its variables say so, else en.
func (c *Console) Language() string {
	env := c.world.Env
	if strings.HasPrefix(cmp.Or(env("LC_ALL"), env("LC_MESSAGES"), env("LANG")), "zh") {
		return "zh"
	}
	return "en"
}

// Options fits what is printed to where it goes.
func (c *Console) Options(language string, plain bool, dir string) report.Options {
	r := report.Options{Lang: lang.Lang(language), Dir: c.short(dir)}
	f, ok := c.Out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return r
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		r.Width = width
	}
	r.Color = !plain && c.world.Env("NO_COLOR") == "" && c.world.Env("TERM") != "dumb"
	return r
}

// short returns a path relative to where commands are typed, if it is below it.
func (c *Console) short(path string) string {
	from, err := filepath.Abs(c.Dir)
	if err != nil || path == "" {
		return path
	}
	if rel, err := filepath.Rel(from, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Interrupted returns the error of a measurement that was interrupted before it began, or err where it was not.
func (c *Console) Interrupted(err error) error {
	if errors.Is(c.Ctx.Err(), context.Canceled) {
		return Exit(Interrupted, errors.New("interrupted before anything was measured"))
	}
	return err
}

// truncate cuts an error that a file or a server made too long.
func truncate(s string) string {
	const most = 2000 // characters
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// Complain prints an error in one line, in English, and returns its exit code.
func (c *Console) Complain(err error) int {
	if err == nil {
		return Done
	}
	text := err.Error()
	var file *fs.PathError
	if errors.As(err, &file) && (file.Op == "open" || file.Op == "stat") {
		text = strings.Replace(text, file.Error(), fmt.Sprintf("cannot open %s: %v", file.Path, file.Err), 1)
	}
	if text != "" {
		text = redact.HideSecrets(strings.Join(strings.Fields(text), " "), c.secrets())
		fmt.Fprintf(c.Err, "llmsweep: %s\n", truncate(strings.Join(strings.Fields(table.Clean(text)), " ")))
	}
	return Code(err)
}
