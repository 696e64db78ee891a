package job

import (
	"io"

	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/progress"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// serveLive serves the page of a run from now on, and returns the observer that passes its events on to next.
func serveLive(s *progress.LiveServer, run func() *rundir.Run, dir *store.Dir, l lang.Lang,
	next experiment.Observer) experiment.Observer {
	if s == nil {
		return next
	}
	s.Observer = next
	s.Render = func(w io.Writer, version string) error {
		if err := dir.Flush(); err != nil {
			return err
		}
		return html.Run(w, run(), dir.Path, html.WriteOptions{Lang: l, Live: version})
	}
	s.Draw()
	return s
}
