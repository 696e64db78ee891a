package job

import (
	"errors"
	"fmt"
	"slices"
	"time"

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

// Comparison compares two running servers, which are measured in turns.
type Comparison struct {
	*Flags
	Console    *console.Console
	URLs       []string
	FailIf     []string // gates
	Lang       lang.Lang
	Plain      bool
	Force      bool         // overwrite files that were changed
	CheckFiles func() error // returns an error where a file to be written may not be overwritten
	Show       func(r *compare.PairComparison, gates []compare.Gate) error
}

// Run compares, from the checks of the flags to the reports. Errors have exit codes.
func (cm *Comparison) Run() error {
	c := cm.Console
	plan, both, err := cm.config()
	if err != nil {
		return console.Usage(err)
	}
	gates, err := compare.ParseGates(cm.FailIf, append(pair.Keys(both.Rates, both.Widths), compare.KeyAccuracy,
		compare.KeyErrors))
	if err != nil {
		return console.Usage(err)
	}
	labels, err := cm.labels()
	if err == nil && len(cm.URLs) != 2 {
		err = errors.New("compare --live needs the URLs of two servers")
	}
	if err != nil {
		return console.Usage(err)
	}
	c.Lang = cm.Lang
	if err := cm.CheckFiles(); err != nil {
		return err
	}
	s := open(c, cm.Lang, nil)
	defer s.close()
	if err := cm.connect(s); err != nil {
		return c.Interrupted(err)
	}
	out, dirs, err := cm.dirs(c, cm.Force)
	if err != nil {
		return console.Usage(err)
	}
	for i, one := range s.sides {
		s.prepare(one, dirs[i], cm.side(i).Command(c, cm.URLs[i]), labels[i], plan, false)
		one.config.Grader = one.grader()
	}
	a, b := s.sides[0], s.sides[1]
	both.Same = a.Client.URL("") == b.Client.URL("") && a.About.Model == b.About.Model
	both.Save = func(p *rundir.Pair) error { return store.SavePair(out, p) }
	cm.show(s, &both)
	both.Sides = [2]sweep.Config{a.config, b.config}
	record := &rundir.Pair{}
	runErr := pair.Run(c.Ctx, both, [2]*rundir.Run{a.run, b.run}, record)
	s.view.Close()
	return errors.Join(runErr, cm.conclude(s, out, record, gates))
}

func (cm *Comparison) show(s *session, both *pair.Config) {
	a, b := s.sides[0], s.sides[1]
	s.show("compare  A "+report.Target(a.run, cm.Lang)+"  B "+report.Target(b.run, cm.Lang), cm.Plain)
	if both.Same {
		s.view.Note(compare.SameServer(cm.Lang))
	}
	s.test(&cm.Selftest, slices.Max(append(cm.Concurrency, 0)))
	s.openWaiter()
	observer := s.view.Observe(0)
	a.config.Observer, b.config.Observer = observer, observer
	both.Planned = func(blocks, stages int, block time.Duration) {
		observer.Expect(stages)
		s.view.Note(compare.PairForecast(blocks, block, cm.Lang))
	}
}

// connect runs the preflight of both servers. B gets the workload of A: the length of prompts is as A counts it.
func (cm *Comparison) connect(s *session) error {
	c := cm.Console
	l, err := cm.Parse()
	if err != nil {
		return console.Usage(err)
	}
	l.Graded = cm.Grades()
	conns := slices.Max(append(cm.Concurrency, cm.MaxConcurrency))
	if err := checkMachine(c, cm.URLs[0], conns, 2, "--max-concurrency"); err != nil {
		return err
	}
	first, err := connectTarget(c, cm.URLs[0], &cm.Target, l, nil, conns)
	if err != nil {
		return fmt.Errorf("server A: %w", err)
	}
	s.addSide(first)
	second, err := preflight(c, cm.URLs[1], cm.side(1), l, false, conns)
	if err != nil {
		return fmt.Errorf("server B: %w", err)
	}
	s.addSide(second)
	if w, ok := first.Workload.(*workload.Synthetic); ok && first.Counted > 0 {
		if err := second.checkLength(c.Ctx, w, int(l.PromptLengths.Mean)); err != nil {
			return fmt.Errorf("server B: %w", err)
		}
	}
	second.Workload = first.Workload
	return nil
}
