package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/term"

	"llmsweep/report"
	"llmsweep/report/live"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/wait"
)

// experiment is a measurement and everything around it: the preflight before, the progress during, the report after.
type experiment struct {
	*console
	url    string
	target *targetFlags
	load   *loadFlags
	replay *replay // nil where no trace is played
	plan   sweep.Config
	out    *outFlags
	kind   string // sweep.KindSweep or sweep.KindRun
	format string // of what is printed at the end; empty for the console's
	stages int    // planned
	conns  int    // connections kept
	fit    *selftestFlags
	width  int // streams at once, at most; 0 where nobody knows
	dir    func() (*rundir.Dir, error)
	// measure does it, once the server is known.
	measure func(context.Context, sweep.Config, *target, *rundir.Run) error
}

// run does it all.
func (e *experiment) run() error {
	l, err := e.load.parse()
	if err != nil {
		return usage(err)
	}
	labels, err := e.out.labels()
	if err != nil {
		return usage(err)
	}
	t, err := connect(e.console, e.url, e.target, l, e.replay, e.conns)
	if err != nil {
		if errors.Is(e.ctx.Err(), context.Canceled) {
			return &exitError{exitInterrupted, errors.New("interrupted before anything was measured")}
		}
		return err
	}
	defer t.close()
	dir, err := e.dir()
	if err != nil {
		return usage(err)
	}
	defer dir.Close()
	run := &rundir.Run{
		Tool:   rundir.Tool{Version: version, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
		Target: t.about, Labels: labels, Workload: t.asked, Client: rundir.Client{Timestamps: t.client.Timestamps()},
	}
	view := live.New(e.err, live.Options{Lang: report.Lang(e.out.Lang), Plain: e.out.Plain})
	defer view.Close()
	view.Start(e.kind + "  " + headline(run))
	for _, n := range run.Target.Notes {
		view.Note(report.Note(n, report.Lang(e.out.Lang)))
	}
	e.selftest(run, view)
	e.plan.Caps = e.target.caps()
	e.plan.Doer, e.plan.Sources, e.plan.Log = t.client, t.workload.Stage, dir
	e.plan.Warm, e.plan.Timestamps = t.client.Warm, t.client.Timestamps
	e.plan.Observer = &progress{view: view, lang: report.Lang(e.out.Lang), total: e.stages, began: time.Now()}
	e.plan.Retokenize = t.retokenize(e.ctx, e.format == "serving")
	if t.tellsLoad(e.ctx) {
		e.plan.Idle, e.plan.Scrape = t.idle, t.gauges
	}
	waiter := wait.NewExact()
	defer waiter.Close()
	e.plan.Waiter = waiter
	broken := e.measure(e.ctx, e.plan, t, run)
	view.Close()
	return errors.Join(broken, e.conclude(run, dir))
}

// headline says what is run against what.
func headline(run *rundir.Run) string {
	line := run.Target.URL + "  " + run.Target.Model
	if run.Target.Engine != "" {
		line += " on " + run.Target.Engine
		if run.Target.Version != "" {
			line += " " + run.Target.Version
		}
	}
	if run.Workload.Dataset != "" {
		line += "  " + filepath.Base(run.Workload.Dataset)
	}
	if p := run.Workload.PromptTokens; p.Mean > 0 {
		return line + fmt.Sprintf("  %.4g -> %.4g tokens", p.Mean, run.Workload.OutputTokens.Mean)
	}
	return line + fmt.Sprintf("  a fixed prompt -> %.4g tokens", run.Workload.OutputTokens.Mean)
}

// conclude shows the result, writes the report and chooses the exit code.
func (e *experiment) conclude(run *rundir.Run, dir *rundir.Dir) error {
	runs := []rundir.Run{*run}
	var doc bytes.Buffer
	err := report.Markdown(&doc, runs, report.Lang(e.out.Lang))
	if err == nil {
		err = dir.WriteFile(rundir.ReportFile, doc.Bytes())
	}
	err = errors.Join(err, report.Render(e.console.out, cmp.Or(e.format, "console"), runs, consoleOptions(e.console, e.out, dir.Path)))
	switch {
	case err != nil:
		return err
	case run.State == rundir.Interrupted:
		return &exitError{exitInterrupted, fmt.Errorf("interrupted; what was measured is in %s", dir.Path)}
	case run.State == rundir.Failed:
		return fmt.Errorf("the %s failed: %s (what was measured is in %s)", e.kind, report.Note(run.Failure, report.English), dir.Path)
	}
	return missed(run)
}

// consoleOptions fit what is printed to where it goes.
func consoleOptions(c *console, o *outFlags, dir string) report.Options {
	r := report.Options{Lang: report.Lang(o.Lang), Dir: dir}
	f, ok := c.out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return r
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		r.Width = width
	}
	r.Color = !o.Plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return r
}

// freshDir is the run directory that --out names, or the next free one.
func (o *outFlags) freshDir() (*rundir.Dir, error) {
	if o.Out == "" {
		return rundir.Create(rundir.Free("llmsweep-run"))
	}
	return rundir.Create(o.Out)
}
