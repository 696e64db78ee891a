package progress

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Observer shows in a [View] what a run reports. It is an experiment.Observer.
type Observer struct {
	view *View

	name          string        // of the stage that runs; empty before the first
	phase         lang.Phrase   // of a sweep: what its stage is for
	partialAnswer string        // what is known of the answer of a sweep
	begun, done   int           // stages, without the steps of the search for the ceiling
	remaining     int           // stages that are sure to follow those that have begun
	low, high     time.Duration // bounds of the time that the run still takes; negative where it is not known
}

// Observe returns an observer of a run; stages is the number of its stages, 0 where it is not known.
func (v *View) Observe(stages int) *Observer {
	return &Observer{view: v, remaining: stages, low: -1, high: -1}
}

// Expect sets how many stages are sure to follow.
func (o *Observer) Expect(stages int) { o.remaining = stages }

// StageBegins shows a new stage. The steps of the search for the ceiling are shown as one.
func (o *Observer) StageBegins(s *rundir.Stage, _ time.Duration) {
	o.phase = phaseOf(s.Role)
	if s.Role == rundir.Probe && !s.Held() {
		o.phase = phaseRows
	}
	if strings.HasPrefix(s.Name, rundir.SearchPrefix) {
		o.name = saySearching.In(o.view.lang)
		return
	}
	o.name = findings.StageName(s)
	o.begun++
	o.remaining = max(0, o.remaining-1)
	o.view.show(func() string { return o.status(&load.Snapshot{}) }, true)
}

func phaseOf(role rundir.Role) lang.Phrase {
	switch role {
	case rundir.Synchronous, rundir.Throughput:
		return phaseLimits
	case rundir.Grid:
		return phaseRows
	case rundir.Hold:
		return phaseBracket
	case rundir.Probe:
		return phaseSLO
	}
	return lang.Phrase{}
}

// Left sets the bounds of the time that the run still takes; negative where it is not known.
func (o *Observer) Left(low, high time.Duration) { o.low, o.high = low, high }

// Progress shows how the stage stands.
func (o *Observer) Progress(now load.Snapshot) {
	o.view.show(func() string { return o.status(&now) }, false)
}

// StageEnds leaves a line about the stage, and one about the SLO.
func (o *Observer) StageEnds(s *rundir.Stage) {
	o.done++
	if s.Quick() {
		return
	}
	if o.done == 1 {
		o.view.Heading(findings.StageHeading(o.view.lang))
	}
	o.view.Note(findings.StageLine(s, o.view.lang))
	if terms := termsOf(s, o.view.lang); terms != "" {
		o.view.Note(terms)
	}
}

// Note leaves a line with the note. What is known of the answer so far stands in the status line, where there is one.
func (o *Observer) Note(n note.Note) {
	text := findings.Note(n, o.view.lang)
	if strings.HasPrefix(n.Code, "answer.") {
		o.partialAnswer = strings.TrimRight(text, ".。")
		if o.view.width != nil {
			return
		}
	}
	o.view.Note(text)
}

// status begins with what matters most, since a narrow terminal cuts the end.
func (o *Observer) status(now *load.Snapshot) string {
	l := o.view.lang
	stage := []string{o.name, phases[now.Phase].In(l)}
	if now.Elapsed > 0 {
		stage = append(stage, lang.Clock(now.Elapsed.Seconds()))
	}
	parts := []string{o.phase.In(l), strings.Join(nonEmpty(stage), " ")}
	if o.remaining > 0 {
		parts = append(parts, sayDoneOf.In(l, strconv.Itoa(o.done), strconv.Itoa(o.begun+o.remaining)))
	}
	if o.low >= 0 {
		parts = append(parts, timeLeft(o.low, o.high, l))
	}
	parts = append(parts, o.partialAnswer, sayInFlight.In(l, strconv.Itoa(now.InFlight)))
	if now.Failed > 0 {
		parts = append(parts, sayFailed.In(l, strconv.Itoa(now.Failed)))
	}
	return strings.Join(nonEmpty(parts), gap)
}

func nonEmpty(texts []string) []string {
	return slices.DeleteFunc(texts, func(s string) bool { return s == "" })
}
