// Compares two running servers: from the preflight to the reports. The two are measured in turns.

package job

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/perplexity"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/workload"
)

// Comparison compares two running servers.
type Comparison struct {
	*Flags
	Console  *console.Console
	URLs     []string
	Fidelity bool     // compare answers too
	FailIf   []string // gates
	Lang     lang.Lang
	Plain    bool
	Force    bool         // overwrite files that were changed
	Free     func() error // returns an error where a file to be written is there already
	Show     func(r *Result, gates []compare.Gate) error
}

// Run compares, from the checks of the flags to the reports. Errors have exit codes.
func (cm *Comparison) Run() error {
	c := cm.Console
	plan, both, gates, labels, err := cm.parse()
	if err != nil {
		return console.Usage(err)
	}
	c.Lang = cm.Lang
	served, err := cm.ServingPair.Listen()
	if err != nil {
		return console.Usage(err)
	}
	if served != nil {
		defer served.Close()
	}
	if err := cm.Free(); err != nil {
		return err
	}
	targets, err := cm.connect()
	if err != nil {
		return c.Interrupted(err)
	}
	defer targets[0].Close()
	defer targets[1].Close()
	out, dirs, err := cm.dirs(c, cm.Force)
	if err != nil {
		return console.Usage(err)
	}
	c.Holds = out
	defer dirs[0].Close()
	defer dirs[1].Close()

	record, runs := &rundir.Pair{}, [2]*rundir.Run{}
	for i, t := range targets {
		runs[i] = &rundir.Run{
			Tool:    rundir.Tool{Version: console.VersionNumber, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()},
			Command: cm.side(i).Command(c, cm.URLs[i]),
			Target:  t.About, Labels: labels[i], Workload: t.Asked, Client: rundir.Client{Timestamps: t.Client.Timestamps()},
		}
		both.Sides[i] = t.Configure(c.Ctx, plan, dirs[i], false)
	}
	if err := cm.judgeBoth(&both, targets); err != nil {
		return console.Usage(err)
	}
	if err := cm.askBoth(&both, targets, runs); err != nil {
		return console.Usage(err)
	}
	both.Same = targets[0].Client.URL("") == targets[1].Client.URL("") && targets[0].About.Model == targets[1].About.Model
	both.Save = func(p *rundir.Pair) error { return store.SavePair(out, p) }
	broken := cm.watch(both, runs, record, served)
	return errors.Join(broken, cm.conclude(out, record, runs, dirs, gates))
}

// parse reads the flags: the plan of both sides, that of the comparison, its gates, and the labels of both sides.
func (cm *Comparison) parse() (plan sweep.Config, both pair.Config, gates []compare.Gate, labels [2]rundir.Labels, err error) {
	if plan, both, err = cm.config(); err != nil {
		return plan, both, nil, labels, err
	}
	keys := cm.keys(both.Rates)
	if cm.Fidelity {
		keys = append(keys, fidelity.Keys()...)
	}
	keys = append(keys, fidelity.OtherOutcomes()...)
	if gates, err = compare.ParseGates(cm.FailIf, keys); err == nil {
		labels, err = cm.labels()
	}
	if err == nil {
		_, err = cm.Score.Read()
	}
	if err == nil && len(cm.URLs) != 2 {
		err = errors.New("compare --live needs the URLs of two servers")
	}
	return plan, both, gates, labels, err
}

// askBoth has the canaries asked of both servers.
func (cm *Comparison) askBoth(both *pair.Config, targets [2]*Target, runs [2]*rundir.Run) error {
	f := flags.Fidelity{Fidelity: cm.Fidelity, Canaries: cm.Canaries}
	for i, t := range targets {
		check, err := f.Check(cm.Seed)
		if check == nil || err != nil {
			return err
		}
		check.Clean, check.Options.Alone = t.Client.WithoutSecrets, true
		both.Sides[i].Checks = append(both.Sides[i].Checks, check)
	}
	return fidelity.Alike(cm.URLs[0], runs[0], cm.URLs[1], runs[1])
}

