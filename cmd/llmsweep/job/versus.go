// Compares two running servers: from the preflight to the reports. The two are measured in turns.

package job

import (
	"errors"
	"fmt"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/sweep"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/workload"
)

// Comparison compares two running servers.
type Comparison struct {
	*Flags
	Console *console.Console
	URLs    []string
	FailIf  []string // gates
	Lang    lang.Lang
	Plain   bool
	Force   bool         // overwrite files that were changed
	Free    func() error // returns an error where a file to be written is there already
	Show    func(r *Result, gates []compare.Gate) error
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
	s := open(c, cm.Lang, served)
	defer s.close()
	if err := cm.connect(s); err != nil {
		return c.Interrupted(err)
	}
	out, dirs, err := cm.dirs(c, cm.Force)
	if err != nil {
		return console.Usage(err)
	}
	for i, one := range s.sides {
		s.describe(one, dirs[i], cm.side(i).Command(c, cm.URLs[i]), labels[i], plan, false)
	}
	for _, one := range s.sides {
		one.config.Grader = one.grader()
	}
	a, b := s.sides[0], s.sides[1]
	both.Same = a.Client.URL("") == b.Client.URL("") && a.About.Model == b.About.Model
	both.Save = func(p *rundir.Pair) error { return store.SavePair(out, p) }
	record, runs := &rundir.Pair{}, [2]*rundir.Run{a.run, b.run}
	cm.show(s, &both, record)
	both.Sides = [2]sweep.Config{a.config, b.config}
	broken := pair.Run(c.Ctx, both, runs, record)
	s.view.Close()
	return errors.Join(broken, cm.conclude(s, out, record, gates))
}

// parse reads the flags: the plan of both sides, that of the comparison, its gates, and the labels of both sides.
func (cm *Comparison) parse() (plan sweep.Config, both pair.Config, gates []compare.Gate, labels [2]rundir.Labels, err error) {
	if plan, both, err = cm.config(); err != nil {
		return plan, both, nil, labels, err
	}
	if gates, err = compare.ParseGates(cm.FailIf, cm.keys(both.Rates)); err == nil {
		labels, err = cm.labels()
	}
	if err == nil && len(cm.URLs) != 2 {
		err = errors.New("compare --live needs the URLs of two servers")
	}
	return plan, both, gates, labels, err
}

// show shows what is compared, and the progress.
func (cm *Comparison) show(s *session, both *pair.Config, record *rundir.Pair) {
	a, b := s.sides[0], s.sides[1]
	s.show("compare  A "+report.Target(a.run, cm.Lang)+"  B "+report.Target(b.run, cm.Lang), cm.Plain)
	if both.Same {
		s.view.Note(compare.SameServer(cm.Lang))
	}
	s.test(&cm.Selftest, slices.Max(append(cm.Concurrency, 0)))
	s.wait()
	s.tellServed()
	shown := s.view.Observe(0)
	a.config.Observer = showPair(s.served, record, [2]*rundir.Run{a.run, b.run}, cm.Lang, shown)
	b.config.Observer = a.config.Observer
	both.Planned = func(p *rundir.Pair, stages int) {
		shown.Expect(stages)
		s.view.Note(compare.PairForecast(p, cm.Lang))
	}
}

// connect runs the preflight of both servers. B gets the workload of A: the length of prompts is as A counts it.
func (cm *Comparison) connect(s *session) error {
	c := cm.Console
	l, err := cm.Parse(cm.Speaks(cm.URLs[0]))
	if err != nil {
		return console.Usage(err)
	}
	l.Graded = cm.Grades()
	conns := cm.MaxConcurrency
	for _, n := range cm.Concurrency {
		conns = max(conns, n)
	}
	if err := checkMachine(c, cm.URLs[0], conns, 2, "--max-concurrency"); err != nil {
		return err
	}
	first, err := connectTarget(c, cm.URLs[0], &cm.Target, l, nil, conns)
	if err != nil {
		return fmt.Errorf("server A: %w", err)
	}
	s.connected(first)
	second, err := preflight(c, cm.URLs[1], cm.side(1), l, false, conns)
	if err != nil {
		return fmt.Errorf("server B: %w", err)
	}
	s.connected(second)
	if w, ok := first.Workload.(*workload.Synthetic); ok && first.Counted > 0 {
		if err := second.checkLength(c.Ctx, w, int(l.PromptLengths.Mean)); err != nil {
			return fmt.Errorf("server B: %w", err)
		}
	}
	second.Workload = first.Workload
	second.describeWorkload()
	return nil
}
