package progress

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"llmsweep/report/lang"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// present is the run at this moment, for pages that show it. It is a [Painter] that keeps what it is given.
type present struct {
	mu     sync.Mutex
	state  State
	ended  []rundir.Stage
	course course
}

func (p *present) set(s *State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = *s
	p.course.add(time.Now(), s)
}

// Start keeps what is measured.
func (p *present) Start(s *State) { p.set(s) }

// Stage keeps a new stage.
func (p *present) Stage(s *State) { p.set(s) }

// Update keeps how the stage stands.
func (p *present) Update(s *State) { p.set(s) }

// Ended keeps a stage, for what it tells of the SLO.
func (p *present) Ended(s *State, st *rundir.Stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, *st)
	p.state.Now = load.Snapshot{TTFT: -1, ITL: -1}
}

// Line does nothing: notes are on the page.
func (p *present) Line(*State, string) {}

// Stop does nothing.
func (p *present) Stop() {}

// told is what a page is told each second.
type told struct {
	Lines   map[lang.Lang][]string `json:"lines"` // stage, phase and times; SLO; what follows
	Numbers []toldNumber           `json:"numbers"`
}

// toldNumber is a number of the stage that runs, with its course over the last two minutes at most.
type toldNumber struct {
	Name   map[lang.Lang]string `json:"name"`
	Value  string               `json:"value"`
	Course []float64            `json:"course"`
}

// tell returns what a page is told now, as JSON in one line.
func (p *present) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := &p.state.Now
	t := told{Lines: map[lang.Lang][]string{}}
	for _, l := range lang.All() {
		t.Lines[l] = p.lines(l)
	}
	add := func(name lang.Phrase, value string, values []float64) {
		both := map[lang.Lang]string{}
		for _, l := range lang.All() {
			both[l] = name.In(l)
		}
		t.Numbers = append(t.Numbers, toldNumber{both, value, values})
	}
	add(sayInFlight, strconv.Itoa(now.InFlight), p.course.inFlight)
	add(sayOutput, outputRate(now), p.course.output)
	add(sayTTFT, brief(now.TTFT), p.course.ttft)
	add(sayITL, brief(now.ITL), p.course.itl)
	b, err := json.Marshal(t)
	if err != nil { // a number that is none
		return "{}"
	}
	return string(b)
}

// lines are the sentences about this moment.
func (p *present) lines(l lang.Lang) []string {
	s := &p.state
	first := nonempty(place(s.Stage, l))
	if s.Known {
		first = append(first, sayElapsed.In(l, clock(s.Time.Elapsed)))
		if s.Time.Low >= 0 {
			first = append(first, left(s.Time, l))
		}
	}
	second := nonempty(stageName(s.Stage, l), phase(s, l))
	if s.Time.Stage > 0 && !s.Stage.Searching && s.Known {
		second = append(second, nonempty(spent(s, l), prolonged(s, l))...)
	}
	if len(second) == 0 {
		second = []string{sayPreparing.In(l)}
	}
	second = append(second, doneCount.In(l, strconv.Itoa(s.Now.Done)), failedCount.In(l, strconv.Itoa(s.Now.Failed)))
	lines := nonempty(strings.Join(first, " · "), strings.Join(second, " · "))
	lines = append(lines, termStates(p.ended, l)...)
	if len(s.Next) > 0 {
		lines = append(lines, sayNext.In(l)+nextIn(s.Next, mostNext, l))
	}
	return lines
}
