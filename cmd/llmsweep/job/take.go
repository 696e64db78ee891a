package job

import (
	"errors"
	"runtime"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep/rundir"
)

// Run takes the measurement, prints and writes its report, and returns the error that sets the exit code.
func (e *Measurement) Run() error {
	p, err := e.parse()
	if err != nil {
		return console.Usage(err)
	}
	if p.node != nil && p.node.Rank > 0 {
		return Follow(e.Console, p.node, func(_ []string, found []byte) (Plan, error) { return e.again(p.load, found) })
	}
	if most := e.Limits().Most(2); e.Within && most > 0 {
		e.Width, e.Plan.MaxConcurrency = min(e.Width, most), min(e.Plan.MaxConcurrency, most)
	}
	if err := CheckMachine(e.Console, e.Urls[0], e.Width, 1, e.Flag); err != nil {
		return err
	}
	served, err := e.Results.Listen()
	if err != nil {
		return console.Usage(err)
	}
	if served != nil {
		defer served.Close()
	}
	if e.Before != nil {
		if e.Target.Earlier, err = Spent(e.Before, e.Results.Out); err != nil {
			return console.Usage(err)
		}
	}
	if p.node != nil {
		return e.lead(p, served)
	}
	_, err = e.take(p, served, nil)
	return err
}

// lead is [Measurement.take] for all ranks. The others are told of an error only where nothing was measured: otherwise they have done their part.
func (e *Measurement) lead(p parsed, served *progress.LiveServer) error {
	lead, err := Assemble(e.Console, p.node)
	if err != nil {
		return err
	}
	measured, err := e.take(p, served, lead)
	if measured {
		lead.End(nil)
	} else {
		lead.End(err)
	}
	return err
}

// take connects, measures and concludes. measured reports whether the first stage was begun. lead is nil for a single machine.
func (e *Measurement) take(p parsed, served *progress.LiveServer, lead *Lead) (measured bool, err error) {
	t, err := e.connect(p)
	if err != nil {
		return false, err
	}
	defer t.Close()
	if err := e.checkAccuracy(e.grades(t.Workload) != nil); err != nil {
		return false, console.Usage(err)
	}
	dir, err := e.Dir()
	if err != nil {
		return false, console.Usage(err)
	}
	defer dir.Close()
	e.Holds = dir.Path
	run := e.described(p, t)
	view, pause := e.View(e.Lang, e.Results.Plain, true)
	defer view.Close()
	e.introduce(view, served, run)
	e.Plan = t.Configure(e.Ctx, e.Plan, dir, e.Format == "serving")
	e.Plan.Before = e.Before
	e.Plan.Observer, e.Plan.Pause = show(served, run, dir, e.Lang, view.Observe(e.Stages)), pause
	e.addChecks(p, t, view)
	waiter := e.Waiter()
	defer waiter.Close()
	e.Plan.Waiter = waiter
	if lead != nil {
		if err := lead.Begin(e.Console, e.shared(t), &e.Plan, run, view.Note); err != nil {
			return false, e.Interrupted(err)
		}
	}
	broken := e.Measure(e.Ctx, e.Plan, t, run)
	view.Close()
	if err := dir.Failure(); err != nil {
		return true, e.unwritten(run, dir, err)
	}
	return true, errors.Join(broken, e.Conclude(run, dir))
}

// connect connects to the servers, and refuses other ones than those of the run that is continued.
func (e *Measurement) connect(p parsed) (*Target, error) {
	t, err := ConnectAll(e.Console, e.Urls, e.Target, p.load, e.Replay, e.Conns)
	if err != nil {
		return nil, e.Interrupted(err)
	}
	t.AddNotes(t.PortWarnings(e.Console, e.Urls[0], e.Rate/float64(len(e.Urls)))...)
	if e.Before != nil {
		if err := SameServer(e.Before, &t.About, &t.Asked); err != nil {
			t.Close()
			return nil, console.Usage(err)
		}
	}
	return t, nil
}

// described returns the run before its first stage.
func (e *Measurement) described(p parsed, t *Target) *rundir.Run {
	run := &rundir.Run{
		Tool:    rundir.Tool{Version: console.VersionNumber, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
		Command: e.Target.Command(e.Console, e.Urls[0]),
		Target:  t.About, Labels: p.labels, Workload: t.Asked, Client: rundir.Client{Timestamps: t.Client.Timestamps()},
	}
	if e.Before != nil {
		run.Command, run.Labels, run.Client.Selftest = e.Before.Command, e.Before.Labels, e.Before.Client.Selftest
	}
	return run
}

// introduce shows what is measured, tests the client where that was not done before, and bounds the plan by what it manages.
func (e *Measurement) introduce(view *progress.View, served *progress.LiveServer, run *rundir.Run) {
	view.Start(e.Kind + "  " + report.Target(run, e.Lang))
	for _, n := range run.Target.Notes {
		view.Note(findings.Note(n, e.Lang))
	}
	if served != nil {
		view.Note(served.Served(e.Lang))
	}
	if run.Client.Selftest == nil {
		e.Selftest.RunSelftest(e.Console, e.Width, run, view, e.Lang)
	}
	if t := run.Client.Selftest; e.Within && t != nil && t.Streams > 0 {
		e.Plan.MaxConcurrency = min(e.Plan.MaxConcurrency, t.Streams)
	}
}

// addChecks adds canaries and graded questions to the plan.
func (e *Measurement) addChecks(p parsed, t *Target, view *progress.View) {
	if p.check != nil {
		p.check.Clean = t.Client.WithoutSecrets
		e.Plan.Checks = append(e.Plan.Checks, p.check)
		if few := findings.FewCanaries(len(p.check.Set), e.Plan.SLO, e.Lang); few != "" {
			view.Note(few + lang.Stop.In(e.Lang))
		}
	}
	e.scores(p.text, t)
	if graded := e.grades(t.Workload); graded != nil {
		graded.Clean = t.Client.WithoutSecrets
		e.Plan.Checks = append(e.Plan.Checks, graded)
		view.Note(findings.GradedAhead(graded.Questions(), e.hypotheses(), e.Lang))
	}
}
