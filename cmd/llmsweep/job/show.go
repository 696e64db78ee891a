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

// show serves the page of a run from now on, and returns the observer that passes its events on to shown.
func show(s *progress.LiveServer, run func() *rundir.Run, dir *store.Dir, l lang.Lang,
	shown experiment.Observer) experiment.Observer {
	if s == nil {
		return shown
	}
	s.Observer = shown
	s.Render = func(w io.Writer, version string) error {
		if err := dir.Flush(); err != nil {
			return err
		}
		return html.Run(w, run(), dir.Path, html.WriteOptions{Lang: l, Live: version})
	}
	s.Draw()
	return s
}
