package job

import (
	"context"
	"errors"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// Run measures, prints and writes the report, and returns the error that sets the exit code.
func (j *Job) Run() (err error) {
	p, err := j.parse()
	if err != nil {
		return console.Usage(err)
	}
	if p.place != nil && p.place.Rank > 0 {
		return Follow(j.Console, p.place)
	}
	if err := j.checkLimits(); err != nil {
		return err
	}
	if err := j.checkMaxCost(p); err != nil {
		return err
	}
	served, err := j.Results.Listen()
	if err != nil {
		return console.Usage(err)
	}
	if served != nil {
		defer served.Close()
	}
	var others *team
	var unmeasured error // why nothing was measured, for the other ranks; nil where they have done their part
	ctx := j.Ctx
	if p.place != nil {
		if others, err = listenForRanks(j.Console, p.place); err != nil {
			return err
		}
		defer func() { others.end(unmeasured) }()
		var stop func()
		ctx, stop = others.Watch(ctx)
		defer stop()
		j.Console = j.WithPublicServers()
	}
	s := open(j.Console, j.Lang, served)
	defer s.close()
	measure, err := j.begin(s, p, others)
	if err != nil {
		unmeasured = err
		return err
	}
	one := s.sides[0]
	runErr := measure(ctx, one.config, one.run)
	s.view.Close()
	if err := one.dir.Failure(); err != nil {
		return j.concludeUnwritten(one.run, one.dir, err)
	}
	return errors.Join(runErr, j.conclude(s))
}

// checkLimits keeps the job within what this machine allows, and counts what the run that is continued has spent.
func (j *Job) checkLimits() (err error) {
	if most := j.World().Limits().Most(2); j.LimitToSelftest && most > 0 {
		j.Plan.MaxConcurrency = min(j.Plan.MaxConcurrency, most)
	}
	n := j.needs()
	if err := checkMachine(j.Console, j.URLs[0], n.streams, 1, n.flag); err != nil {
		return err
	}
	if j.firstPart != nil {
		j.Target.EarlierSpending, err = earlierSpending(j.firstPart, j.Results.Out)
	}
	return console.Usage(err)
}

// Measure measures a run, and fills it in.
type Measure func(context.Context, sweep.Config, *rundir.Run) error

// begin connects, and does all that comes before the first stage. others is nil for a single process.
func (j *Job) begin(s *session, p parsedFlags, others *team) (Measure, error) {
	one, err := j.connect(s, p)
	if err != nil {
		return nil, err
	}
	if err := j.checkAccuracy(one.Workload.Describe().Graded > 0); err != nil {
		return nil, console.Usage(err)
	}
	measure, err := j.measure(one.Target)
	if err != nil {
		return nil, console.Usage(err)
	}
	dir, err := j.Dir()
	if err != nil {
		return nil, console.Usage(err)
	}
	s.prepare(one, dir, j.Target.Command(j.Console, j.URLs[0]), p.labels, j.Plan, j.Format == "serving")
	if b := j.firstPart; b != nil {
		one.config.Before = b
		one.run.Command, one.run.Labels, one.run.Client.Selftest = b.Command, b.Labels, b.Client.Selftest
	}
	s.show(j.kind()+"  "+report.Target(one.run, j.Lang), j.Results.Plain)
	if j.kind() == rundir.KindSweep && j.Plan.Budget == 0 && j.firstPart == nil {
		o := Outlooks(&j.Plan)
		s.view.Note(findings.Takes(o[0], o[1], j.Lang))
	}
	if s.served != nil {
		s.view.Note(s.served.Served(s.lang))
	}
	if j.LimitToSelftest {
		s.test(j.Selftest, j.needs().streams)
		if t := one.run.Client.Selftest; t != nil && t.Streams > 0 {
			one.config.MaxConcurrency = min(one.config.MaxConcurrency, t.Streams)
		}
	} else {
		one.config.Selftest = func(ctx context.Context) *rundir.Selftest {
			return j.Selftest.RunSelftest(ctx, j.needs().streams, s.view, j.Lang)
		}
	}
	s.openWaiter()
	one.config.Observer = serveLive(s.served, func() *rundir.Run { return one.run }, dir, j.Lang,
		s.view.Observe(j.needs().stages))
	one.config.Grader = one.grader()
	if others != nil {
		if err := others.begin(j.Console, one.Target, j.URLs, &one.config, one.run, s.view.Note); err != nil {
			return nil, j.Interrupted(err)
		}
	}
	return measure, nil
}

// connect connects to the servers, and refuses other ones than those of the run that is continued.
func (j *Job) connect(s *session, p parsedFlags) (*side, error) {
	t, err := connectAll(j.Console, j.URLs, j.Target, p.load, j.Replay, j.needs().conns)
	if err == nil && j.sendsBuiltIn(t, p) {
		t.Close()
		t, err = connectAll(j.Console, j.URLs, j.Target, p.load.BuiltIn(), nil, j.needs().conns)
	}
	if err != nil {
		return nil, j.Interrupted(err)
	}
	one := s.addSide(t)
	t.addNotes(t.portWarnings(j.Console, j.URLs[0], j.needs().rate/float64(len(j.URLs)))...)
	if j.firstPart != nil {
		err = t.checkContinued(j.firstPart)
	}
	return one, console.Usage(err)
}

// sendsBuiltIn reports whether a sweep without a workload of its own sends the built-in texts: where the server decodes
// speculatively, and where the sweep that is continued did so.
func (j *Job) sendsBuiltIn(t *Target, p parsedFlags) bool {
	switch {
	case j.Stages != nil || j.Replay != nil || !p.load.Untouched():
		return false
	case j.firstPart != nil:
		return j.firstPart.Workload.Dataset == workload.BuiltIn
	}
	return t.speculates(j.Ctx)
}

func (j *Job) measure(t *Target) (Measure, error) {
	if j.Stages == nil {
		return sweep.Sweep, nil
	}
	stages, err := j.Stages(t.Workload)
	return func(ctx context.Context, c sweep.Config, run *rundir.Run) error {
		return sweep.Run(ctx, c, stages, run)
	}, err
}
