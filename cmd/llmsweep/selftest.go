package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report"
	html "llmsweep/report/page"
	"llmsweep/sweep/selftest"
)

type selftestCmd struct {
	Quick        bool  `help:"Take two seconds instead of ten."`
	Streams      []int `placeholder:"N" help:"Streams at once (100,1000,5000; --quick: 100,1000)."`
	flags.Tables `set:"formats=console, markdown, json, html"`
}

func (selftestCmd) Help() string {
	return `It reads streams from a server in another process, which sends the time with each token.

Examples:
  llmsweep selftest
  llmsweep selftest --quick
  llmsweep selftest --streams 2000,10000 --format json

More: llmsweep help selftest`
}

func (s *selftestCmd) Run(c *console.Console) error {
	if err := s.CheckFile(); err != nil {
		return err
	}
	o, err := s.options()
	if err != nil {
		return err
	}
	r, err := selftest.Run(c.Ctx, o)
	if err != nil {
		return c.Interrupted(err)
	}
	sections := report.Selftest(r)
	return s.Write(c, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}, sections, func(w io.Writer, o html.WriteOptions) error {
		return html.Sections(w, "llmsweep selftest", sections, o)
	})
}

func (s *selftestCmd) options() (selftest.Options, error) {
	command, err := flags.HelperCommand()
	if err != nil {
		return selftest.Options{}, err
	}
	o := selftest.Default(command)
	if s.Quick {
		o = selftest.Quick(command, 0)
	}
	if len(s.Streams) > 0 {
		o.Streams = slices.Compact(slices.Sorted(slices.Values(s.Streams)))
		if o.Streams[0] < 1 || o.Streams[len(o.Streams)-1] > flags.MostInFlight {
			return o, console.Usage(fmt.Errorf("--streams must be between 1 and %d", flags.MostInFlight))
		}
	}
	return o, nil
}

// selftestHelperCmd is the process of the self-test's server.
type selftestHelperCmd struct{}

// Run serves until standard input ends or an interrupt.
func (selftestHelperCmd) Run(c *console.Console) error {
	done := make(chan error, 1)
	go func() { done <- selftest.Serve(os.Stdin, c.Out) }()
	select {
	case err := <-done:
		return err
	case <-c.Ctx.Done():
		return nil
	}
}
