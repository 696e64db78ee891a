package progress

import (
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// quiet is the least time between two plain lines of one stage.
const quiet = 10 * time.Second

// plain shows a run in lines that are never taken back.
type plain struct {
	w     io.Writer
	lang  lang.Lang
	began time.Time
	often rate.Sometimes
}

// Lines returns what shows a run in plain lines.
func Lines(w io.Writer, l lang.Lang) Painter { return &plain{w: w, lang: l} }

func (p *plain) Start(s *State) {
	p.began = time.Now()
	p.write(s.Header)
}

func (p *plain) Stage(s *State) {
	p.often = rate.Sometimes{Interval: quiet}
	p.often.Do(func() { // the first; the next one when the interval is over
		parts := nonempty(place(s.Stage, p.lang), stageName(s.Stage, p.lang))
		if planned := seconds(s.Stage.Planned); planned > 0 {
			parts = append(parts, plannedFor.In(p.lang, strconv.Itoa(planned)))
		}
		p.write(strings.Join(parts, "  "))
	})
}

func (p *plain) Update(s *State) {
	p.often.Do(func() {
		parts := nonempty(stageName(s.Stage, p.lang), phase(s, p.lang))
		parts = append(parts, numbers(s, p.lang)...)
		if seconds(s.Time.Stage) > 0 {
			parts = append(parts, spent(s, p.lang))
		}
		if s.Time.Low >= 0 {
			parts = append(parts, left(s.Time, p.lang))
		}
		p.write(strings.Join(parts, "  "))
	})
}

func (p *plain) Line(_ *State, text string) { p.write(text) }

// Ended does nothing: [Painter].Line shows the stage.
func (p *plain) Ended(*State, *rundir.Stage) {}

func (p *plain) Stop() {}

// write writes a line with the time since the start.
func (p *plain) write(text string) {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	io.WriteString(p.w, clock(time.Since(p.began))+"  "+text+"\n")
}

func nonempty(texts ...string) []string {
	var kept []string
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// numbers returns the numbers of a stage.
func numbers(s *State, l lang.Lang) []string {
	return []string{
		inFlight.In(l, strconv.Itoa(s.Now.InFlight)), doneCount.In(l, strconv.Itoa(s.Now.Done)), failedCount.In(l, strconv.Itoa(s.Now.Failed)),
		"TTFT " + Brief(s.Now.TTFT), "ITL " + Brief(s.Now.ITL), strconv.FormatFloat(s.Now.TokensPS, 'f', 0, 64) + " tok/s",
	}
}
