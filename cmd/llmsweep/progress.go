package main

import (
	"fmt"
	"strings"
	"time"

	"llmsweep/report/live"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// progress shows what a sweep tells about itself.
type progress struct {
	view  *live.View
	total int // stages planned
	index int
	began time.Time

	planned, left time.Duration // of the stage that runs, and of all after it
	phase         string
}

// StageBegins shows a new stage. A search for the ceiling is no stage of its own.
func (p *progress) StageBegins(s *rundir.Stage, planned, left time.Duration) {
	p.planned, p.left, p.phase = planned, left, ""
	if strings.HasPrefix(s.Name, sweep.SearchPrefix) {
		p.phase = live.Searching
	} else {
		p.index++
	}
	p.view.Stage(live.Stage{Index: p.index, Total: max(p.total, p.index), Name: s.Name, Planned: planned})
}

// Progress shows how the stage stands.
func (p *progress) Progress(s sweep.Snapshot) {
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

// StageEnds leaves a line about the stage.
func (p *progress) StageEnds(s *rundir.Stage) {
	line := fmt.Sprintf("%-20s", s.Name)
	if r := s.Rates.Completed; r.Known() {
		line += fmt.Sprintf("  %.4g req/s", r.Value())
	} else {
		line += "  n/a"
	}
	if t := s.TTFT.Mean; !t.IsZero() {
		line += fmt.Sprintf("  TTFT %.4g ms", t.Value()*1e3)
	}
	if o := s.TokensPerS.Output; o.Known() {
		line += fmt.Sprintf("  %.4g tok/s", o.Value())
	}
	if n := s.Requests.Error; n > 0 {
		line += fmt.Sprintf("  %d failed", n)
	}
	p.view.StageDone(line + "  " + s.Verdict)
}

// Note leaves a line.
func (p *progress) Note(line string) { p.view.Note(line) }
