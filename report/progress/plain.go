package progress

import (
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"llmsweep/report/lang"
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

func newPlain(w io.Writer, l lang.Lang) *plain { return &plain{w: w, lang: l} }

func (p *plain) start(s *state) {
	p.began = time.Now()
	p.write(s.header)
}

func (p *plain) stage(s *state) {
	p.often = rate.Sometimes{Interval: quiet}
	p.often.Do(func() { // the first; the next one when the interval is over
		parts := nonempty(place(s.stage, p.lang), stageName(s.stage, p.lang))
		if planned := seconds(s.stage.Planned); planned > 0 {
			parts = append(parts, plannedFor.In(p.lang, strconv.Itoa(planned)))
		}
		p.write(strings.Join(parts, "  "))
	})
}

func (p *plain) update(s *state) {
	p.often.Do(func() {
		parts := nonempty(stageName(s.stage, p.lang), phase(s, p.lang))
		for _, n := range numbers(s, p.lang) {
			parts = append(parts, strings.TrimSpace(n.text))
		}
		if seconds(s.time.Stage) > 0 {
			parts = append(parts, spent(s, p.lang))
		}
		if s.time.Low >= 0 {
			parts = append(parts, left(s.time, p.lang))
		}
		p.write(strings.Join(parts, "  "))
	})
}

func (p *plain) line(_ *state, text string) { p.write(text) }

func (p *plain) stop() {}

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

// numbers returns the numbers of a stage that both views show.
func numbers(s *state, l lang.Lang) []piece {
	count := func(n int) string { return strconv.Itoa(n) }
	failed := piece{text: failedCount.In(l, count(s.now.Failed)), drop: 8}
	if s.now.Failed > 0 {
		failed.code, failed.drop = "31", 0
	}
	return []piece{
		{text: inFlight.In(l, count(s.now.InFlight)), drop: 6},
		{text: doneCount.In(l, count(s.now.Done)), drop: 7},
		failed,
		{text: "TTFT " + brief(s.now.TTFT), drop: 4},
		{text: "ITL " + brief(s.now.ITL), drop: 2},
		{text: strconv.FormatFloat(s.now.TokensPS, 'f', 0, 64) + " tok/s", drop: 3},
	}
}
