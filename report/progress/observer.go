package progress

import (
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Observer shows in a View what a sweep reports. It is a [experiment.Observer].
type Observer struct {
	view   *View
	stages int // planned where nothing tells what follows; 0: not known
	index  int // of the running stage, from 1
	told   bool
	follow struct{ sure, more int } // stages after the one that runs, where that is told
	part   experiment.ForecastPart
	began  time.Time

	planned   time.Duration // for the running stage
	low, high time.Duration // bounds of the time that the run still takes; negative where it is not known
	searching bool
}

// Observe returns an observer of a sweep; stages is the number of planned stages, 0 where it is not known.
func (v *View) Observe(stages int) *Observer {
	return &Observer{view: v, stages: stages, began: time.Now(), low: -1, high: -1}
}

// Expect sets how many stages follow those that have begun.
func (o *Observer) Expect(stages int) { o.stages = o.index + stages }

// StageBegins shows a new stage. The steps of the search for the ceiling are shown as one.
func (o *Observer) StageBegins(s *rundir.Stage, planned time.Duration) {
	o.planned = planned
	if strings.HasPrefix(s.Name, sweep.SearchPrefix) {
		if !o.searching {
			o.searching = true
			o.view.Stage(o.stage(Stage{Searching: true}))
		}
		return
	}
	o.searching = false
	o.index++
	o.view.Stage(o.stage(Stage{Name: s.Name, Planned: planned}))
}

// Left sets the bounds of the time that the run still takes; negative where it is not known.
func (o *Observer) Left(low, high time.Duration) { o.low, o.high = low, high }

// stage adds to a stage its place in the run. A plan tells how many stages are sure to follow; from when none is, their number is no goal.
func (o *Observer) stage(s Stage) Stage {
	s.Index = o.index
	switch {
	case !o.told:
		s.Total = o.stages
	case o.follow.sure > 0 || o.part == "" || o.part == experiment.PartLimits || o.part == experiment.PartGrid:
		s.Total = o.index + o.follow.sure
	}
	s.More, s.Part = o.follow.more, o.part
	return s
}

// Progress shows how the stage stands.
func (o *Observer) Progress(s load.Snapshot) {
	o.view.Update(s, Time{Elapsed: time.Since(o.began), Low: o.low, High: o.high, Stage: o.planned})
}

// StageEnds leaves a line about the stage, and one about the SLO.
func (o *Observer) StageEnds(s *rundir.Stage) {
	o.view.StageEnded(s)
	o.view.Note(findings.StageLine(s, o.view.lang))
	if terms := termsOf(s, o.view.lang); terms != "" {
		o.view.Note(terms)
	}
}

// Note leaves a line with the note.
func (o *Observer) Note(n note.Note) { o.view.Note(findings.Note(n, o.view.lang)) }

// Follows shows what follows the stage that is about to begin.
func (o *Observer) Follows(left experiment.ForecastTodo, stages []string) {
	o.told, o.part = true, left.Part
	o.follow.sure, o.follow.more = left.Planned()
	o.follow.sure += len(stages)
	o.view.Follows(follows(left, stages))
}
