package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"llmsweep/report"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest"
)

// selftestCmd is llmsweep selftest.
type selftestCmd struct {
	Quick   bool  `help:"Two seconds instead of half a minute: fewer levels, and nothing beside a busy machine."`
	Streams []int `placeholder:"N,.." help:"Streams open at once. Default: 100,1000,5000; quick: 100,1000."`
	tableFlags
}

// Help is what --help says at its end.
func (selftestCmd) Help() string {
	return `The other side is a server in a process of its own, which writes into each token when it sent it.

Examples:
  llmsweep selftest
  llmsweep selftest --quick
  llmsweep selftest --streams 2000,10000 --format json`
}

// Run measures this client on this machine.
func (s *selftestCmd) Run(c *console) error {
	o, err := s.options(c.err)
	if err != nil {
		return err
	}
	r, err := selftest.Run(c.ctx, o)
	switch {
	case errors.Is(c.ctx.Err(), context.Canceled):
		return &exitError{exitInterrupted, errors.New("interrupted before anything was measured")}
	case err != nil:
		return err
	}
	return s.write(c, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}, func(l lang.Lang) []table.Section { return report.Selftest(r, l) })
}

func (s *selftestCmd) options(w io.Writer) (selftest.Options, error) {
	command, err := helpers()
	if err != nil {
		return selftest.Options{}, err
	}
	o := selftest.Default(command)
	if s.Quick {
		o = selftest.Quick(command, 0)
	}
	if len(s.Streams) > 0 {
		o.Streams = slices.Compact(slices.Sorted(slices.Values(s.Streams)))
		if o.Streams[0] < 1 || o.Streams[len(o.Streams)-1] > 100_000 {
			return o, usage(errors.New("--streams must be between 1 and 100000"))
		}
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && !s.Plain {
		o.Progress = func(done, all int) {
			fmt.Fprintf(w, "\r%d/%d ", done, all)
			if done == all {
				fmt.Fprint(w, "\r\x1b[K")
			}
		}
	}
	return o, nil
}

// selftestHelper is the hidden command of the helper processes.
const selftestHelper = "selftest-helper"

// helpers begins the command line of the self-test's helper processes: this program.
func helpers() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the self-test cannot find this program to start it again: %w", err)
	}
	return []string{self, selftestHelper}, nil
}

// selftestHelperCmd is a helper process.
type selftestHelperCmd struct {
	Role string `arg:"" enum:"serve,hog"`
}

// Run helps until standard input ends, or somebody interrupts it.
func (h *selftestHelperCmd) Run(c *console) error {
	over := make(chan error, 1)
	go func() {
		if h.Role == "hog" {
			over <- selftest.Hog(os.Stdin)
		} else {
			over <- selftest.Serve(os.Stdin, c.out)
		}
	}()
	select {
	case err := <-over:
		return err
	case <-c.ctx.Done():
		return nil
	}
}

// selftestFlags say whether a measurement begins with a self-test.
type selftestFlags struct {
	NoSelftest bool `name:"no-selftest" help:"Leave out the two seconds that show how far this client can be trusted on this machine." group:"Client"`
}

// selftest tries the client quickly, before anything is measured with it, and notes what it was shown to do. That it could
// not be tried is no reason not to measure.
func (e *experiment) selftest(run *rundir.Run, view *progress.View) {
	if e.fit.NoSelftest {
		return
	}
	command, err := helpers()
	var r *selftest.Result
	if err == nil {
		r, err = selftest.Run(e.ctx, selftest.Quick(command, e.width))
	}
	switch {
	case e.ctx.Err() != nil: // the measurement, which it interrupts too, says so
	case err != nil:
		view.Note(findings.SelftestFailed(err, lang.Lang(e.out.Lang)))
	default:
		run.Client.Selftest = r.Summary()
		view.Note(findings.SelftestVerdict(run.Client.Selftest, lang.Lang(e.out.Lang)))
	}
}
