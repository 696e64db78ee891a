// Command llmsweep measures how much an LLM server takes and how it feels on the way there. This package is the command
// line: its grammar, signals, exit codes and wiring. What it wires together lives in client, sweep and report.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"llmsweep/report"
	"llmsweep/sweep"
)

const version = "0.1.0"

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1   // the run failed, or every request in it
	exitUsage       = 2   // the command line, a file or a URL is not right
	exitInterrupted = 130 // as shells report a Ctrl-C; what was measured is kept
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// cli is the grammar.
type cli struct {
	Demo     demoCmd     `cmd:"" help:"Sweep the embedded simulated server: a minute, no flags needed."`
	Sweep    sweepCmd    `cmd:"" help:"Sweep a server: one request at a time, as many as it takes, and rates in between."`
	Run      runCmd      `cmd:"" help:"Do one thing to a server: a closed loop, a ladder of them, a rate, a ramp, a trace."`
	Report   reportCmd   `cmd:"" help:"Render run directories again."`
	Import   importCmd   `cmd:"" help:"Read results that other tools printed into run directories."`
	Audit    auditCmd    `cmd:"" help:"Say which published or measured rows cannot be right, and why."`
	Compare  compareCmd  `cmd:"" help:"Set results side by side: differences with intervals, scaling, engines, quantization."`
	Choose   chooseCmd   `cmd:"" help:"Find which GPU, how many, which engine and quantization meets a demand for the least money."`
	Sim      simCmd      `cmd:"" help:"Serve the simulated server, to try things on."`
	Selftest selftestCmd `cmd:"" help:"Measure this client on this machine: how fast and how exact it is, and how far to trust it."`
	Schema   schemaCmd   `cmd:"" help:"Print the JSON Schema of the files in a run directory."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	SelftestHelper selftestHelperCmd `cmd:"" hidden:""`

	Config kong.ConfigFlag `placeholder:"FILE" help:"Read flags from a YAML file (stage-time: 30s); the command line wins."`
}

// console is where a command writes, and when it shall stop.
type console struct {
	ctx      context.Context
	out, err io.Writer
}

// exitError is a failure with an exit code of its own. Its text may be empty where all has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's own: exit code 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// run is main without the process around it.
func run(args []string, out, errOut io.Writer) (code int) {
	var c cli
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("llmsweep"),
		kong.Description("How much does an LLM server take, and how does it feel on the way there?"),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { exited = code }),
		kong.Configuration(yamlFlags),
		kong.Vars{"formats": strings.Join(report.Formats(), ", "), "presets": presets()},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited >= 0 { // --help has been printed
		return exited
	}
	if err != nil {
		return complain(errOut, usage(err))
	}
	ctx, stop := interruptible()
	defer stop()
	return complain(errOut, parsed.Run(&console{ctx, out, errOut}))
}

// complain prints an error in one line and returns the exit code it stands for.
func complain(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(w, "llmsweep: %s\n", strings.Join(strings.Fields(text), " "))
	}
	if e := (*exitError)(nil); errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}

// interruptible is a context that ends at the first Ctrl-C or SIGTERM. The second kills, as without us.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(sweep.ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *console) error {
	_, err := fmt.Fprintln(c.out, "llmsweep", version)
	return err
}
