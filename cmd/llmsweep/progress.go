package main

import (
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report"
	"llmsweep/report/live"
	"llmsweep/sweep"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// progress shows a measurement on the console while it runs.
type progress struct {
	view  *live.View
	lang  report.Lang
	total int // stages planned
	index int
	began time.Time

	planned, left time.Duration // of the stage that runs, and of all after it
	phase         string
}

// StageBegins shows a new stage. The steps of a search for the ceiling are shown as one.
func (p *progress) StageBegins(s *rundir.Stage, planned, left time.Duration) {
	searching := p.phase == live.Searching
	p.planned, p.left, p.phase = planned, left, ""
	name := s.Name
	if strings.HasPrefix(name, sweep.SearchPrefix) {
		p.phase, name, planned = live.Searching, live.Searching, 0
		if searching {
			return
		}
	} else {
		p.index++
	}
	total := p.total
	if total > 0 { // 0: not known yet
		total = max(total, p.index)
	}
	p.view.Stage(live.Stage{Index: p.index, Total: total, Name: name, Planned: planned})
}

// Progress shows the present state of the stage.
func (p *progress) Progress(s load.Snapshot) {
	now := live.Snapshot{
		Elapsed: time.Since(p.began), Left: max(0, p.planned-s.Elapsed) + p.left,
		StageElapsed: s.Elapsed, StagePlanned: p.planned,
		InFlight: s.InFlight, Done: s.Done, Failed: s.Failed, TTFT: s.TTFT, ITL: s.ITL, TokensPerS: s.TokensPS, Phase: s.Phase,
	}
	if p.phase != "" {
		now.Phase = p.phase
	}
	p.view.Update(now)
}

// StageEnds prints a line about the stage.
func (p *progress) StageEnds(s *rundir.Stage) { p.view.StageDone(report.StageLine(s, p.lang)) }

// Note prints a line.
func (p *progress) Note(n note.Note) { p.view.Note(report.Note(n, p.lang)) }