// textShare is which part of --budget the windows of a text may take at each server: one of so many.
const textShare = 8

// judgeBoth has both servers score a text, and the answers of both to a dataset's questions graded.
func (cm *Comparison) judgeBoth(both *pair.Config, targets [2]*Target) error {
	text, err := cm.Score.Read()
	if err != nil {
		return err
	}
	for i, t := range targets {
		side := &both.Sides[i]
		if text != nil {
			side.Checks = append(side.Checks, perplexity.New(perplexity.Options{Text: text, Engine: t.About.Engine, Limit: both.Budget / textShare, Clean: t.Client.WithoutSecrets}))
		}
		if d, ok := t.Workload.(*workload.Dataset); ok && d.Graded() > 0 {
			side.Checks = append(side.Checks, grade.New(grade.Options{Source: d.Stage, Rows: d.Rows(), Items: min(cm.Graded, d.Graded()), Clean: t.Client.WithoutSecrets}))
		}
	}
	return nil
}

// watch measures, and shows the progress.
func (cm *Comparison) watch(both pair.Config, runs [2]*rundir.Run, record *rundir.Pair, served *progress.LiveServer) error {
	c := cm.Console
	l := cm.Lang
	view, pause := c.View(l, cm.Plain, false)
	defer view.Close()
	view.Start("compare  A " + report.Target(runs[0], l) + "  B " + report.Target(runs[1], l))
	for i, run := range runs {
		for _, n := range run.Target.Notes {
			view.Note(string(rune('A'+i)) + ": " + findings.Note(n, l))
		}
	}
	if both.Same {
		view.Note(compare.SameServer(l))
	}
	cm.RunSelftest(c, slices.Max(append(cm.Concurrency, 0)), runs[0], view, l)
	runs[1].Client.Selftest = runs[0].Client.Selftest
	waiter := c.Waiter()
	defer waiter.Close()
	if served != nil {
		view.Note(served.Served(l))
	}
	shown := view.Observe(0)
	observer := ShowPair(served, record, runs, l, shown)
	for i := range both.Sides {
		both.Sides[i].Observer, both.Sides[i].Waiter, both.Sides[i].Pause = observer, waiter, pause
	}
	both.Planned = func(p *rundir.Pair, stages int) {
		shown.Expect(stages)
		view.Note(compare.PairForecast(p, l))
	}
	return pair.Run(c.Ctx, both, runs, record)
}

// connect runs the preflight of both servers. B gets the workload of A: the length of prompts is as A counts it.
func (cm *Comparison) connect() (both [2]*Target, err error) {
	c := cm.Console
	l, err := cm.Parse()
	if err != nil {
		return both, console.Usage(err)
	}
	l.Graded = cm.Graded > 0 && cm.Dataset != "" && !cm.MultiTurn
	conns := cm.MaxConcurrency
	for _, n := range cm.Concurrency {
		conns = max(conns, n)
	}
	if err = CheckMachine(c, cm.URLs[0], conns, 2, "--max-concurrency"); err != nil {
		return both, err
	}
	if both[0], err = ConnectTarget(c, cm.URLs[0], &cm.Target, l, nil, conns); err != nil {
		return both, fmt.Errorf("server A: %w", err)
	}
	if both[1], err = Preflight(c, cm.URLs[1], cm.side(1), l, false, conns); err == nil {
		if w, ok := both[0].Workload.(*workload.Synthetic); ok && both[0].Counted > 0 {
			err = both[1].checkLength(c.Ctx, w, int(l.PromptLengths.Mean))
		}
		both[1].Workload = both[0].Workload
		both[1].describeWorkload()
	}
	if err != nil {
		both[0].Close()
		return both, fmt.Errorf("server B: %w", err)
	}
	return both, nil
}
