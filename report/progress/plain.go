package progress

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"llmsweep/report/lang"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// quiet is the least time between two plain lines of one stage.
const quiet = 10 * time.Second

// silent is the longest time without a line.
const silent = 30 * time.Second

// plain shows a run in lines that are never taken back.
type plain struct {
	lang  lang.Lang
	often rate.Sometimes

	mu     sync.Mutex // a line may come from the alarm
	w      io.Writer
	began  time.Time
	last   time.Time   // of the latest line
	news   string      // what the run was doing then
	alarm  *time.Timer // nil before the first line
	closed bool
}

// Lines returns what shows a run in plain lines.
func Lines(w io.Writer, l lang.Lang) Painter {
	return &plain{w: w, lang: l, often: rate.Sometimes{Interval: quiet}}
}

func (p *plain) Start(s *State) { p.write(s.Header) }

func (p *plain) Stage(s *State) {
	p.often = rate.Sometimes{Interval: quiet}
	p.often.Do(func() { // the first; the next one when the interval is over
		parts := nonempty(place(s.Stage, p.lang), stageName(s.Stage, p.lang))
		if planned := seconds(s.Stage.Planned); planned > 0 {
			parts = append(parts, plannedFor.In(p.lang, strconv.Itoa(planned)))
		}
		p.tell(stageName(s.Stage, p.lang))
		p.write(strings.Join(parts, "  "))
	})
}

func (p *plain) Update(s *State) {
	p.often.Do(func() {
		parts := nonempty(stageName(s.Stage, p.lang), phase(s, p.lang))
		p.tell(strings.Join(parts, "  "))
		parts = append(parts, numbers(s, p.lang)...)
		if seconds(s.Time.Stage) > 0 {
			parts = append(parts, nonempty(spent(s, p.lang), prolonged(s, p.lang))...)
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

// tell keeps what the run is doing, to be said again where there is no news.
func (p *plain) tell(news string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.news = news
}

// Stop lets no more lines come.
func (p *plain) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.alarm != nil {
		p.alarm.Stop()
	}
}

// write writes a line with the time since the first.
func (p *plain) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	p.put(text)
}

// put writes a line, and another one where none follows for long.
func (p *plain) put(text string) {
	if p.began.IsZero() {
		p.began = time.Now()
	}
	io.WriteString(p.w, clock(time.Since(p.began))+"  "+text+"\n")
	if p.alarm == nil {
		p.alarm = time.AfterFunc(silent, p.remind)
		return
	}
	p.alarm.Reset(silent)
}

// remind writes that the run still goes on, after a time without news.
func (p *plain) remind() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.put(strings.Join(nonempty(p.news, stillThere.In(p.lang, strconv.Itoa(seconds(time.Since(p.last))))), "  "))
	}
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
	all := []string{inFlight.In(l, strconv.Itoa(s.Now.InFlight)), doneCount.In(l, strconv.Itoa(s.Now.Done)), failedCount.In(l, strconv.Itoa(s.Now.Failed))}
	return append(all, sayTTFT.In(l)+" "+Brief(s.Now.TTFT), "ITL "+Brief(s.Now.ITL), outputRate(&s.Now))
}

// outputRate is the output of a stage that runs.
func outputRate(now *load.Snapshot) string {
	return strconv.FormatFloat(now.TokensPS, 'f', 0, 64) + " tok/s"
}
