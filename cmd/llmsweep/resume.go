package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

type resumeCmd struct {
	Dir    string   `arg:"" name:"dir" help:"Run directory."`
	URL    []string `name:"url" sep:"none" placeholder:"URL" help:"URL, where it has changed or held a secret; may be repeated."`
	APIKey string   `name:"api-key" env:"LLMSWEEP_API_KEY,OPENAI_API_KEY" placeholder:"KEY" help:"API key; it is in no file ($$LLMSWEEP_API_KEY)."`
	Header []string `sep:"none" placeholder:"K:V" help:"HTTP header; its value is in no file."`
	Body   string   `placeholder:"JSON" help:"JSON, where it held a secret."`
	Lang   string   `default:"" enum:",en,zh" placeholder:"en|zh" help:"Language (that of the first part)."`
	Plain  bool     `help:"Print plain lines, without colour or redrawing." hidden:""`
	Force  bool     `help:"Renew reports and drawings also where people changed them."`
	flags.Serving
	flags.Cluster
}

func (resumeCmd) Help() string {
	return `Flags are those of the first part. Whole rows are kept; the one that was cut is
measured again. The server must be the same; the number of ranks need not.

Examples:
  llmsweep resume llmsweep-run
  llmsweep resume llmsweep-run --url http://other-host:8000
  llmsweep resume llmsweep-run --header 'X-Key: SECRET'
  srun -N 4 -n 4 llmsweep resume llmsweep-run

More flags: llmsweep help resume`
}

func (r *resumeCmd) Run(c *console.Console) error {
	c.Lang = lang.Lang(r.Lang)
	place, err := r.Place(c.World().Env)
	if err != nil {
		return console.Usage(err)
	}
	if place != nil && place.Rank > 0 {
		return job.Follow(c, place)
	}
	j, err := r.job(c)
	if err != nil {
		job.Dismiss(c, place, err)
		return console.Usage(err)
	}
	return j.Run()
}

// job returns the job that continues the run in the directory, which may be on the machine of rank 0 alone.
func (r *resumeCmd) job(c *console.Console) (*job.Job, error) {
	before, err := job.OpenResumed(r.Dir)
	if err != nil {
		return nil, err
	}
	if err := job.Overwrites(r.Dir, r.Force); err != nil {
		return nil, err
	}
	grammar, parsed, err := r.parse(c, &before.Command)
	if err != nil {
		return nil, err
	}
	results := map[string]*flags.Results{"sweep": &grammar.Sweep.Results, "run": &grammar.Run.Results,
		"demo": &grammar.Demo.Results}[parsed.Selected().Name]
	if results == nil {
		return nil, fmt.Errorf("%s was not made by llmsweep sweep or llmsweep run: there is nothing to continue", r.Dir)
	}
	results.Out, results.Plain, results.Serving = r.Dir, r.Plain || results.Plain, r.Serving
	results.Lang = cmp.Or(r.Lang, results.Lang)
	c.Lang = ""
	j, err := grammar.job(c, parsed.Selected().Name)
	if err != nil {
		return nil, err
	}
	j.Continue(before, r.Dir)
	return j, nil
}

func (g *cli) job(c *console.Console, command string) (*job.Job, error) {
	switch command {
	case "run":
		return g.Run.job(c)
	case "demo":
		return g.Demo.job(c), nil
	}
	return g.Sweep.job(c)
}

// parse parses the command line of the first part, with what is given anew: secrets, the URLs, and the ranks.
func (r *resumeCmd) parse(c *console.Console, before *rundir.Command) (*cli, *kong.Context, error) {
	given := job.ResumeGiven{URLs: r.URL, Headers: r.Header, Body: r.Body, APIKey: r.APIKey}
	args, err := given.Args(before)
	if err != nil {
		return nil, nil, err
	}
	grammar := &cli{}
	quiet := console.NewConsole(c.Ctx, io.Discard, io.Discard).WithWorld(c.World())
	parser, exited := newParser(quiet, grammar)
	parsed, err := parser.Parse(args)
	if err != nil || exited() >= 0 {
		return nil, nil, fmt.Errorf("%s holds a command line that this llmsweep does not take: %w", r.Dir,
			cmp.Or(err, errors.New(strings.Join(before.Args, " "))))
	}
	if len(r.URL) > 0 {
		grammar.Sweep.URL, grammar.Run.URL = r.URL, r.URL
	}
	grammar.Sweep.Cluster, grammar.Run.Cluster = r.Cluster, r.Cluster
	c.URL, c.Configured = quiet.URL, quiet.Configured
	return grammar, parsed, nil
}
