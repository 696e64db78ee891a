package job

import (
	"runtime"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// session is what a job measures with, from its connections to its reports. It has one side, or two that are compared.
type session struct {
	*console.Console
	lang   lang.Lang
	sides  []*side
	served *progress.LiveServer // nil where no page is served
	view   *progress.View
	waiter console.Waiter
	closes []func()
}

// side is a server that is measured, or several that share the requests.
type side struct {
	*Target
	run    *rundir.Run
	dir    *store.Dir
	config sweep.Config
}

// open makes a session without a side. The caller closes served.
func open(c *console.Console, l lang.Lang, served *progress.LiveServer) *session {
	return &session{Console: c, lang: l, served: served}
}

func (s *session) close() {
	for _, f := range slices.Backward(s.closes) {
		f()
	}
	s.closes = nil
}

func (s *session) addSide(t *Target) *side {
	one := &side{Target: t}
	s.sides = append(s.sides, one)
	s.closes = append(s.closes, t.Close)
	return one
}

// prepare gives a side its directory, its run before the first stage, and what measures it. With recount, answers are
// tokenized again.
func (s *session) prepare(one *side, dir *store.Dir, command rundir.Command, labels rundir.Labels, plan sweep.Config,
	recount bool) {
	s.closes = append(s.closes, func() { dir.Close() })
	one.dir = dir
	one.run = &rundir.Run{
		Tool: rundir.Tool{Version: console.VersionNumber, Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH,
			CPUs: runtime.NumCPU()},
		Command: command, Target: one.About, Labels: labels, Workload: one.asked(),
		Client: rundir.Client{Timestamps: one.Client.Timestamps()},
	}
	one.config = one.configure(s.Ctx, plan, dir, recount)
}

func (s *session) show(title string, plain bool) {
	s.view = s.View(s.lang, plain)
	s.closes = append(s.closes, s.view.Close)
	s.view.Note(title)
	for i, one := range s.sides {
		name := ""
		if len(s.sides) > 1 {
			name = rundir.SideName(i) + ": "
		}
		for _, n := range one.run.Target.Notes {
			s.view.Note(name + findings.Note(n, s.lang))
		}
	}
}

// test tests the client before the first stage, unless the run that is continued did.
func (s *session) test(f *flags.Selftest, width int) {
	first := s.sides[0].run
	if first.Client.Selftest == nil {
		first.Client.Selftest = f.RunSelftest(s.Ctx, width, s.view, s.lang)
	}
	for _, one := range s.sides {
		one.run.Client.Selftest = first.Client.Selftest
	}
}

func (s *session) openWaiter() {
	s.waiter = s.World().Waiter()
	s.closes = append(s.closes, func() { s.waiter.Close() })
	for _, one := range s.sides {
		one.config.Waiter = s.waiter
	}
}
