package job

import (
	"bytes"
	"cmp"
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
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/workload"
)

// Job is a sweep or run from its flags to its exit code: it connects, measures, concludes and renders. What it needs of
// this machine follows from the plan and the loads ([Job.needs]).
type Job struct {
	*console.Console
	URLs     []string // of the servers; requests are shared out over several
	Target   *flags.Target
	Workload *flags.Workload
	Replay   *workload.Replay // nil without a trace
	Plan     sweep.Config
	Loads    []arrival.Load // of a run; nil for a sweep, which finds its own
	// Stages returns the stages of the loads; nil for a sweep.
	Stages          func(workload.Workload) ([]experiment.Stage, error)
	LimitToSelftest bool // the search for the ceiling stays within the number of streams that the self-test found good
	Results         *flags.Results
	Format          string // of what is printed at the end; empty for "console"
	Dir             func() (*store.Dir, error)
	Selftest        *flags.Selftest
	Cluster         *flags.Cluster // nil for a command that runs in one process

	firstPart *rundir.Run // the run that is continued; nil for a new one
}

// needs is what a job needs of this machine and of the server.
type needs struct {
	stages  int     // of a run; 0 for a sweep
	conns   int     // connections kept
	streams int     // most at once; 0 where it is not known
	flag    string  // that sets streams
	rate    float64 // highest rate of requests per second; 0 where it is not known
}

func (j *Job) needs() needs {
	most := j.Plan.MaxConcurrency
	if j.Plan.Users || j.Stages == nil {
		return needs{conns: most, streams: most, flag: "--max-concurrency"}
	}
	n := needs{stages: len(j.Loads), conns: most, flag: "--concurrency"}
	for _, l := range j.Loads {
		n.streams, n.rate = max(n.streams, l.Limit()), max(n.rate, l.MeanRate())
		if _, closed := l.(arrival.Closed); closed {
			n.conns = max(n.conns, l.Limit())
		} else if l.Limit() > 0 {
			n.flag = "--max-concurrency"
		}
	}
	return n
}

func (j *Job) kind() string {
	switch {
	case j.Plan.Users:
		return rundir.KindUsers
	case j.Stages == nil:
		return rundir.KindSweep
	}
	return rundir.KindRun
}

// Continue makes the job continue a run that ended early, in its directory.
func (j *Job) Continue(before *rundir.Run, dir string) {
	j.firstPart = before
	j.Dir = func() (*store.Dir, error) { return store.ContinueOn(j.World().Disk, dir, experiment.Keeps(before)) }
}

// parsedFlags is what the flags ask for, besides the plan.
type parsedFlags struct {
	load   *flags.WorkloadOptions
	labels rundir.Labels
	place  *cluster.Place // among the ranks; nil for a single process
}

func (j *Job) parse() (p parsedFlags, err error) {
	j.Lang = lang.Lang(j.Results.Lang)
	if p.load, err = j.workload(); err != nil {
		return p, err
	}
	if p.labels, err = store.ParseLabels(j.Results.Label); err != nil {
		return p, err
	}
	p.place, err = j.Cluster.Place(j.World().Env)
	return p, err
}

// concludeUnwritten prints the result of a run that ended because its files could not be written.
func (j *Job) concludeUnwritten(run *rundir.Run, dir *store.Dir, cause error) error {
	err := report.Render(j.Console.Out, cmp.Or(j.Format, "console"), []rundir.Run{*run},
		j.Options(j.Results.Lang, j.Results.Plain, ""))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir.Path, rundir.RunFile)); err != nil {
		return fmt.Errorf("%w; the run has ended, and nothing can be read in %s: what was measured is in the table that "+
			"was printed, and nowhere else", cause, dir.Path)
	}
	return fmt.Errorf("%w; the run has ended, and %s holds what was measured until then: llmsweep resume %s continues it",
		cause, dir.Path, dir.Path)
}

func (j *Job) conclude(s *session) error {
	run, dir := s.sides[0].run, s.sides[0].dir
	options := j.Options(j.Results.Lang, j.Results.Plain, dir.Path)
	options.Percentiles = j.Results.Names
	doc, err := writeReports(run, dir, options)
	j.Summarize(doc)
	err = errors.Join(err, report.Render(j.Console.Out, cmp.Or(j.Format, "console"), []rundir.Run{*run}, options))
	switch {
	case err != nil:
		return err
	case run.State == rundir.Interrupted:
		return console.Exit(console.Interrupted, errors.New(findings.Interrupted(dir.Path, j.Lang)))
	case run.State == rundir.Failed:
		return errors.New(findings.Failed(j.kind(), run.Failure, dir.Path, j.Lang))
	}
	return sloFailure(run, j.Lang)
}

// writeReports writes report.md, first without drawings, and report.html. It returns report.md without drawings.
func writeReports(run *rundir.Run, dir *store.Dir, o report.Options) ([]byte, error) {
	doc, err := writeDocument(run, dir, o)
	if err != nil { // a full disk is one error, not three
		return doc, err
	}
	if err := writePage(dir, run, o.Lang); err != nil {
		return doc, err
	}
	drawn, drawings, err := Report(run, dir.Path, "", o)
	if err != nil || len(drawings) == 0 {
		return doc, err
	}
	return doc, writeDrawn(dir, drawn, drawings)
}

func writeDocument(run *rundir.Run, dir *store.Dir, o report.Options) ([]byte, error) {
	var doc bytes.Buffer
	if err := report.Render(&doc, "markdown", []rundir.Run{*run}, o); err != nil {
		return nil, err
	}
	return doc.Bytes(), dir.WriteFile(rundir.ReportFile, inputs.MarkedOutput(doc.Bytes(), inputs.XMLMark))
}

// writePage writes report.html, from the records in the directory.
func writePage(dir *store.Dir, run *rundir.Run, l lang.Lang) error {
	if err := dir.Flush(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := html.Run(&b, run, dir.Path, html.WriteOptions{Lang: l}); err != nil {
		return err
	}
	return dir.WriteFile(rundir.PageFile, inputs.MarkedOutput(b.Bytes(), inputs.XMLMark))
}
