package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report"
	"llmsweep/sweep"
	"llmsweep/sweep/record"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// recordCmd is llmsweep record.
type recordCmd struct {
	URL string `arg:"" optional:"" name:"url" help:"Base URL of the server that requests are passed on to."`

	Listen   string        `default:"127.0.0.1:9000" placeholder:"ADDRESS" help:"Address and port where clients connect (${default})." group:"Target"`
	Insecure bool          `help:"Accept any TLS certificate." group:"Target"`
	CA       string        `type:"path" placeholder:"FILE" help:"PEM file of certificates to trust besides the system's." group:"Target"`
	Period   time.Duration `default:"1h" placeholder:"TIME" positive:"" help:"Each period is a row of the result (${default})." group:"Load"`
	Duration time.Duration `placeholder:"TIME" positive:"" help:"End after this time. Default: at Ctrl-C." group:"Load"`
	Linger   time.Duration `default:"10s" placeholder:"TIME" help:"Longest wait for requests in flight at the end; after it they are cut off (${default})." group:"Load"`
	Sample   string        `default:"100%" placeholder:"SHARE" help:"Share of the sessions to record, such as 10%. All are passed on." group:"Load"`
	MaxDisk  int64         `name:"max-disk" default:"1000" placeholder:"MB" positive:"" help:"Most megabytes of records and traffic. After that, requests pass and are not recorded (${default})." group:"Output"`
	Rotate   int64         `default:"100" placeholder:"MB" positive:"" help:"Begin another traffic file after this many megabytes: traffic-1.jsonl and so on (${default})." group:"Output"`
	Check    bool          `help:"Take the time where clients send and receive, for llmsweep check. Default: where the server does, without the delay of the recorder." group:"Load"`
	Format   string        `default:"console" placeholder:"NAME" help:"Format of the result: ${formats}." group:"Output"`

	flags.Objectives
	flags.Results
}

// Help returns what --help prints after the purpose.
func (recordCmd) Help() string {
	return `Examples:
  llmsweep record http://localhost:8000 --listen :9000 --out traffic
  llmsweep record http://localhost:8000 --out traffic --period 10m --slo 'ttft:p95<1s'
  llmsweep record https://llm.example.com --sample 10% --duration 8h
  llmsweep record http://localhost:8000 --check --out traffic
  llmsweep run http://localhost:8000 --arrivals trace:traffic
  llmsweep sweep http://localhost:8000 --workload traffic --by users

Requests and answers pass unchanged, the Host header too. No text, key or header is written: of a prompt, salted hashes of its blocks are kept.

More: llmsweep help record`
}

// Run records.
func (r *recordCmd) Run(c *console.Console) error {
	j, err := r.job(c)
	if err != nil {
		return console.Usage(err)
	}
	return j.Run()
}

func (r *recordCmd) job(c *console.Console) (*job.Recording, error) {
	url, err := c.Server(r.URL)
	if err != nil {
		return nil, err
	}
	labels, err := store.ParseLabels(r.Label)
	if err != nil {
		return nil, err
	}
	terms, err := slo.ParseAll(r.SLO)
	if err != nil {
		return nil, err
	}
	share, err := slo.ParseShare(r.Sample)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--sample: %w; want one above 0, such as 10%% or 0.1", err)
	case r.Period < time.Second:
		return nil, errors.New("--period must be 1s or longer")
	case r.Linger < 0:
		return nil, errors.New("--linger must not be negative")
	case !slices.Contains(report.Formats(), r.Format):
		return nil, flags.UnknownFormat(r.Format)
	}
	return &job.Recording{
		Console: c, URL: url, Client: client.Options{Insecure: r.Insecure, CAFile: r.CA}, Listen: r.Listen, Length: r.Duration, Format: r.Format, Labels: labels,
		Results: &r.Results,
		Options: record.Options{
			Period: r.Period, Share: share, Most: r.MaxDisk << 20, Part: r.Rotate << 20, Linger: r.Linger, SLO: terms, Tolerance: sweep.Defaults().Tolerance,
			Check: r.Check,
		},
	}, nil
}
