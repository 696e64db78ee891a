package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"

	"llmsweep/report"
	"llmsweep/report/ci"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/sweep"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
)

// measurement is a sweep or run with the preflight before it, the progress while it runs and the report after it.
type measurement struct {
	*console
	url    string
	target *targetFlags
	load   *loadFlags
	replay *replay // nil without a trace
	plan   sweep.Config
	out    *outFlags
	kind   string // rundir.KindSweep or rundir.KindRun
	format string // of what is printed at the end; empty for "console"
	stages int    // planned
	conns  int    // connections kept
	fit    *selftestFlags
	width  int     // most streams at once; 0 where it is not known
	flag   string  // that sets it
	rate   float64 // highest rate of requests per second; 0 where it is not known
	within bool    // the search for the ceiling stays within the number of streams that the self-test found good
	dir    func() (*rundir.Dir, error)

	canaries *fidelityFlags // nil for none
	seed     uint64         // of their places in the stages
	// measure measures, after the preflight.
	measure func(context.Context, sweep.Config, *target, *rundir.Run) error
}

// run takes the measurement, prints and writes its report, and returns the error that sets the exit code.
func (e *measurement) run() error {
	e.lang = lang.Lang(e.out.Lang)
	l, err := e.load.parse()
	if err != nil {
		return usage(err)
	}
	check, err := e.check()
	if err != nil {
		return usage(err)
	}
	labels, err := parseLabels(e.out.Label)
	if err != nil {
		return usage(err)
	}
	if most := e.limits().Most(2); e.within && most > 0 {
		e.width, e.plan.MaxConcurrency = min(e.width, most), min(e.plan.MaxConcurrency, most)
	}
	if err := e.fits(e.url, e.width, 1, e.flag); err != nil {
		return err
	}
	served, err := e.out.serve()
	if err != nil {
		return usage(err)
	}
	if served != nil {
		defer served.Close()
	}
	t, err := connect(e.console, e.url, e.target, l, e.replay, e.conns)
	if err != nil {
		return e.interrupted(err)
	}
	defer t.close()
	t.note(t.ports(e.console, e.url, e.rate)...)
	dir, err := e.dir()
	if err != nil {
		return usage(err)
	}
	defer dir.Close()
	run := &rundir.Run{
		Tool:    rundir.Tool{Version: version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
		Command: e.target.command(e.console, e.url),
		Target:  t.about, Labels: labels, Workload: t.asked, Client: rundir.Client{Timestamps: t.client.Timestamps()},
	}
	view, pause := e.view(e.lang, e.out.Plain, true)
	defer view.Close()
	view.Start(e.kind + "  " + report.Target(run, e.lang))
	for _, n := range run.Target.Notes {
		view.Note(findings.Note(n, e.lang))
	}
	if served != nil {
		view.Note(served.Served(e.lang))
	}
	e.fit.selftest(e.console, e.width, run, view, e.lang)
	if t := run.Client.Selftest; e.within && t != nil && t.Streams > 0 {
		e.plan.MaxConcurrency = min(e.plan.MaxConcurrency, t.Streams)
	}
	e.plan.Caps, e.plan.Spent = t.caps, t.spent()
	e.plan.Doer, e.plan.Sources, e.plan.Log = t.client, t.workload.Stage, dir
	e.plan.Observer, e.plan.Pause = show(served, run, dir, e.lang, view.Observe(e.stages)), pause
	e.plan.Retokenize = t.retokenize(e.ctx, e.format == "serving")
	if check != nil {
		check.Clean = t.client.WithoutSecrets
		e.plan.Canaries = check
	}
	if t.tellsLoad(e.ctx) {
		e.plan.Idle, e.plan.Scrape = t.idle, t.gauges
	}
	waiter := e.waiter()
	defer waiter.Close()
	e.plan.Waiter = waiter
	broken := e.measure(e.ctx, e.plan, t, run)
	view.Close()
	return errors.Join(broken, e.conclude(run, dir))
}

// check returns what asks the canaries; nil for none.
func (e *measurement) check() (*fidelity.Check, error) {
	if e.canaries == nil {
		return nil, nil
	}
	return e.canaries.check(e.seed)
}

// conclude prints the result, writes report.md and report.html, and returns the error that sets the exit code.
func (e *measurement) conclude(run *rundir.Run, dir *rundir.Dir) error {
	runs := []rundir.Run{*run}
	var doc bytes.Buffer
	err := report.Markdown(&doc, runs, e.lang)
	if err == nil {
		err = dir.WriteFile(rundir.ReportFile, doc.Bytes())
	}
	err = errors.Join(err, writePage(dir, run, e.lang), illustrate(dir, run, e.lang))
	e.publish(doc.Bytes(), dir.Path, ci.OfRun(run, e.lang))
	err = errors.Join(err, report.Render(e.console.out, cmp.Or(e.format, "console"), runs, e.options(e.out.Lang, e.out.Plain, dir.Path)))
	switch {
	case err != nil:
		return err
	case run.State == rundir.Interrupted:
		return &exitError{exitInterrupted, errors.New(findings.Interrupted(dir.Path, e.lang))}
	case run.State == rundir.Failed:
		return errors.New(findings.Failed(e.kind, run.Failure, dir.Path, e.lang))
	}
	return missed(run, e.lang)
}

// illustrate writes report.md again, with drawings beside it.
func illustrate(dir *rundir.Dir, run *rundir.Run, l lang.Lang) error {
	doc, files, err := illustrated(run, dir.Path, "", l)
	if err != nil || len(files) == 0 {
		return err
	}
	for name, b := range files {
		if err := dir.WriteFile(name, b); err != nil {
			return err
		}
	}
	return dir.WriteFile(rundir.ReportFile, doc)
}

// writePage writes report.html, from the records in the directory.
func writePage(dir *rundir.Dir, run *rundir.Run, l lang.Lang) error {
	if err := dir.Flush(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := html.Run(&b, run, dir.Path, html.Options{Lang: l}); err != nil {
		return err
	}
	return dir.WriteFile(rundir.PageFile, b.Bytes())
}
