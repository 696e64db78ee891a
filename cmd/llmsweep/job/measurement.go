// Takes the measurement of sweep, run and demo: preflight, self-test, progress while it runs, report and exit code
// at its end; and its dry run.

package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report"
	"llmsweep/report/findings"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/load"
	"llmsweep/sweep/perplexity"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/workload"
)

// Measurement is a sweep or run with the preflight before it, the progress while it runs and the report after it.
type Measurement struct {
	*console.Console
	Urls     []string // of the servers; requests are shared out over several
	Target   *flags.Target
	Workload *flags.Workload
	Replay   *workload.Replay // nil without a trace
	Plan     sweep.Config
	Results  *flags.Results
	Kind     string // rundir.KindSweep or rundir.KindRun
	Format   string // of what is printed at the end; empty for "console"
	Stages   int    // planned
	Conns    int    // connections kept
	Selftest *flags.Selftest
	Width    int     // most streams at once; 0 where it is not known
	Flag     string  // that sets it
	Rate     float64 // highest rate of requests per second; 0 where it is not known
	Within   bool    // the search for the ceiling stays within the number of streams that the self-test found good
	Dir      func() (*store.Dir, error)
	Canaries *flags.Fidelity // nil for none
	// measure measures, after the preflight.
	Measure func(context.Context, sweep.Config, *Target, *rundir.Run) error
	// Planned returns the stages, where they are known beforehand; nil for a plan that finds its stages as it goes.
	Planned func(workload.Workload) ([]experiment.Stage, error)
	Cluster *flags.Cluster // nil for a command that runs on one machine
	// Sessions returns the sessions of the stages, where the plan makes its own.
	Sessions func(*Target) (func(stage string) load.Source, error)
}

// stagesOf returns the stages that are known beforehand.
func (e *Measurement) stagesOf(w workload.Workload) ([]experiment.Stage, error) {
	if e.Planned == nil {
		return nil, nil
	}
	return e.Planned(w)
}

// parsed is what the flags ask for, besides the plan.
type parsed struct {
	load   *flags.WorkloadOptions
	check  *fidelity.Check  // nil without canaries
	text   *perplexity.Text // nil without a text to score
	labels rundir.Labels
	node   *cluster.Place // nil for one machine
}

// parse parses the flags, and refuses combinations that make no sense.
func (e *Measurement) parse() (p parsed, err error) {
	e.Lang = lang.Lang(e.Results.Lang)
	if p.load, err = e.workload(); err != nil {
		return p, err
	}
	if p.check, err = e.check(); err != nil {
		return p, err
	}
	if p.text, err = e.text(); err != nil {
		return p, err
	}
	if p.labels, err = store.ParseLabels(e.Results.Label); err != nil {
		return p, err
	}
	p.node, err = e.Cluster.Place(e.Env)
	return p, err
}

// Check returns what is wrong with a measurement by several ranks, as far as that is known without the server, and without what the launcher
// sets for each rank.
func (e *Measurement) Check() error {
	switch {
	case e.Cluster != nil && *e.Cluster != (flags.Cluster{Rank: -1}):
		return errors.New("the launcher sets --rank, --ranks, --coordinator and --cluster-token for each rank: leave them out")
	case e.Canaries != nil && e.Canaries.Fidelity:
		return errOneMachine
	}
	_, err := e.parse()
	for _, url := range e.Urls {
		if err == nil {
			err = CheckURL(e.Console, url, e.Target, e.Conns)
		}
	}
	return err
}

// shared returns what all ranks measure.
func (e *Measurement) shared(t *Target) Plan {
	return Plan{Server: t, URLs: e.Urls, Flags: e.Target, Sessions: e.Sessions}
}

// again returns what all ranks measure, with the servers as rank 0 found them.
func (e *Measurement) again(l *flags.WorkloadOptions, found []byte) (Plan, error) {
	t, err := ConnectAsFound(e.Console, e.Urls, found, e.Target, l, e.Replay, e.Conns)
	return e.shared(t), err
}

// Again is [Measurement.Run] of a rank that takes part in a run that goes on: it returns what all ranks measure.
func (e *Measurement) Again(found []byte) (Plan, error) {
	e.Lang = lang.Lang(e.Results.Lang)
	l, err := e.workload()
	if err != nil {
		return Plan{}, console.Usage(err)
	}
	return e.again(l, found)
}

// unwritten prints the result of a run that ended because its files could not be written. It writes none.
func (e *Measurement) unwritten(run *rundir.Run, dir *store.Dir, broken error) error {
	err := report.Render(e.Console.Out, cmp.Or(e.Format, "console"), []rundir.Run{*run}, e.Options(e.Results.Lang, e.Results.Plain, ""))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir.Path, rundir.RunFile)); err != nil {
		return fmt.Errorf("%w; the run has ended, and nothing can be read in %s: what was measured is in the table that was printed, and nowhere else", broken, dir.Path)
	}
	return fmt.Errorf("%w; the run has ended, and %s holds what was measured until then: llmsweep resume %s continues it", broken, dir.Path, dir.Path)
}

// Conclude prints the result, writes report.md and report.html, and returns the error that sets the exit code.
func (e *Measurement) Conclude(run *rundir.Run, dir *store.Dir) error {
	runs := []rundir.Run{*run}
	var doc bytes.Buffer
	err := report.Markdown(&doc, runs, e.Lang)
	if err == nil {
		err = dir.WriteFile(rundir.ReportFile, inputs.MarkedOutput(doc.Bytes(), inputs.XMLMark))
	}
	if err == nil {
		err = WritePage(dir, run, e.Lang)
	}
	if err == nil { // a full disk is one error, not three
		err = illustrate(dir, run, e.Lang)
	}
	e.Publish(doc.Bytes(), dir.Path, report.GateOfRun(run, e.Lang))
	err = errors.Join(err, report.Render(e.Console.Out, cmp.Or(e.Format, "console"), runs, e.Options(e.Results.Lang, e.Results.Plain, dir.Path)))
	switch {
	case err != nil:
		return err
	case run.State == rundir.Interrupted:
		return console.Exit(console.Interrupted, errors.New(findings.Interrupted(dir.Path, e.Lang)))
	case run.State == rundir.Failed:
		return errors.New(findings.Failed(e.Kind, run.Failure, dir.Path, e.Lang))
	}
	return missed(run, e.Lang)
}

// illustrate writes report.md again, with drawings beside it.
func illustrate(dir *store.Dir, run *rundir.Run, l lang.Lang) error {
	doc, files, err := Report(run, dir.Path, "", l)
	if err != nil || len(files) == 0 {
		return err
	}
	for name, b := range files {
		if err := dir.WriteFile(name, inputs.MarkedOutput(b, inputs.XMLMark)); err != nil {
			return err
		}
	}
	return dir.WriteFile(rundir.ReportFile, inputs.MarkedOutput(doc, inputs.XMLMark))
}

// WritePage writes report.html, from the records in the directory.
func WritePage(dir *store.Dir, run *rundir.Run, l lang.Lang) error {
	if err := dir.Flush(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := html.Run(&b, run, dir.Path, html.WriteOptions{Lang: l}); err != nil {
		return err
	}
	return dir.WriteFile(rundir.PageFile, inputs.MarkedOutput(b.Bytes(), inputs.XMLMark))
}
